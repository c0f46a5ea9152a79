import type { Tokenizer } from 'ptlite'
import { isPlain } from './schema.js'

/** Tokens by the characters of their texts. */
export interface Branch {
  readonly next: Map<string, Branch>
  /** Those that end here. */
  readonly tokens: number[]
}

/** What the tokens of a tokenizer add to a text. Bytes that are no character by themselves are U+FFFD, which strings of JSON may have anywhere. */
export class Vocabulary {
  /** Those that may stand in a string as they are. */
  readonly plain: number[] = []
  readonly plainTree: Branch = branch()
  /** Those with quotes, backslashes and control characters. */
  readonly otherTree: Branch = branch()
  private readonly texts = new Map<number, string>()

  /** `file`: tokenizer.json. */
  constructor(tokenizer: Pick<Tokenizer, 'decode'>, file: object) {
    const { tokens, special } = tokensIn(file)
    // what a token adds depends on there being one before it
    const anchor = tokens.find((token) => !special.has(token) && /^\w+$/.test(tokenizer.decode([token], KEEP)))
    const before = anchor === undefined ? '' : tokenizer.decode([anchor], KEEP)
    for (const token of tokens) {
      if (special.has(token)) continue
      const text = tokenizer.decode(anchor === undefined ? [token] : [anchor, token], KEEP).slice(before.length)
      if (text === '') continue
      this.texts.set(token, text)
      const isAllPlain = [...text].every(isPlain)
      if (isAllPlain) this.plain.push(token)
      put(isAllPlain ? this.plainTree : this.otherTree, text, token)
    }
  }

  textOf(token: number): string | undefined {
    return this.texts.get(token)
  }
}

const KEEP = { skip_special_tokens: false }

function branch(): Branch {
  return { next: new Map(), tokens: [] }
}

function put(root: Branch, text: string, token: number): void {
  let at = root
  for (const character of text) {
    let next = at.next.get(character)
    if (next === undefined) at.next.set(character, (next = branch()))
    at = next
  }
  at.tokens.push(token)
}

interface TokenizerFile {
  readonly model?: { readonly vocab?: Readonly<Record<string, unknown>> | readonly unknown[] }
  readonly added_tokens?: readonly { readonly id?: unknown; readonly special?: unknown }[]
}

/** All tokens of tokenizer.json, and those among them that are no text. */
function tokensIn(file: TokenizerFile): { readonly tokens: readonly number[]; readonly special: ReadonlySet<number> } {
  const { vocab = {} } = file.model ?? {}
  const added = file.added_tokens ?? []
  const ids: unknown[] = [...(Array.isArray(vocab) ? vocab.keys() : Object.values(vocab)), ...added.map(({ id }) => id)]
  const tokens = [...new Set(ids.filter((id): id is number => Number.isSafeInteger(id) && (id as number) >= 0))]
  return { tokens, special: new Set(added.filter(({ special }) => special === true).map(({ id }) => id as number)) }
}
