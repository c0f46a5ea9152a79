import { check } from '../../runtime/error.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'

/** Texts of tokens: the contents of `vocab.json`, or a list in their order. */
export type CtcVocabulary = readonly string[] | Readonly<Record<string, number>>

/** What tokens are. */
export interface ReadVocabulary {
  /** Texts by token; '' for those that have none. */
  readonly texts: readonly string[]
  /** Stands for nothing, between tokens. */
  readonly blank: number
  /** Between words; null where there is none. */
  readonly delimiter: number | null
}

const BLANKS = ['<pad>', '[PAD]', '<blank>', '<blk>', '<ctc_blank>', '_', '-', '']
const DELIMITERS = ['|', ' ', '▁']
const SPECIAL = ['<pad>', '[PAD]', '<blank>', '<blk>', '<ctc_blank>', '<s>', '</s>', '<unk>', '[UNK]']
/** Those of CTC are few: letters, or some thousands of word pieces. */
const MOST = 1 << 20

/** Throws INVALID_ARGUMENT for what is none. */
export function readVocabulary(vocabulary: CtcVocabulary | undefined, blank: number | undefined, count: number): ReadVocabulary {
  const given = vocabulary === undefined ? [] : listOf(vocabulary)
  check(
    given.length <= count,
    () => `expected a vocabulary of at most ${count} tokens, as many as the model has logits for, found ${given.length}`,
  )
  const found = BLANKS.map((text) => given.indexOf(text)).find((at) => at >= 0) ?? 0
  check(blank === undefined || blank < count, () => `expected blank to be a token below ${count}, found ${blank}`)
  const stands = blank ?? found
  const delimiter = DELIMITERS.map((text) => given.indexOf(text)).find((at) => at >= 0) ?? null
  return {
    blank: stands,
    delimiter: delimiter === stands ? null : delimiter,
    texts: Array.from({ length: count }, (_, i) => {
      const text = given[i] ?? ''
      if (i === stands || SPECIAL.includes(text)) return ''
      return i === delimiter ? ' ' : text.replaceAll('▁', ' ')
    }),
  }
}

function listOf(vocabulary: CtcVocabulary): readonly string[] {
  if (Array.isArray(vocabulary)) {
    for (const text of vocabulary as readonly unknown[])
      check(typeof text === 'string', () => `expected a vocabulary of texts, found ${kindOf(text)} among them`)
    return vocabulary as readonly string[]
  }
  const texts: string[] = []
  for (const [text, token] of Object.entries(vocabulary as Readonly<Record<string, unknown>>)) {
    check(
      Number.isSafeInteger(token) && (token as number) >= 0 && (token as number) < MOST,
      () => `expected a vocabulary of tokens from 0 to ${MOST - 1}, found ${kindOf(token)} for ${JSON.stringify(text.slice(0, 40))}`,
    )
    texts[token as number] = text
  }
  return Array.from(texts, (text) => text ?? '')
}
