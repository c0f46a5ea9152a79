/** Perceived pitch: Slaney's scale is linear below 1 kHz and logarithmic above it, as librosa has it; HTK's is one formula. */
export type MelScale = 'htk' | 'slaney'

const LINEAR_STEP = 200 / 3
const BREAK = 1000
const LOG_STEP = Math.log(6.4) / 27

function melOf(hertz: number, scale: MelScale): number {
  if (scale === 'htk') return 2595 * Math.log10(1 + hertz / 700)
  return hertz < BREAK ? hertz / LINEAR_STEP : BREAK / LINEAR_STEP + Math.log(hertz / BREAK) / LOG_STEP
}

function hertzOf(mel: number, scale: MelScale): number {
  if (scale === 'htk') return 700 * (10 ** (mel / 2595) - 1)
  const linear = BREAK / LINEAR_STEP
  return mel < linear ? mel * LINEAR_STEP : BREAK * Math.exp(LOG_STEP * (mel - linear))
}

/**
 * `mels` triangles over `bins` frequencies from 0 to `highest` Hz, as [mels, bins]: torchaudio's melscale_fbanks, transposed. With `isNormalized` each has the area 1.
 */
export function melFilters(
  bins: number,
  highest: number,
  mels: number,
  [low, high]: readonly [number, number],
  scale: MelScale,
  isNormalized: boolean,
): Float32Array {
  const [first, last] = [melOf(low, scale), melOf(high, scale)]
  const edges = Array.from({ length: mels + 2 }, (_, i) => hertzOf(first + ((last - first) * i) / (mels + 1), scale))
  const filters = new Float32Array(mels * bins)
  for (let m = 0; m < mels; m++) {
    const [left, middle, right] = [edges[m]!, edges[m + 1]!, edges[m + 2]!]
    const height = isNormalized ? 2 / (right - left) : 1
    for (let b = 0; b < bins; b++) {
      const hertz = (highest * b) / (bins - 1)
      const slope = Math.min((hertz - left) / (middle - left), (right - hertz) / (right - middle))
      if (slope > 0) filters[m * bins + b] = height * slope
    }
  }
  return filters
}
