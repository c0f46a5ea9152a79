import { type Output, Tensor } from '../index.js'
import { detectionsIn, detectionsOf, detectionsText } from './detections.js'
import { guessesOf, guessesText } from './labels.js'
import { pixelScoresIn, sharesOf, sharesText } from './pixel-classes.js'

/** A result for people, and for programs. */
export interface Shown {
  readonly text: string
  readonly json: unknown
}

/** Without another number, of a result that has scores of all classes. */
const USUAL_TOP = 5

/**
 * What a result says of classes with names: boxes with classes and scores, shares of pixels, or else the likeliest classes. At most `top` of them. Throws UsageError
 * where it says nothing of classes.
 */
export function labelled(result: Output, labels: readonly string[], top: number | undefined): Shown {
  const found = detectionsIn(result)
  if (found !== undefined) {
    const json = detectionsOf(found, labels).slice(0, top)
    return { json, text: detectionsText(json) }
  }
  const scores = pixelScoresIn(result)
  if (scores !== undefined) {
    const json = sharesOf(scores, labels).map((shares) => shares.slice(0, top))
    return { json, text: sharesText(json) }
  }
  const json = guessesOf(firstTensor(result), labels, top ?? USUAL_TOP)
  return { json, text: guessesText(json) }
}

function firstTensor(value: Output): Tensor | undefined {
  if (value instanceof Tensor) return value
  const items = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : []
  return items.find((item) => item instanceof Tensor)
}
