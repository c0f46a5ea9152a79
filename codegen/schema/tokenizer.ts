export type TokenKind = 'name' | 'number' | 'string' | 'punctuation' | 'end'

export interface Token {
  readonly kind: TokenKind
  /** The token's text; of a string, its contents with escapes resolved. */
  readonly text: string
  /** Offset in the schema text. */
  readonly start: number
  readonly quote?: '"' | "'"
}

/** A text that is not a schema; `offset` is where reading stopped. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'

  constructor(
    message: string,
    readonly text: string,
    readonly offset: number,
  ) {
    super(`${message} at column ${offset + 1} of '${text}'`)
  }
}

const SPACE = /\s+/y
// dots belong to class names and overloads, which the parser takes apart
const NAME = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y
const NUMBER = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y
const PUNCTUATION = /->|::|\.\.\.|[()[\],=*?!|]/y
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', "'": "'", '"': '"', '\\': '\\' }

/** Splits a schema into tokens; the last one is `end`. Throws SchemaError on characters that no schema has. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0] ?? null
  }
  for (;;) {
    at += match(SPACE)?.length ?? 0
    if (at >= text.length) break
    const quote = text[at]
    if (quote === '"' || quote === "'") {
      const [value, end] = readString(text, at, quote)
      tokens.push({ kind: 'string', text: value, start: at, quote })
      at = end
      continue
    }
    const name = match(NAME)
    const number = name === null ? match(NUMBER) : null
    const found = name ?? number ?? match(PUNCTUATION)
    if (found === null) throw new SchemaError(`unexpected character '${text[at]}'`, text, at)
    tokens.push({ kind: name !== null ? 'name' : number !== null ? 'number' : 'punctuation', text: found, start: at })
    at += found.length
  }
  tokens.push({ kind: 'end', text: 'the end', start: text.length })
  return tokens
}

function readString(text: string, start: number, quote: string): [string, number] {
  let value = ''
  for (let i = start + 1; i < text.length; i++) {
    const c = text[i]!
    if (c === quote) return [value, i + 1]
    if (c === '\\') {
      const next = text[++i] ?? ''
      const escaped = ESCAPES[next]
      if (escaped === undefined) throw new SchemaError(`unknown escape '\\${next}'`, text, i - 1)
      value += escaped
    } else value += c
  }
  throw new SchemaError('unterminated string', text, start)
}
