import type { Frames } from './frames.js'
import type { ReadVocabulary } from './vocabulary.js'

/** Says how likely words are behind others: `readArpa` reads one, or any object that has these. */
export interface WordModel {
  /** The logarithm of base 10 of a word's probability, `before` being the words before it. */
  score(word: string, before: readonly string[]): number
  /** The same of the end of a text. */
  end?(before: readonly string[]): number
}

export interface WeighedWords {
  readonly model: WordModel
  readonly weight: number
  readonly bonus: number
}

/** The beginning of a text, and the logarithms of the probabilities of all ways to have said it so far: ending in a blank, or in its last token. */
interface Beam {
  readonly token: number
  readonly parent: Beam | null
  readonly words: readonly string[]
  /** Of the word that is not whole yet. */
  readonly letters: string
  /** What the model of words says of the whole ones. */
  readonly language: number
  blank: number
  open: number
  nextBlank: number
  nextOpen: number
  readonly children: Map<number, Beam>
  isNext: boolean
}

const sumOf = (a: number, b: number): number => {
  const [low, high] = a < b ? [a, b] : [b, a]
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high))
}
const totalOf = ({ blank, open, language }: Beam): number => sumOf(blank, open) + language

/** The likeliest tokens over all ways to say them; `logprob` is without what a model of words says. */
export function likeliestTokens(
  { count, width, values }: Frames,
  { blank, delimiter, texts }: ReadVocabulary,
  most: number,
  words: WeighedWords | undefined,
): { readonly tokens: number[]; readonly logprob: number } {
  const weigh = (beam: Pick<Beam, 'words' | 'letters'>): number =>
    words === undefined || beam.letters === '' ? 0 : Math.LN10 * words.weight * words.model.score(beam.letters, beam.words) + words.bonus
  const grown = (beam: Beam, token: number): Beam => {
    const text = texts[token]!
    const isBreak = token === delimiter || text.startsWith(' ')
    const rest = text.trimStart()
    return {
      ...{ token, parent: beam, blank: -Infinity, open: -Infinity, nextBlank: -Infinity, nextOpen: -Infinity },
      words: isBreak && beam.letters !== '' ? [...beam.words, beam.letters] : beam.words,
      letters: isBreak ? rest : beam.letters + rest,
      language: beam.language + (isBreak ? weigh(beam) : 0),
      children: new Map(),
      isNext: false,
    }
  }
  let beams: Beam[] = [
    { token: -1, parent: null, words: [], letters: '', language: 0, blank: 0, open: -Infinity, nextBlank: -Infinity, nextOpen: -Infinity, children: new Map(), isNext: false },
  ] // prettier-ignore
  for (let frame = 0; frame < count; frame++) {
    const row = values.subarray(frame * width, (frame + 1) * width)
    const next: Beam[] = []
    const add = (beam: Beam): void => {
      if (!beam.isNext) next.push(beam)
      beam.isNext = true
    }
    for (const beam of beams) {
      const all = sumOf(beam.blank, beam.open)
      beam.nextBlank = sumOf(beam.nextBlank, all + row[blank]!)
      if (beam.token >= 0) beam.nextOpen = sumOf(beam.nextOpen, beam.open + row[beam.token]!)
      add(beam)
      for (let token = 0; token < width; token++) {
        // the same token again is another one behind a blank alone
        const from = token === beam.token ? beam.blank : all
        if (token === blank || from === -Infinity || row[token] === -Infinity) continue
        let child = beam.children.get(token)
        if (child === undefined) beam.children.set(token, (child = grown(beam, token)))
        child.nextOpen = sumOf(child.nextOpen, from + row[token]!)
        add(child)
      }
    }
    for (const beam of next) {
      ;[beam.blank, beam.open] = [beam.nextBlank, beam.nextOpen]
      beam.nextBlank = beam.nextOpen = -Infinity
      beam.isNext = false
    }
    if (next.length > most) next.sort((a, b) => totalOf(b) - totalOf(a))
    for (const beam of next.slice(most)) drop(beam)
    beams = next.slice(0, most)
  }
  const whole = (beam: Beam): number => {
    const said = beam.letters === '' ? beam.words : [...beam.words, beam.letters]
    const end = words?.model.end?.(said) ?? 0
    return totalOf(beam) + weigh(beam) + (words === undefined ? 0 : Math.LN10 * words.weight * end)
  }
  const [first, ...others] = beams
  const best = others.reduce<readonly [Beam, number]>(
    (top, beam) => {
      const total = whole(beam)
      return total > top[1] ? [beam, total] : top
    },
    [first!, whole(first!)],
  )[0]
  const tokens: number[] = []
  for (let beam: Beam | null = best; beam !== null && beam.token >= 0; beam = beam.parent) tokens.push(beam.token)
  return { tokens: tokens.reverse(), logprob: sumOf(best.blank, best.open) }
}

/** What is not followed any more: it may be found again, from the beginning. */
function drop(beam: Beam): void {
  beam.blank = beam.open = -Infinity
  if (beam.parent?.children.get(beam.token) === beam && beam.children.size === 0) beam.parent.children.delete(beam.token)
}
