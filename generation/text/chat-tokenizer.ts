import { PtliteError } from '../../runtime/error.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { encode, type Tokenizer } from './tokenizer.js'

/** What is in the files beside a model of transformers, as `JSON.parse` gives it. */
export interface TokenizerFiles {
  /** `tokenizer.json` */
  readonly tokenizer: object
  /** `tokenizer_config.json` */
  readonly config?: object | undefined
  /** `chat_template.jinja`, where the template is in a file of its own. */
  readonly template?: string | undefined
}

interface TokenizersLibrary {
  readonly Tokenizer: new (tokenizer: object, config: object) => Tokenizer
}
interface ChatTemplate {
  render(items: Record<string, unknown>): string
}
interface JinjaLibrary {
  readonly Template: new (template: string) => ChatTemplate
}

/** The packages that read them, where they are not to be imported: bundlers do not find what is imported by name alone. */
export interface TokenizerLibraries {
  /** `@huggingface/tokenizers` */
  readonly tokenizers?: TokenizersLibrary | undefined
  /** `@huggingface/jinja` */
  readonly jinja?: JinjaLibrary | undefined
}

/** A message of a conversation; templates may know further fields. */
export interface ChatMessage {
  readonly role: string
  readonly content: string
  readonly [field: string]: unknown
}

/** A tokenizer with the template of a model's conversations. */
export interface ChatTokenizer extends Tokenizer {
  /** Tokens that end a text, for the option `stop`. */
  readonly endTokens: readonly number[]
  /** Whether there is a template. */
  readonly hasTemplate: boolean
  /** The text of a conversation, up to where the answer begins. `values` are what the template takes besides, such as `tools`. Throws INVALID_ARGUMENT without a template. */
  chatText(messages: readonly ChatMessage[], values?: Readonly<Record<string, unknown>>): string
  /** Its tokens. */
  chat(messages: readonly ChatMessage[], values?: Readonly<Record<string, unknown>>): number[]
}

/**
 * The tokenizer of a model of transformers, with its chat template, read by `@huggingface/tokenizers` and `@huggingface/jinja`. Throws INVALID_ARGUMENT where a
 * package is missing that is needed, and for files that are none.
 */
export async function loadTokenizer(files: TokenizerFiles, libraries: TokenizerLibraries = {}): Promise<ChatTokenizer> {
  const { tokenizer, config, template } = reading(() => readFiles(files))
  const { Tokenizer } = libraries.tokenizers ?? (await imported<TokenizersLibrary>('@huggingface/tokenizers'))
  const source = template ?? templateIn(config['chat_template'])
  const jinja = source === null ? null : (libraries.jinja ?? (await imported<JinjaLibrary>('@huggingface/jinja')))
  try {
    return new FileTokenizer(new Tokenizer(tokenizer, config), config, jinja === null ? null : new jinja.Template(source!))
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `loadTokenizer(): the files of the tokenizer cannot be read: ${String(cause)}`, { cause })
  }
}

type Fields = Readonly<Record<string, unknown>>

function readFiles(files: TokenizerFiles): { tokenizer: object; config: Fields; template: string | undefined } {
  const isObject = (value: unknown): value is Fields => Object.prototype.toString.call(value) === '[object Object]'
  if (!isObject(files)) throw new PtliteError('INVALID_ARGUMENT', `loadTokenizer(): expected { tokenizer, config }, found ${kindOf(files)}`)
  const { tokenizer, config = {}, template } = files as TokenizerFiles
  for (const [name, value] of Object.entries({ tokenizer, config }))
    if (!isObject(value))
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `loadTokenizer(): expected ${name} to be the contents of a JSON file, found ${kindOf(value)}`,
      )
  if (template !== undefined && typeof template !== 'string')
    throw new PtliteError('INVALID_ARGUMENT', `loadTokenizer(): expected template to be a text, found ${kindOf(template)}`)
  return { tokenizer, config: config as Fields, template }
}

/** A package of the program; a variable keeps bundlers from looking for it. */
async function imported<Library>(name: string): Promise<Library> {
  try {
    return (await import(name)) as Library
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `loadTokenizer() needs the package ${name}; install it beside ptlite: npm install ${name}`, {
      cause,
    })
  }
}

/** One template, or the one that is called default of several. */
function templateIn(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return null
  const found = (value as readonly Fields[]).find((one) => one?.['name'] === 'default')?.['template']
  return typeof found === 'string' ? found : null
}

/** Special tokens that templates name. */
const SPECIAL = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const

class FileTokenizer implements ChatTokenizer {
  readonly endTokens: readonly number[]
  private readonly special: Readonly<Record<string, string>>

  constructor(
    private readonly inner: Tokenizer & { token_to_id?(token: string): number | undefined },
    config: Fields,
    private readonly template: ChatTemplate | null,
  ) {
    const texts = SPECIAL.flatMap((name) => {
      const value = config[name]
      const text = typeof value === 'string' ? value : (value as { readonly content?: unknown } | null | undefined)?.content
      return typeof text === 'string' ? [[name, text] as const] : []
    })
    this.special = Object.fromEntries(texts)
    const end = this.special['eos_token']
    const token = end === undefined ? undefined : inner.token_to_id?.(end)
    this.endTokens = token === undefined ? [] : [token]
  }

  get hasTemplate(): boolean {
    return this.template !== null
  }

  encode(text: string, options?: Parameters<Tokenizer['encode']>[1]): readonly number[] {
    return encode(this.inner, text, options?.add_special_tokens !== false)
  }

  decode(tokens: number[], options?: Parameters<Tokenizer['decode']>[1]): string {
    return this.inner.decode(tokens, options)
  }

  chatText(messages: readonly ChatMessage[], values: Readonly<Record<string, unknown>> = {}): string {
    if (this.template === null)
      throw new PtliteError('INVALID_ARGUMENT', 'the tokenizer has no chat template; give one as template, or write the prompt yourself')
    return this.template.render({ ...this.special, messages, add_generation_prompt: true, ...values })
  }

  chat(messages: readonly ChatMessage[], values: Readonly<Record<string, unknown>> = {}): number[] {
    return encode(this.inner, this.chatText(messages, values), false)
  }
}
