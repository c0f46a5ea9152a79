import { clamped_convolution, clamped_linear } from '../../runtime/backends/cpu/compiled.js'
import { sparse_convolution, sparse_linear } from '../../runtime/backends/cpu/sparse-product.js'
import type { SparseForm } from '../../runtime/backends/cpu/support/sparse-weight.js'
import { cpu } from '../../runtime/native/cpu.js'
import { getNumThreads } from '../../runtime/native/threads.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { empty, type Tensor } from '../../runtime/tensor/tensor.js'
import { fit, predict, type Sample } from './cost-model.js'

/** A product of x [m, k] (m pixels of an image for convolutions) and a weight [n, k], of whose blocks of `width` outputs some are not zero. */
export interface SparseProduct {
  readonly convolution: boolean
  readonly m: number
  readonly n: number
  readonly k: number
  readonly nonZeroBlocks: number
  readonly width: number
}

export type Strategy = SparseForm | 'dense'
export interface Estimate {
  readonly strategy: Strategy
  readonly milliseconds: number
}

/** More rows than this never go row by row, nor code of more bytes into the instruction stream. */
const MOST_ROWS = 28
const MOST_CODE_BYTES = 512 << 10
const CODE_BYTES_PER_BLOCK = 140

/** The ways to compute a product with the time that each is expected to take on this CPU at this number of threads, best first. */
export function estimate(product: SparseProduct): Estimate[] {
  const model = modelFor(product.convolution)
  return strategiesFor(product)
    .map((strategy) => ({ strategy, milliseconds: predict(model.get(strategy)!, features(strategy, product)) }))
    .sort((a, b) => a.milliseconds - b.milliseconds)
}

function strategiesFor({ convolution, m, nonZeroBlocks }: SparseProduct): Strategy[] {
  if (convolution) return ['channels', 'dense']
  return [
    ...(m <= MOST_ROWS ? (['rows'] as const) : []),
    ...(nonZeroBlocks * CODE_BYTES_PER_BLOCK <= MOST_CODE_BYTES ? (['unrolled'] as const) : []),
    'vectors',
    'dense',
  ]
}

/** What there is to do, by kind. The first is done once per call. */
function features(strategy: Strategy, { m, n, k, nonZeroBlocks, width }: SparseProduct): number[] {
  if (strategy === 'dense') return [1, m * n * k, m * k, m * n, n * k]
  const columns = Math.ceil(n / width)
  const vectors = Math.ceil(m / width)
  switch (strategy) {
    case 'rows':
      // loads of activations, of a block and its place; ends of columns; elements packed
      return [1, nonZeroBlocks * (m + 4), columns, m * k]
    case 'unrolled': {
      const panels = Math.ceil(m / 16)
      return [1, nonZeroBlocks * m, nonZeroBlocks * panels, columns * m, m * k, nonZeroBlocks * CODE_BYTES_PER_BLOCK]
    }
    default:
      // multiply-adds; columns of each panel; elements stored; elements packed
      return [1, nonZeroBlocks * vectors, columns * Math.ceil(vectors / 3), m * n, m * k]
  }
}

type Model = ReadonlyMap<Strategy, readonly number[]>
const models = new Map<string, Model>()

/** The model of this process's CPU level and number of threads, fitted when it is first asked for. */
function modelFor(convolution: boolean): Model {
  const key = `${convolution}:${cpu.currentLevel()}:${getNumThreads()}`
  let model = models.get(key)
  if (model === undefined) models.set(key, (model = calibrate(convolution)))
  return model
}

/** Products to be measured: m, n, k, share of zero blocks. Small, since all of them run within some ten milliseconds. */
const LINEAR: readonly (readonly [number, number, number, number])[] = [
  [1, 512, 512, 0.8],
  [8, 256, 512, 0.9],
  [24, 512, 256, 0.8],
  [48, 128, 1024, 0.7],
  [128, 256, 128, 0.95],
  [128, 256, 512, 0.9],
  [96, 512, 256, 0.5],
  [4, 256, 256, 0.5],
  [128, 768, 768, 0.85],
]
const CONVOLUTION: typeof LINEAR = [
  [49, 256, 256, 0.9],
  [196, 128, 256, 0.8],
  [784, 64, 128, 0.7],
  [1024, 256, 32, 0.9],
  [3136, 16, 64, 0.5],
  [64, 32, 512, 0.95],
]
const REPEATS = 3

function calibrate(convolution: boolean): Model {
  const samples = new Map<Strategy, Sample[]>()
  for (const [m, n, k, share] of convolution ? CONVOLUTION : LINEAR) {
    const weight = patterned(n, k, share, convolution)
    const x = filled(convolution ? [1, k, m, 1] : [m, k], (i) => (i % 17) / 16)
    const width = 16
    const blocks = Math.ceil(n / width) * k
    const product = { convolution, m, n, k, nonZeroBlocks: Math.round(blocks * (1 - share)), width }
    for (const strategy of strategiesFor(product)) {
      const time = measure(() => run(strategy, convolution, x, weight))
      samples.set(strategy, [...(samples.get(strategy) ?? []), { features: features(strategy, product), time }])
    }
    x.release()
    weight.release()
  }
  return new Map([...samples].map(([strategy, list]) => [strategy, fit(list)]))
}

function run(strategy: Strategy, convolution: boolean, x: Tensor, weight: Tensor): Tensor {
  if (!convolution) {
    return strategy === 'dense'
      ? clamped_linear(x, weight, null, -Infinity, Infinity)
      : sparse_linear(x, weight, null, strategy, -Infinity, Infinity)
  }
  return strategy === 'dense'
    ? clamped_convolution(x, weight, null, [1, 1], [0, 0], [1, 1], 1, -Infinity, Infinity)
    : sparse_convolution(x, weight, null, -Infinity, Infinity)
}

/** Milliseconds of the best of a few calls; those before make what they keep. */
function measure(call: () => Tensor): number {
  call().release()
  call().release()
  let best = Infinity
  for (let i = 0; i < REPEATS; i++) {
    const start = performance.now()
    call().release()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

/** A weight of which every so many-th block of 16 outputs is not zero. */
function patterned(n: number, k: number, share: number, convolution: boolean): Tensor {
  const kept = (block: number): boolean => Math.floor((block + 1) * (1 - share)) > Math.floor(block * (1 - share))
  return filled(convolution ? [n, k, 1, 1] : [n, k], (i) => (kept(Math.floor(i / k / 16) * k + (i % k)) ? 0.5 : 0))
}

function filled(shape: readonly number[], value: (i: number) => number): Tensor {
  const t = empty(shape, DType.float32)
  writeTensor(
    t,
    Float32Array.from({ length: t.numel }, (_, i) => value(i)),
  )
  t.pinned = true
  return t
}
