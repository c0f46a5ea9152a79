import { randomUUID } from 'node:crypto'
import { quoted } from '../protocol/error.js'
import type { FinishedText, TextFormat, TextUsage } from '../http/text-run.js'
import type { Ended, Message, Piece, ProbableToken } from '../text/messages.js'
import type { ReadRequest } from './completions.js'
import { errorBody, wrong } from './errors.js'
import { checkDepth, Fields } from './fields.js'
import { MAX_CHARACTERS } from './inputs.js'
import { MAX_TOKENS, refuse, samplingOf } from './sampling.js'
import { type Said, type ToolCall, ToolCalls } from './tool-calls.js'
import { usageOf } from './usage.js'

const MAX_MESSAGES = 4096
const MAX_PARTS = 256
const MAX_TOOLS = 256
const MAX_LOGPROBS = 20

/** `POST /v1/chat/completions`. Throws what is wrong with it. */
export function readChat(fields: Fields, model: string): ReadRequest {
  checkDepth(fields.value)
  refuse(fields, { n: [1], functions: [], function_call: [], audio: [], prediction: [], web_search_options: [] })
  const modalities = fields.list('modalities', 8) ?? ['text']
  if (modalities.some((each) => each !== 'text')) throw wrong('modalities', "this server has none other than 'text'")
  const choice = fields.get('tool_choice')
  if (choice !== undefined && choice !== 'none' && choice !== 'auto')
    throw wrong('tool_choice', `expected 'none' or 'auto': this server does not make a model call a tool, found ${quoted(choice)}`)
  const tools = fields.list('tools', MAX_TOOLS)
  const names = (tools ?? []).map((tool, i) => toolOf(tool, `tools[${i}]`))
  const top = fields.integer('top_logprobs', 0, MAX_LOGPROBS)
  const hasLogprobs = fields.boolean('logprobs')
  if (top !== null && !hasLogprobs) throw wrong('top_logprobs', 'takes "logprobs": true')
  const source = {
    messages: messagesOf(fields),
    tools: choice === 'none' || tools?.length === 0 ? null : tools,
    values: fields.object('chat_template_kwargs')?.value ?? {},
  }
  const maxTokens = fields.integer('max_completion_tokens', 1, MAX_TOKENS) ?? fields.integer('max_tokens', 1, MAX_TOKENS)
  return {
    sources: [source],
    sampling: samplingOf(fields, maxTokens, hasLogprobs ? (top ?? 0) : null),
    isStream: fields.boolean('stream'),
    format: new ChatFormat(
      model,
      choice === 'none' || names.length === 0 ? null : new Set(names),
      fields.object('stream_options')?.boolean('include_usage') ?? false,
    ),
  }
}

/** Its name. */
function toolOf(value: unknown, where: string): string {
  const tool = Fields.of(value, where)
  tool.oneOf('type', 'function')
  const name = tool.object('function')?.text('name', 256) ?? null
  if (name === null) throw wrong(`${where}.function.name`, 'is missing')
  return name
}

function messagesOf(fields: Fields): Message[] {
  const list = fields.list('messages', MAX_MESSAGES)
  if (list === null || list.length === 0) throw wrong('messages', 'expected at least one message')
  let characters = 0
  return list.map((value, i) => {
    const message = Fields.of(value, `messages[${i}]`)
    const role = message.oneOf('role', 'system', 'developer', 'user', 'assistant', 'tool')
    if (role === null) throw wrong(`messages[${i}].role`, 'is missing')
    const content = contentOf(message)
    characters += content.length
    if (characters > MAX_CHARACTERS) throw wrong('messages', `have more than ${MAX_CHARACTERS} characters`)
    const calls = message.list('tool_calls', MAX_TOOLS)
    // templates know of developers by the older name
    return {
      ...message.value,
      role: role === 'developer' ? 'system' : role,
      content,
      ...(calls !== null && { tool_calls: calls.map(callOf) }),
    }
  })
}

function contentOf(message: Fields): string {
  const content = message.get('content')
  if (content === undefined) return ''
  if (typeof content === 'string') return content
  return message
    .list('content', MAX_PARTS)!
    .map((value, i) => {
      const part = Fields.of(value, `${message.nameOf('content')}[${i}]`)
      const text = part.get('type') === 'text' ? part.text('text', MAX_CHARACTERS) : null
      if (text === null) throw wrong(message.nameOf('content'), `expected parts of text, found ${quoted(part.get('type'))}`)
      return text
    })
    .join('')
}

/** Templates of transformers take the arguments of a call as an object, where OpenAI's interface has them as its JSON. */
function callOf(value: unknown): unknown {
  const call = Fields.of(value, 'tool_calls')
  const called = call.object('function')
  const text = called?.get('arguments')
  if (typeof text !== 'string') return value
  try {
    const parsed: unknown = JSON.parse(text)
    checkDepth(parsed)
    return { ...call.value, function: { ...called!.value, arguments: parsed } }
  } catch {
    // as the model wrote it
    return value
  }
}

class ChatFormat implements TextFormat {
  readonly done = '[DONE]'
  readonly error = errorBody
  private readonly id = `chatcmpl-${randomUUID()}`
  private readonly created = Math.floor(Date.now() / 1000)
  /** Of the text that is streamed. */
  private readonly calls: ToolCalls | null
  private called = 0

  constructor(
    private readonly model: string,
    /** Tools that the model may call. */
    private readonly tools: ReadonlySet<string> | null,
    private readonly includeUsage: boolean,
  ) {
    this.calls = tools === null ? null : new ToolCalls(tools)
  }

  opening(index: number): object {
    return this.chunk([{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }])
  }

  piece(index: number, piece: Piece): object {
    const delta = this.calls === null ? { content: piece.text } : this.delta(this.calls.push(piece.text))
    return this.chunk([{ index, delta, logprobs: logprobsOf([piece]), finish_reason: null }])
  }

  closing(index: number, { reason }: Ended): object {
    const delta = this.calls === null ? {} : this.delta(this.calls.end())
    return this.chunk([{ index, delta, logprobs: null, finish_reason: this.called > 0 && reason === 'stop' ? 'tool_calls' : reason }])
  }

  trailing(usage: TextUsage): object | null {
    return this.includeUsage ? this.chunk([], usage) : null
  }

  whole(texts: readonly FinishedText[], usage: TextUsage): object {
    const choices = texts.map(({ text, pieces, ended: { reason } }, index) => {
      const { content, calls } = this.saidIn(text)
      const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) }
      return { index, message, logprobs: logprobsOf(pieces), finish_reason: calls.length > 0 && reason === 'stop' ? 'tool_calls' : reason }
    })
    return { ...this.head('chat.completion'), choices, usage: usageOf(usage) }
  }

  private saidIn(text: string): { readonly content: string | null; readonly calls: readonly ToolCall[] } {
    if (this.tools === null) return { content: text, calls: [] }
    const found = new ToolCalls(this.tools)
    const [first, last] = [found.push(text), found.end()]
    const calls = [...first.calls, ...last.calls]
    const content = first.text + last.text
    return { content: calls.length > 0 && content.trim() === '' ? null : content, calls }
  }

  private delta({ text, calls }: Said): object {
    return {
      ...(text !== '' && { content: text }),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ index: this.called++, ...call })) }),
    }
  }

  private head(object: string): object {
    return { id: this.id, object, created: this.created, model: this.model }
  }

  private chunk(choices: readonly object[], usage?: TextUsage): object {
    const head = this.head('chat.completion.chunk')
    return { ...head, choices, ...(this.includeUsage && { usage: usage === undefined ? null : usageOf(usage) }) }
  }
}

function logprobsOf(pieces: readonly Piece[]): object | null {
  const content = pieces.flatMap(({ token }) => (token === null ? [] : [{ ...probable(token), top_logprobs: token.top.map(probable) }]))
  return content.length === 0 ? null : { content, refusal: null }
}

/** A token that is no text by itself has no bytes that could be told. */
function probable({ text, logprob }: ProbableToken): object {
  return { token: text, logprob, bytes: text.includes('\ufffd') ? null : [...Buffer.from(text, 'utf8')] }
}
