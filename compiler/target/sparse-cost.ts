import { blocked_convolution } from '../../runtime/operators/cpu/blocked.js'
import { clamped_convolution, clamped_linear } from '../../runtime/operators/cpu/compiled.js'
import { sparse_blocked_convolution, sparse_convolution, sparse_linear } from '../../runtime/operators/cpu/sparse-product.js'
import { castTo } from '../../runtime/operators/support/copy.js'
import { cpu } from '../../runtime/native/cpu.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { getNumThreads } from '../../runtime/native/threads.js'
import type { StepArguments } from '../../runtime/shapes/post-ops.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { empty, type Tensor } from '../../runtime/tensor/tensor.js'
import { fit, predict, type Sample } from './cost-model.js'
import type { Estimate, SparseLayer, SparseProduct, SparseStrategy } from './target.js'

/** More rows than this never go row by row, nor code of more bytes into the instruction stream. */
const MAX_ROWS = 28
const MAX_CODE_BYTES = 512 << 10
const CODE_BYTES_PER_BLOCK = 140

/** The ways to compute a product with the time that each is expected to take on this CPU at this number of threads, best first. */
export function estimate(product: SparseProduct): Estimate[] {
  const model = modelFor(product)
  return strategiesFor(product)
    .map((strategy) => ({ strategy, milliseconds: predict(model.get(strategy)!, features(strategy, product)) }))
    .sort((a, b) => a.milliseconds - b.milliseconds)
}

/** Whether the structure of a weight can be in code. */
const generates = (): boolean => kernels.jit_info().state === kernels.JitState.ready

function strategiesFor({ layer, m, nonZeroBlocks }: SparseProduct): SparseStrategy[] {
  if (layer === 'convolution') return ['channels', 'dense']
  if (layer === 'blocked convolution') return ['vectors', 'dense']
  return [
    ...(m <= MAX_ROWS ? (['rows'] as const) : []),
    ...(generates() && nonZeroBlocks * CODE_BYTES_PER_BLOCK <= MAX_CODE_BYTES ? (['unrolled'] as const) : []),
    'vectors',
    'dense',
  ]
}

/** What there is to do, by kind. The first is done once per call. */
function features(strategy: SparseStrategy, { m, n, k, nonZeroBlocks, width }: SparseProduct): number[] {
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

type Model = ReadonlyMap<SparseStrategy, readonly number[]>
const models = new Map<string, Model>()

/** The model of this process's CPU level and number of threads, fitted when it is first asked for. */
function modelFor({ layer, dtype }: SparseProduct): Model {
  const key = `${layer}:${dtype}:${cpu.currentLevel()}:${getNumThreads()}`
  let model = models.get(key)
  if (model === undefined) models.set(key, (model = calibrate(layer, dtype)))
  return model
}

/** Products to be measured: m, n, k, share of zero blocks. Small, since all of it happens when the first model with such a weight is compiled. */
const LINEAR: readonly (readonly [number, number, number, number])[] = [
  [1, 256, 256, 0.8],
  [8, 128, 256, 0.9],
  [24, 256, 128, 0.8],
  [48, 64, 512, 0.7],
  [128, 256, 64, 0.95],
  [128, 128, 256, 0.9],
  [96, 128, 64, 0.5],
  [4, 128, 128, 0.5],
  [128, 384, 384, 0.85],
]
const CONVOLUTION: typeof LINEAR = [
  [49, 256, 256, 0.9],
  [196, 128, 256, 0.8],
  [784, 32, 128, 0.7],
  [1024, 64, 32, 0.9],
  [1568, 16, 64, 0.5],
  [64, 32, 512, 0.95],
]
const REPEATS = 3

function calibrate(layer: SparseLayer, dtype: DType): Model {
  const samples = new Map<SparseStrategy, Sample[]>()
  for (const [m, n, k, share] of layer === 'linear' ? LINEAR : CONVOLUTION) {
    const [xShape, shape] = SHAPES[layer](m, n, k)
    const weight = filled(shape, patterned(layer, n, k, share), dtype)
    const x = filled(xShape, new Float32Array(m * k).fill(0.5), dtype)
    const width = 16
    const blocks = Math.ceil(n / width) * k
    const product = { layer, dtype, m, n, k, nonZeroBlocks: Math.round(blocks * (1 - share)), width }
    for (const strategy of strategiesFor(product)) {
      const time = measure(() => run(strategy, layer, x, weight))
      samples.set(strategy, [...(samples.get(strategy) ?? []), { features: features(strategy, product), time }])
    }
    x.release()
    weight.release()
  }
  return new Map([...samples].map(([strategy, list]) => [strategy, fit(list)]))
}

/** Shapes of the input and the weight. */
const SHAPES: Readonly<Record<SparseLayer, (m: number, n: number, k: number) => [number[], number[]]>> = {
  linear: (m, n, k) => [
    [m, k],
    [n, k],
  ],
  convolution: (m, n, k) => [
    [1, k, m, 1],
    [n, k, 1, 1],
  ],
  'blocked convolution': (m, n, k) => [
    [1, k / 16, m, 1, 16],
    [n / 16, 1, 1, k, 16],
  ],
}

const NO_STEPS: StepArguments = [[], [], [], []]

function run(strategy: SparseStrategy, layer: SparseLayer, x: Tensor, weight: Tensor): Tensor {
  const [min, max] = [-Infinity, Infinity]
  const [one, zero] = [
    [1, 1],
    [0, 0],
  ] as const
  const dense = strategy === 'dense'
  switch (layer) {
    case 'linear':
      return dense
        ? clamped_linear(x, weight, null, min, max, ...NO_STEPS)
        : sparse_linear(x, weight, null, strategy, min, max, ...NO_STEPS)
    case 'convolution':
      return dense
        ? clamped_convolution(x, weight, null, [...one], [...zero], [...one], 1, min, max, ...NO_STEPS)
        : sparse_convolution(x, weight, null, min, max, ...NO_STEPS)
    case 'blocked convolution':
      return dense
        ? blocked_convolution(x, weight, null, null, [...one], [...zero], [...one], min, max, ...NO_STEPS)
        : sparse_blocked_convolution(x, weight, null, null, min, max, ...NO_STEPS)
  }
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

/** The elements of a weight [n, k] of which every so many-th block of 16 outputs is not zero. */
function patterned(layer: SparseLayer, n: number, k: number, share: number): Float32Array {
  const data = new Float32Array(n * k)
  // in blocks of 16, a block's elements follow each other
  const step = layer === 'blocked convolution' ? 1 : k
  for (let block = 0; block < Math.ceil(n / 16) * k; block++) {
    if (Math.floor((block + 1) * (1 - share)) === Math.floor(block * (1 - share))) continue
    const first = step === 1 ? block * 16 : Math.floor(block / k) * 16 * k + (block % k)
    for (let i = 0; i < 16; i++) data[first + i * step] = 0.5
  }
  return data
}

function filled(shape: readonly number[], data: Float32Array, dtype: DType): Tensor {
  const floats = empty(shape, DType.float32)
  writeTensor(floats, data)
  const t = castTo(floats, dtype)
  if (t !== floats) floats.release()
  t.pinned = true
  return t
}
