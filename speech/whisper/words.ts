import type { Tokenizer } from '../../generation/text/tokenizer.js'

/** A word as the tokens that it is made of. */
export interface TokenWord {
  readonly text: string
  /** Places of its first token, and behind its last one. */
  readonly from: number
  readonly to: number
}

/** They have no spaces between words. */
const WITHOUT_SPACES = ['zh', 'ja', 'th', 'lo', 'my', 'yue']
const BEFORE_WORDS = '"\'“¡¿([{-'
const BEHIND_WORDS = '"\'.。,，!！?？:：”)]}、'
const PUNCTUATION = /^[!-/:-@[-`{-~]*$/
const REPLACEMENT = '\ufffd'

/** Words of text tokens, with the punctuation that stands at them, as Whisper's own program splits them. */
export function wordsOf(tokens: readonly number[], tokenizer: Tokenizer, language: string | null): TokenWord[] {
  const characters = wholeCharacters(tokens, tokenizer)
  if (language !== null && WITHOUT_SPACES.includes(language)) return withPunctuation(characters)
  const words: TokenWord[] = []
  for (const piece of characters) {
    const last = words.at(-1)
    if (last === undefined || piece.text.startsWith(' ') || PUNCTUATION.test(piece.text.trim())) words.push(piece)
    else words[words.length - 1] = { text: last.text + piece.text, from: last.from, to: piece.to }
  }
  return withPunctuation(words)
}

/** As few tokens together as make whole characters. */
function wholeCharacters(tokens: readonly number[], tokenizer: Tokenizer): TokenWord[] {
  const decode = (from: number, to: number): string => tokenizer.decode(tokens.slice(from, to), { skip_special_tokens: false })
  const all = decode(0, tokens.length)
  const found: TokenWord[] = []
  let from = 0
  let offset = 0
  for (let to = 1; to <= tokens.length; to++) {
    const text = decode(from, to)
    const at = text.indexOf(REPLACEMENT)
    // a character may be the one that stands for what is none
    if (at >= 0 && offset + at < all.length && all[offset + at] !== REPLACEMENT) continue
    found.push({ text, from, to })
    offset += text.length
    from = to
  }
  return found
}

function withPunctuation(words: readonly TokenWord[]): TokenWord[] {
  const found: TokenWord[] = []
  let opening: TokenWord | null = null
  for (const word of words) {
    const whole: TokenWord = opening === null ? word : { text: opening.text + word.text, from: opening.from, to: word.to }
    const mark = word.text.trim()
    opening = word.text.startsWith(' ') && mark !== '' && BEFORE_WORDS.includes(mark) ? whole : null
    if (opening === null) found.push(whole)
  }
  if (opening !== null) found.push(opening)
  return found.reduce<TokenWord[]>((joined, word) => {
    const last = joined.at(-1)
    if (last !== undefined && word.text !== '' && BEHIND_WORDS.includes(word.text) && !last.text.endsWith(' '))
      joined[joined.length - 1] = { text: last.text + word.text, from: last.from, to: word.to }
    else joined.push(word)
    return joined
  }, [])
}
