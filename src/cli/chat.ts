import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  type ChatMessage,
  type ChatTokenizer,
  type GenerationOptions,
  type GenerationSession,
  loadModule,
  loadTokenizer,
  type Module,
  openSession,
  setNumThreads,
} from '../index.js'
import { during } from './terminal.js'
import { THREADS_OPTION } from './model-options.js'
import type { OptionTable } from './options.js'
import { type Command, parse, parseCount, UsageError } from './usage.js'

const OPTIONS = {
  tokenizer: {
    type: 'string',
    value: 'DIR',
    isRequired: true,
    help: 'has tokenizer.json, and tokenizer_config.json or chat_template.jinja with the template',
  },
  prompt: { type: 'string', value: 'TEXT', help: 'one message, and no more' },
  system: { type: 'string', value: 'TEXT', help: 'what the conversation begins with' },
  'max-tokens': { type: 'string', default: '256', value: 'N', help: 'of an answer (256)' },
  temperature: {
    type: 'string',
    value: 'T',
    help: 'draws tokens; without it, and without --top-k, --top-p and --seed, the likeliest ones are taken',
  },
  'top-k': { type: 'string', value: 'N', help: 'of the N likeliest tokens' },
  'top-p': { type: 'string', value: 'P', help: 'of the likeliest tokens that together have this probability' },
  seed: { type: 'string', value: 'N', help: 'the same each time' },
  draft: {
    type: 'string',
    value: 'MODEL',
    help: "a smaller model with the same tokens, which guesses what follows, or 'prompt': what followed the last words before",
  },
  ...THREADS_OPTION,
} as const satisfies OptionTable

export const chat: Command = {
  synopsis: 'chat MODEL',
  about: `Talks with a language model.

Each line of the terminal, or of stdin, is a message; what the model answers comes as it is generated. Without a chat template what is given is continued.`,
  options: OPTIONS,

  async run(args) {
    const { values, positionals } = parse({ args, options: OPTIONS, allowPositionals: true })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    if (values.tokenizer === undefined) throw new UsageError('name the folder of the tokenizer: --tokenizer DIR')
    setNumThreads(parseCount(values.threads, '--threads', 1))
    const tokenizer = await loadTokenizer(filesIn(values.tokenizer))
    const load = (path: string): Promise<Module> => during(`loading ${path}`, () => loadModule(path))
    const draft = values.draft === undefined || values.draft === 'prompt' ? values.draft : await load(values.draft)
    const options: GenerationOptions = {
      tokenizer,
      draft,
      stop: tokenizer.endTokens,
      maxTokens: parseCount(values['max-tokens'], '--max-tokens', 1),
      temperature: values.temperature === undefined ? undefined : numberOf(values.temperature, '--temperature'),
      topK: values['top-k'] === undefined ? undefined : parseCount(values['top-k'], '--top-k', 1),
      topP: values['top-p'] === undefined ? undefined : numberOf(values['top-p'], '--top-p'),
      seed: values.seed === undefined ? undefined : parseCount(values.seed, '--seed', 0),
    }
    const model = await load(positionals[0]!)
    const talk = new Talk(await openSession(model), tokenizer, options, values.system)
    if (values.prompt !== undefined) await talk.say(values.prompt)
    else await talk.listen()
    model.dispose()
    if (typeof draft === 'object') draft.dispose()
  },
}

/** Reads the files of a tokenizer, of which the first has to be there. */
function filesIn(folder: string): Parameters<typeof loadTokenizer>[0] {
  const path = (name: string): string => join(folder, name)
  const json = (name: string): object => {
    try {
      return JSON.parse(readFileSync(path(name), 'utf8')) as object
    } catch (error) {
      throw new UsageError(`--tokenizer: cannot read ${path(name)}: ${(error as Error).message}`)
    }
  }
  return {
    tokenizer: json('tokenizer.json'),
    config: existsSync(path('tokenizer_config.json')) ? json('tokenizer_config.json') : undefined,
    template: existsSync(path('chat_template.jinja')) ? readFileSync(path('chat_template.jinja'), 'utf8') : undefined,
  }
}

function numberOf(text: string, option: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`${option}: expected a number, found '${text}'`)
  return value
}

/** A conversation, whose cache stays from one message to the next. */
class Talk {
  private readonly messages: ChatMessage[] = []

  constructor(
    private readonly session: GenerationSession,
    private readonly tokenizer: ChatTokenizer,
    private readonly options: GenerationOptions,
    system: string | undefined,
  ) {
    if (system !== undefined) this.messages.push({ role: 'system', content: system })
  }

  /** Answers a message, on stdout. */
  async say(content: string): Promise<void> {
    const { messages, tokenizer } = this
    messages.push({ role: 'user', content })
    const prompt = tokenizer.hasTemplate ? tokenizer.chat(messages) : [...(tokenizer.encode(content) as readonly number[])]
    let answer = ''
    for await (const { text = '' } of this.session.generate(prompt, this.options)) {
      answer += text
      process.stdout.write(text)
    }
    process.stdout.write('\n')
    messages.push({ role: 'assistant', content: answer })
  }

  async listen(): Promise<void> {
    const { stdin, stderr } = process
    const lines = createInterface({ input: stdin, output: stdin.isTTY ? stderr : undefined, prompt: '> ' })
    if (stdin.isTTY) lines.prompt()
    for await (const line of lines) {
      if (line.trim() !== '') await this.say(line)
      if (stdin.isTTY) lines.prompt()
    }
  }
}
