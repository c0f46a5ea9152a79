import { check, PtliteError } from '../../error.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { numelOf, shapeText } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { writeOutsExact, type Outs } from '../support/write-out.js'

/** Max pooling over windows at random places (Graham 2014, "Fractional Max-Pooling"). */

interface Axis {
  readonly input: number
  readonly output: number
  readonly window: number
}

/** Starts of the windows along an axis, from a sample in 0..1; computed in the precision of the input, as PyTorch does. */
function startsOf({ input, output, window }: Axis, sample: number, round: (x: number) => number): number[] {
  const last = input - window
  const step = round(last / (output - 1))
  const shift = Math.trunc(round(sample * step))
  const start = (i: number): number => Math.trunc(round(round(i + sample) * step)) - shift
  // samples outside 0..1, or none at all, must not lead out of the input
  return Array.from({ length: output }, (_, i) => (i === output - 1 ? last : Math.min(Math.max(start(i) || 0, 0), last)))
}

/** Largest value of the window at `start`, the last NaN if there is one, and its position in the plane. */
function largest(plane: Float32Array | Float64Array, from: number, start: readonly number[], axes: readonly Axis[]): [number, number] {
  let most = -Infinity
  let where = 0
  axes.forEach(({ input }, d) => (where = where * input + start[d]!))
  const walk = (d: number, offset: number): void => {
    const { input, window } = axes[d]!
    for (let i = 0; i < window; i++) {
      const at = offset * input + start[d]! + i
      if (d + 1 < axes.length) walk(d + 1, at)
      else if (plane[from + at]! > most || Number.isNaN(plane[from + at])) {
        most = plane[from + at]!
        where = at
      }
    }
  }
  walk(0, 0)
  return [most, where]
}

function axesOf(operator: string, self: Tensor, window: readonly number[], output: readonly number[]): Axis[] {
  const count = window.length
  check(
    (self.dim === count + 1 || self.dim === count + 2) && self.shape.slice(-count - 1).every((size) => size > 0),
    () => `${operator}: expected ${count + 1} or ${count + 2} dimensions, only the batch empty, found shape ${shapeText(self.shape)}`,
  )
  // PyTorch leaves a place over in three dimensions
  const slack = count === 3 ? 1 : 0
  const axes = self.shape.slice(-count).map((input, d) => ({ input, output: output[d]!, window: window[d]! }))
  check(
    axes.every((a) => a.window >= 1 && a.output >= 0 && a.output + a.window - 1 <= a.input - slack),
    () => `${operator}: windows of [${window.join(', ')}] do not fit [${output.join(', ')}] times into shape ${shapeText(self.shape)}`,
  )
  return axes
}

function pool(operator: string, self: Tensor, window: readonly number[], output: readonly number[], samples: Tensor): [Tensor, Tensor] {
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected a float32 or float64 tensor, found ${self.dtype}`)
  }
  if (samples.type !== self.type) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected random samples of dtype ${self.dtype}, found ${samples.dtype}`)
  }
  const axes = axesOf(operator, self, window, output)
  const count = axes.length
  const lead = self.shape.slice(0, -count)
  const planes = numelOf(lead)
  check(
    samples.numel >= planes * count && samples.shape[samples.dim - 1] === count,
    () => `${operator}: expected ${count} random samples for each of ${planes} planes, found shape ${shapeText(samples.shape)}`,
  )
  const values = empty([...lead, ...output], self.type)
  const indices = empty([...lead, ...output], DType.int64)
  const size = numelOf(self.shape.slice(-count))
  const from = readTensor(self) as Float32Array | Float64Array
  const places = readTensor(samples)
  const most = new (self.type === DType.float32 ? Float32Array : Float64Array)(values.numel)
  const where = new BigInt64Array(values.numel)
  const round = self.type === DType.float32 ? Math.fround : (x: number): number => x
  let next = 0
  for (let plane = 0; plane < planes; plane++) {
    // with two axes the first sample is the width's
    const sampleOf = (d: number): number => Number(places[plane * count + (count === 2 ? 1 - d : d)])
    const starts = axes.map((axis, d) => startsOf(axis, sampleOf(d), round))
    const walk = (chosen: readonly number[]): void => {
      if (chosen.length < count) {
        for (const start of starts[chosen.length]!) walk([...chosen, start])
        return
      }
      const [value, index] = largest(from, plane * size, chosen, axes)
      most[next] = value
      where[next++] = BigInt(index)
    }
    walk([])
  }
  writeTensor(values, most)
  writeTensor(indices, where)
  return [values, indices]
}

/** torch.nn.functional.fractional_max_pool2d with its random samples [n, c, 2]: values, and positions in their planes. */
export function fractional_max_pool2d(self: Tensor, window: number[], size: number[], samples: Tensor, ...outs: Outs): [Tensor, Tensor] {
  const operator = 'fractional_max_pool2d'
  return writeOutsExact(pool(operator, self, window, size, samples), outs, operator)
}

/** torch.nn.functional.fractional_max_pool3d with its random samples [n, c, 3]: values, and positions in their volumes. */
export function fractional_max_pool3d(self: Tensor, window: number[], size: number[], samples: Tensor, ...outs: Outs): [Tensor, Tensor] {
  const operator = 'fractional_max_pool3d'
  return writeOutsExact(pool(operator, self, window, size, samples), outs, operator)
}
