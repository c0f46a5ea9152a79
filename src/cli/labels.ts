import { PtliteError } from '../../runtime/error.js'
import type { Tensor } from '../index.js'
import { readFile } from './inputs.js'
import { parseJson } from './json-values.js'
import { UsageError } from './usage-error.js'

/**
 * Names of classes: a file with one in each line, a JSON list, or a JSON object from indices to names or to lists whose last item is the name (as of ImageNet).
 * Throws INVALID_FILE.
 */
export function readLabels(file: string): readonly string[] {
  const text = readFile(file).toString()
  if (!/^\s*[[{]/.test(text)) return text.trim() === '' ? [] : text.trimEnd().split(/\r?\n/)
  const json = parseJson(text, file)
  const labels: string[] = []
  for (const [index, value] of Object.entries(json as object) as [string, unknown][]) {
    const name = Array.isArray(value) ? (value as readonly unknown[]).at(-1) : value
    if (!/^\d{1,7}$/.test(index) || typeof name !== 'string')
      throw new PtliteError('INVALID_FILE', `${file}: expected names of classes, or an object from indices to names`)
    labels[Number(index)] = name
  }
  return labels
}

export interface Guess {
  readonly index: number
  readonly label: string
  readonly probability: number
}

/**
 * The `count` likeliest classes of each row of a tensor [classes] or [rows, classes], the likeliest first. What is no distribution goes through softmax. Throws
 * UsageError for what is no such tensor.
 */
export function guessesOf(scores: Tensor | undefined, labels: readonly string[], count: number): readonly (readonly Guess[])[] {
  if (scores === undefined || scores.shape.length < 1 || scores.shape.length > 2 || scores.shape.at(-1) === 0)
    throw new UsageError(
      '--labels: the result is neither a tensor [classes], [rows, classes] or [pictures, classes, height, width], nor boxes with scores and classes',
    )
  const classes = scores.shape.at(-1)!
  const rows = scores.reshape([-1, classes]).to('float64')
  const chances = isDistribution(rows) ? rows : rows.softmax(-1)
  const [values, indices] = chances.topk(Math.min(count, classes), 1)
  const [of, at] = [values.toArray() as number[][], indices.toArray() as number[][]]
  return of.map((row, r) =>
    row.map((probability, i) => {
      const index = at[r]![i]!
      return { index, label: labels[index] ?? `class ${index}`, probability }
    }),
  )
}

function isDistribution(rows: Tensor): boolean {
  const sums = rows.sum(1).toArray() as number[]
  return Number(rows.amin().item()) >= 0 && sums.every((sum) => Math.abs(sum - 1) < 1e-3)
}

/** A line for each class. */
export function guessesText(guesses: readonly (readonly Guess[])[]): string {
  return guesses
    .map((row) => row.map(({ label, probability }) => `${(100 * probability).toFixed(1).padStart(5)} %  ${label}`).join('\n'))
    .join('\n\n')
}
