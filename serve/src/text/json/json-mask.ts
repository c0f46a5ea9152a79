import { PtliteError } from 'ptlite'
import { Grammar, type State } from './grammar.js'
import { itemsOf } from './schema.js'
import type { Branch, Vocabulary } from './vocabulary.js'

/** Milliseconds that looking for the tokens that may come next may take: hostile schemas make it long. */
const MAX_MS = 2000
/** Characters between two looks at the clock. */
const LOOKS = 4096
/** Masks that are kept, of as many bits as there are tokens. */
const MAX_KEPT = 64

/** Tokens that may come next. */
interface Mask {
  readonly allowed: Uint8Array
}

/** Leaves the tokens that go on with JSON of a schema, while a text is generated. */
export class JsonMask {
  private readonly grammar = new Grammar()
  private readonly isInString: ReturnType<typeof itemsOf>['isInString']
  private state: State
  private readonly masks = new Map<string, Mask>()
  private seen: number | null = null

  /** `schema`: null is any object. Throws SchemaError. */
  constructor(
    private readonly vocabulary: Vocabulary,
    schema: Readonly<Record<string, unknown>> | null,
    private readonly ends: readonly number[],
  ) {
    const { items, isInString } = itemsOf(schema)
    this.isInString = isInString
    this.state = this.grammar.start(items)
  }

  /** For the option `logits` of a generation: `tokens` are those of the prompt and of the text so far. */
  apply(logits: Float32Array, tokens: readonly number[]): void {
    this.seen ??= tokens.length
    for (; this.seen < tokens.length; this.seen++) this.take(tokens[this.seen]!)
    const { allowed } = this.maskOf(this.state, logits.length)
    for (let token = 0; token < logits.length; token++) if (allowed[token] === 0) logits[token] = -Infinity
  }

  /** Whether a token is the last one: nothing may follow the text with it. */
  isEnd(token: number): boolean {
    const next = this.after(this.state, token)
    return next !== null && next.rests.every((rest) => rest === null)
  }

  private take(token: number): void {
    this.state = this.after(this.state, token) ?? this.state
  }

  private after(state: State, token: number): State | null {
    let at: State | null = state
    for (const character of this.vocabulary.textOf(token) ?? '') {
      at = this.grammar.step(at, character)
      if (at === null) return null
    }
    return at
  }

  private maskOf(state: State, count: number): Mask {
    let mask = this.masks.get(state.key)
    if (mask !== undefined) return mask
    const allowed = new Uint8Array(count)
    const end = performance.now() + MAX_MS
    let looks = 0
    const walk = ({ next, tokens }: Branch, at: State): void => {
      for (const token of tokens) allowed[token] = 1
      for (const [character, further] of next) {
        if (++looks % LOOKS === 0 && performance.now() > end)
          throw new PtliteError('LIMIT_EXCEEDED', `what the schema lets come next was not found within ${MAX_MS} ms; make it simpler`)
        const stepped = this.grammar.step(at, character)
        if (stepped !== null) walk(further, stepped)
      }
    }
    if (state.rests.some((rest) => rest !== null && this.isInString(rest.item)))
      for (const token of this.vocabulary.plain) allowed[token] = 1
    else walk(this.vocabulary.plainTree, state)
    walk(this.vocabulary.otherTree, state)
    if (state.rests.includes(null)) for (const token of this.ends) allowed[token] = 1
    if (this.masks.size >= MAX_KEPT) this.masks.clear()
    this.masks.set(state.key, (mask = { allowed }))
    return mask
  }
}
