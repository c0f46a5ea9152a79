import { PtliteError } from '../../runtime/error.js'
import { checkText, reading } from '../../runtime/tensor/check-arguments.js'
import type { WordModel } from './beams.js'

interface Gram {
  readonly logprob: number
  readonly backoff: number
}

const START = '<s>'
const END = '</s>'
const UNKNOWN = '<unk>'
/** What KenLM says of words where a file has no <unk>. */
const UNKNOWN_LOGPROB = -100
const MOST_ORDER = 16

/**
 * A model of n-grams from the text of a file in the ARPA format, as KenLM, SRILM and others write it: probabilities by Katz's back-off. Throws INVALID_FILE for other texts.
 */
export function readArpa(text: string): WordModel {
  return reading(() => {
    checkText(text, 'the text of an ARPA file')
    return new Ngrams(...parsed(text))
  })
}

function parsed(text: string): [grams: Map<string, Gram>, order: number] {
  const grams = new Map<string, Gram>()
  let order = 0
  let section = 0
  let hasData = false
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '\\data\\') hasData = true
    if (line === '\\end\\') break
    const begun = /^\\(\d{1,2})-grams:$/.exec(line)
    if (begun !== null) {
      section = Number(begun[1])
      order = Math.max(order, section)
      if (section < 1 || section > MOST_ORDER) throw damaged(i, `expected n-grams of 1 to ${MOST_ORDER} words`)
      continue
    }
    if (section === 0 || line === '') continue
    const fields = line.split(/\s+/)
    const [logprob, backoff] = [Number(fields[0]), Number(fields[section + 1] ?? 0)]
    if (fields.length < section + 1 || fields.length > section + 2 || !Number.isFinite(logprob) || Number.isNaN(backoff))
      throw damaged(i, `expected a logarithm, ${section} words and a back-off`)
    grams.set(fields.slice(1, section + 1).join(' '), { logprob, backoff })
  }
  if (!hasData || order === 0) throw new PtliteError('INVALID_FILE', 'damaged ARPA file: it has no \\data\\ or no n-grams')
  return [grams, order]
}

function damaged(line: number, what: string): PtliteError {
  return new PtliteError('INVALID_FILE', `damaged ARPA file: line ${line + 1}: ${what}`)
}

class Ngrams implements WordModel {
  constructor(
    private readonly grams: ReadonlyMap<string, Gram>,
    private readonly order: number,
  ) {}

  score(word: string, before: readonly string[]): number {
    const known = (each: string): string => (this.grams.has(each) ? each : UNKNOWN)
    if (!this.grams.has(word) && !this.grams.has(UNKNOWN)) return UNKNOWN_LOGPROB
    const context = [START, ...before.map(known)].slice(-(this.order - 1) || Infinity)
    return this.scoreOf(known(word), this.order === 1 ? [] : context)
  }

  end(before: readonly string[]): number {
    return this.grams.has(END) ? this.score(END, before) : 0
  }

  /** The longest n-gram that there is, and the back-off of those that are longer. */
  private scoreOf(word: string, context: readonly string[]): number {
    const found = this.grams.get([...context, word].join(' '))
    if (found !== undefined) return found.logprob
    if (context.length === 0) return UNKNOWN_LOGPROB
    return (this.grams.get(context.join(' '))?.backoff ?? 0) + this.scoreOf(word, context.slice(1))
  }
}
