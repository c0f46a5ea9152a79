import type { Tokenizer } from './tokenizer.js'

/** What decoders write for bytes that are no character, or not yet. */
const REPLACEMENT = '\ufffd'
/** Tokens that a character may be in: where there are more the bytes are none. */
const MAX_OPEN = 16

/**
 * The text of tokens as they come. A character whose bytes are in several tokens is given with the last of them. What a token is depends on those before it (spaces between words), so each piece is
 * what the text of a few tokens gains by one more.
 */
export class TextStream {
  private readonly tokens: number[] = []
  /** Tokens before this one were given and are not looked at any more. */
  private from = 0
  /** Tokens before this one were given. */
  private given = 0

  constructor(
    private readonly tokenizer: Pick<Tokenizer, 'decode'>,
    private readonly keepSpecial = false,
  ) {}

  /** The text that this token completes; '' where it ends in the middle of a character. */
  push(token: number): string {
    this.tokens.push(token)
    const before = this.decode(this.given)
    const now = this.decode(this.tokens.length)
    const isOpen = now.endsWith(REPLACEMENT) && this.tokens.length - this.given < MAX_OPEN
    if (isOpen || now.length <= before.length) return ''
    return this.give(before, now)
  }

  /** What was held back. */
  end(): string {
    return this.give(this.decode(this.given), this.decode(this.tokens.length))
  }

  private give(before: string, now: string): string {
    this.from = this.given
    this.given = this.tokens.length
    return now.slice(before.length)
  }

  private decode(end: number): string {
    const tokens = this.tokens.slice(this.from, end)
    return tokens.length === 0 ? '' : this.tokenizer.decode(tokens, { skip_special_tokens: !this.keepSpecial })
  }
}
