/**
 * What turns text into tokens and back: any library's tokenizer that has these, such as `Tokenizer` of `@huggingface/tokenizers`. `encode` gives numbers, or an object
 * with them as `ids`.
 */
export interface Tokenizer {
  /** The tokens of a text, with those that mark its beginning and end unless `add_special_tokens` is false. */
  encode(text: string, options?: { readonly add_special_tokens?: boolean }): readonly number[] | { readonly ids: readonly number[] }
  /** The text of tokens, without special ones where `skip_special_tokens` is set. */
  decode(tokens: number[], options?: { readonly skip_special_tokens?: boolean }): string
}

/** The tokens of a text. Without `special` none that mark its beginning and end, which a chat template has already. */
export function encode(tokenizer: Tokenizer, text: string, special = true): number[] {
  const encoded = tokenizer.encode(text, { add_special_tokens: special })
  return [...('ids' in encoded ? encoded.ids : encoded)]
}

/** Says what is expected of a tokenizer, where `value` is none. */
export function isTokenizer(value: unknown): string | null {
  const { encode, decode } = (value ?? {}) as Partial<Tokenizer>
  return typeof encode === 'function' && typeof decode === 'function' ? null : 'a tokenizer with encode() and decode()'
}
