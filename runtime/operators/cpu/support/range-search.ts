import { halfToNumber, numberToHalf, roundHalfEven } from '../../../tensor/half.js'

/** Bounds between which rows are quantized with little error. */

/** Rounded to float16. */
export function half(x: number): number {
  return halfToNumber(numberToHalf(x))
}

export type Range = readonly [min: number, max: number]

export function rangeOf(row: Float32Array): Range {
  let [min, max] = [Infinity, -Infinity]
  for (const x of row) {
    min = Math.min(min, x)
    max = Math.max(max, x)
  }
  return [min, max]
}

/** Sum of squared errors of a row quantized between the bounds. */
function loss(row: Float32Array, [least, max]: Range, levels: number): number {
  const min = half(least)
  const range = Math.fround(max - min)
  const scale = range === 0 ? 1 : half(Math.fround(range / levels))
  const inverse = scale === 0 ? 1 : Math.fround(1 / scale)
  let sum = 0
  for (const x of row) {
    const q = Math.max(0, Math.min(levels, roundHalfEven(Math.fround(Math.fround(x - min) * inverse))))
    sum += (Math.fround(q * scale + min) - x) ** 2
  }
  return sum
}

/** Narrows the bounds greedily, a bin at a time, and takes the best pair met (at::choose_qparams_optimized). */
export function bestRange(row: Float32Array, whole: Range, bins: number, ratio: number, levels: number): Range {
  const step = Math.fround(Math.fround(whole[1] - whole[0]) / bins)
  const least = Math.fround(Math.trunc(bins * (1 - Math.fround(ratio))) * step)
  let current: Range = whole
  let currentLoss = loss(row, whole, levels)
  let best: Range | null = null
  let bestLoss = currentLoss
  // a step may be too small to move a bound
  for (let n = 0; n <= bins && step > 0 && Math.fround(current[0] + least) < current[1]; n++) {
    const [up, down]: [Range, Range] = [
      [Math.fround(current[0] + step), current[1]],
      [current[0], Math.fround(current[1] - step)],
    ]
    const [upLoss, downLoss] = [loss(row, up, levels), loss(row, down, levels)]
    if (currentLoss < upLoss && currentLoss < downLoss && currentLoss < bestLoss) [best, bestLoss] = [current, currentLoss]
    ;[current, currentLoss] = upLoss < downLoss ? [up, upLoss] : [down, downLoss]
  }
  return best ?? whole
}
