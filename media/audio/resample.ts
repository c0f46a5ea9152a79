import { check } from '../../runtime/error.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from '../../src/values/operators.js'
import { tensor } from '../../src/values/tensor.js'
import { checkRate, checkSamples } from './checks.js'

/** Zero crossings of the filter on each side, and where it cuts off as a share of the lower rate's half: torchaudio's defaults. */
const CROSSINGS = 6
const ROLLOFF = 0.99
/** Weights of the filter, of which there are about the product of both rates by the square of their common divisor. */
const MAX_WEIGHTS = 2 ** 24

/**
 * Samples [frames] or [channels, frames] at another rate, by a sinc filter with a Hann window: torchaudio's `functional.resample` with its defaults. The result has
 * ceil(frames * to / from) frames. Throws INVALID_ARGUMENT for other tensors, rates that are no whole numbers, and rates whose ratio takes too large a filter.
 */
export function resampleAudio(samples: Tensor, from: number, to: number): Tensor<'float32'> {
  return reading(() => {
    checkSamples(samples)
    checkRate(from, 'the rate before')
    checkRate(to, 'the rate after')
    return from === to ? samples.clone() : resampled(samples, from, to)
  })
}

function resampled(samples: Tensor, from: number, to: number): Tensor<'float32'> {
  const divisor = greatestCommonDivisor(from, to)
  const [old, wanted] = [from / divisor, to / divisor]
  const cutoff = Math.min(old, wanted) * ROLLOFF
  const margin = Math.ceil((CROSSINGS * old) / cutoff)
  check(
    wanted * (2 * margin + old) <= MAX_WEIGHTS,
    () =>
      `resampling from ${from} to ${to} frames a second takes a filter of ${wanted} x ${2 * margin + old} numbers; go by a rate between that divides one of them`,
  )
  const frames = samples.shape.at(-1)!
  const rows = samples.reshape([-1, 1, frames])
  const padded = callOperator<Tensor>('aten::constant_pad_nd', [rows, [margin, margin + old]])
  const filters = tensor(filtersOf(old, wanted, margin, cutoff), [wanted, 1, 2 * margin + old])
  const phases = callOperator<Tensor<'float32'>>('aten::conv1d', [padded, filters, null, [old]])
  const length = Math.ceil((wanted * frames) / old)
  const all = phases.transpose(1, 2).reshape([rows.shape[0]!, -1])
  return all
    .slice(1, 0, length)
    .reshape([...samples.shape.slice(0, -1), length])
    .clone()
}

/** A windowed sinc for each of the `wanted` places between `old` frames. */
function filtersOf(old: number, wanted: number, margin: number, cutoff: number): Float32Array {
  const width = 2 * margin + old
  const filters = new Float32Array(wanted * width)
  for (let phase = 0; phase < wanted; phase++) {
    for (let i = 0; i < width; i++) {
      const time = ((i - margin) / old - phase / wanted) * cutoff
      // beyond its last zero crossing the window is 0
      if (Math.abs(time) >= CROSSINGS) continue
      const window = Math.cos((time * Math.PI) / CROSSINGS / 2) ** 2
      const sinc = time === 0 ? 1 : Math.sin(time * Math.PI) / (time * Math.PI)
      filters[phase * width + i] = (sinc * window * cutoff) / old
    }
  }
  return filters
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
