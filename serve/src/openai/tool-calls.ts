import { randomUUID } from 'node:crypto'

/** A call of a tool, as OpenAI's interface has it. */
export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Text that is no call, and calls that are whole. */
export interface Said {
  readonly text: string
  readonly calls: readonly ToolCall[]
}

/** Around calls of Hermes and Qwen. */
const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'
/** Before calls of Mistral, and of Llama 3: special tokens, which decoders may leave out. */
const BEFORE = ['[TOOL_CALLS]', '<|python_tag|>']
/** Characters that are held back for the sake of a call: what is longer is text. */
const MOST_HELD = 1 << 18

/**
 * Finds what a model says of tools in its text as it comes, in the common templates' forms: `<tool_call>{"name", "arguments"}</tool_call>` anywhere (Hermes, Qwen), and a text that is all JSON, a call or a list of
 * them, with `arguments` or `parameters`, perhaps behind `[TOOL_CALLS]` (Mistral) or `<|python_tag|>` (Llama 3). What names no tool that the request offers is text.
 */
export class ToolCalls {
  /** What may become a call. */
  private held = ''
  private hasBegun = false

  constructor(private readonly tools: ReadonlySet<string>) {}

  push(piece: string): Said {
    this.held += piece
    let text = ''
    const calls: ToolCall[] = []
    for (;;) {
      // a text that is JSON from its beginning on is looked at when it is whole
      if (!this.hasBegun && mayBeWhole(this.held)) {
        if (this.held.length <= MOST_HELD) break
        text += this.held
        this.held = ''
      }
      const open = this.held.indexOf(OPEN)
      if (open < 0) {
        const kept = openEnd(this.held)
        text += this.held.slice(0, this.held.length - kept)
        this.held = this.held.slice(this.held.length - kept)
        break
      }
      text += this.held.slice(0, open)
      this.held = this.held.slice(open)
      const close = this.held.indexOf(CLOSE)
      if (close < 0 && this.held.length <= MOST_HELD) break
      const end = close < 0 ? this.held.length : close + CLOSE.length
      const found = close < 0 ? null : this.callsIn(this.held.slice(OPEN.length, close))
      if (found === null) text += this.held.slice(0, end)
      else calls.push(...found)
      this.held = this.held.slice(end)
      this.hasBegun = true
    }
    if (text.trim() !== '') this.hasBegun = true
    // space between calls is no text
    return { text: calls.length > 0 && text.trim() === '' ? '' : text, calls }
  }

  /** What was held back: nothing follows. */
  end(): Said {
    const { held } = this
    this.held = ''
    const begun = BEFORE.find((mark) => held.trimStart().startsWith(mark))
    // models may end where a call does, without what closes it
    const body = held.startsWith(OPEN) ? held.slice(OPEN.length) : begun === undefined ? held : held.trimStart().slice(begun.length)
    const calls = this.callsIn(body)
    return calls === null ? { text: held, calls: [] } : { text: '', calls }
  }

  /** null: it is no call. */
  private callsIn(json: string): ToolCall[] | null {
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch {
      return null
    }
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    const calls = list.map((each) => this.callOf(each))
    return calls.length > 0 && calls.every((call) => call !== null) ? calls : null
  }

  private callOf(value: unknown): ToolCall | null {
    if (typeof value !== 'object' || value === null) return null
    const { name, arguments: given, parameters } = value as Readonly<Record<string, unknown>>
    if (typeof name !== 'string' || !this.tools.has(name)) return null
    const values = given ?? parameters ?? {}
    const text = typeof values === 'string' ? values : JSON.stringify(values)
    return { id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`, type: 'function', function: { name, arguments: text } }
  }
}

/** Whether a text is JSON so far, or is what stands before it. */
function mayBeWhole(text: string): boolean {
  const start = text.trimStart()
  return (
    start === '' ||
    start.startsWith('{') ||
    start.startsWith('[') ||
    BEFORE.some((mark) => mark.startsWith(start) || start.startsWith(mark))
  )
}

/** How much of the end of a text is the beginning of a call. */
function openEnd(text: string): number {
  for (let length = Math.min(text.length, OPEN.length - 1); length > 0; length--) if (text.endsWith(OPEN.slice(0, length))) return length
  return 0
}
