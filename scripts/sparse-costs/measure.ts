import { workOf, strategiesFor } from '../../compiler/target/sparse-products.js'
import type { SparseLayer, SparseProduct, SparseStrategy } from '../../compiler/target/target.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type * as library from '../../src/index.js'
import { fit } from './fit.js'

/** The library, for Node or for browsers. */
export type Library = Pick<typeof library, 'callOperator' | 'tensor' | 'float'>
type Tensor = ReturnType<Library['tensor']>

/** What is called below. */
export const OPERATORS = [
  ...['linear', 'sparse_linear', 'convolution', 'sparse_convolution', 'blocked_convolution', 'sparse_blocked_convolution'].map(
    (name) => `ptlite::${name}`,
  ),
  'aten::to.dtype',
]

/** Products that are measured: m, n, k and shares of zero blocks. */
const LINEAR: readonly (readonly [m: number, n: number, k: number])[] = [
  [1, 256, 256],
  [1, 768, 768],
  [4, 128, 128],
  [4, 512, 512],
  [8, 128, 256],
  [8, 768, 384],
  [16, 256, 256],
  [24, 256, 128],
  [48, 64, 512],
  [96, 128, 64],
  [128, 128, 256],
  [128, 256, 64],
  [128, 384, 384],
  [128, 768, 768],
  [256, 512, 512],
]
const CONVOLUTION: typeof LINEAR = [
  [49, 256, 256],
  [49, 512, 960],
  [196, 128, 256],
  [196, 96, 576],
  [784, 32, 128],
  [784, 192, 32],
  [1024, 64, 32],
  [1568, 16, 64],
  [3136, 144, 32],
  [64, 32, 512],
]
const SHARES = [0.5, 0.7, 0.8, 0.9, 0.95]
const WIDTH = 16
const MILLISECONDS = 25

/** One measured product: what is done, and how long it takes by each way, in nanoseconds. */
export interface Measured {
  readonly product: SparseProduct
  readonly times: ReadonlyMap<SparseStrategy, number>
}

/** Measures the products of a layer. Ways that the library does not have are left out. */
export function measure(lib: Library, layer: SparseLayer, dtype: 'float32' | 'bfloat16'): Measured[] {
  const found: Measured[] = []
  for (const [m, n, k] of layer === 'linear' ? LINEAR : CONVOLUTION) {
    for (const share of SHARES) {
      const [xShape, shape] = SHAPES[layer](m, n, k)
      const weight = filled(lib, shape, patterned(layer, n, k, share), dtype)
      const x = filled(lib, xShape, new Float32Array(m * k).fill(0.5), dtype)
      const nonZeroBlocks = Math.round(Math.ceil(n / WIDTH) * k * (1 - share))
      const product = { layer, dtype: DType[dtype], m, n, k, nonZeroBlocks, width: WIDTH }
      const times = new Map<SparseStrategy, number>()
      for (const strategy of strategiesFor(product, true)) {
        const time = timeOf(() => run(lib, strategy, layer, x, weight).dispose())
        if (time !== null) times.set(strategy, time)
      }
      found.push({ product, times })
      x.dispose()
      weight.dispose()
    }
  }
  return found
}

/** Costs of what each way does, in nanoseconds. */
export function costsOf(measured: readonly Measured[]): Map<SparseStrategy, number[]> {
  const strategies = new Set(measured.flatMap(({ times }) => [...times.keys()]))
  const costs = new Map(
    [...strategies].map((strategy) => {
      const samples = measured.flatMap(({ product, times }) => {
        const time = times.get(strategy)
        return time === undefined ? [] : [{ features: workOf(strategy, product), time }]
      })
      return [strategy, fit(samples)]
    }),
  )
  // a call from outside takes what no call of a plan does; the sparse ones are of one operator
  const least = Math.min(...[...costs.values()].map(([once]) => once!))
  for (const [strategy, numbers] of costs) numbers[0] = strategy === 'dense' ? 0 : numbers[0]! - least
  return costs
}

/** Shapes of the input and the weight. */
const SHAPES: Readonly<Record<SparseLayer, (m: number, n: number, k: number) => readonly [number[], number[]]>> = {
  linear: (m, n, k) => [[m, k], [n, k]], // prettier-ignore
  convolution: (m, n, k) => [[1, k, m, 1], [n, k, 1, 1]], // prettier-ignore
  'blocked convolution': (m, n, k) => [[1, k / WIDTH, m, 1, WIDTH], [n / WIDTH, 1, 1, k, WIDTH]], // prettier-ignore
}

function run({ callOperator, float }: Library, strategy: SparseStrategy, layer: SparseLayer, x: Tensor, weight: Tensor): Tensor {
  const dense = strategy === 'dense'
  const blocked = layer === 'blocked convolution'
  const place = [[1, 1], [0, 0], [1, 1]] // prettier-ignore
  const args = [
    ...[x, weight, null, ...(blocked ? [null] : [])],
    ...(layer === 'linear' ? (dense ? [] : [strategy]) : dense ? [...place, ...(blocked ? [] : [1])] : []),
    ...[float(-Infinity), float(Infinity)],
  ]
  return callOperator(`ptlite::${dense ? '' : 'sparse_'}${layer.replace(' ', '_')}`, args) as Tensor
}

/** Nanoseconds of the best of many calls; those before make what they keep. Null for calls that fail. */
function timeOf(call: () => void): number | null {
  try {
    call()
  } catch {
    return null
  }
  for (let i = 0; i < 4; i++) call()
  let best = Infinity
  const end = performance.now() + MILLISECONDS
  for (let i = 0; i < 5 || performance.now() < end; i++) {
    const start = performance.now()
    call()
    best = Math.min(best, performance.now() - start)
  }
  return best * 1e6
}

/** The elements of a weight [n, k] of which every so many-th block of 16 outputs is not zero. */
function patterned(layer: SparseLayer, n: number, k: number, share: number): Float32Array {
  const data = new Float32Array(n * k)
  // in blocks of 16, a block's elements follow each other
  const step = layer === 'blocked convolution' ? 1 : k
  for (let block = 0; block < Math.ceil(n / WIDTH) * k; block++) {
    if (Math.floor((block + 1) * (1 - share)) === Math.floor(block * (1 - share))) continue
    const first = step === 1 ? block * WIDTH : Math.floor(block / k) * WIDTH * k + (block % k)
    for (let i = 0; i < WIDTH; i++) data[first + i * step] = 0.5
  }
  return data
}

/** A constant, of which kernels keep what they make. */
function filled({ callOperator, tensor }: Library, shape: readonly number[], data: Float32Array, dtype: 'float32' | 'bfloat16'): Tensor {
  const floats = tensor(data, [...shape])
  const t = dtype === 'float32' ? floats : (callOperator('aten::to.dtype', [floats, DType.bfloat16, false, false, null]) as Tensor)
  ;(t as unknown as { pinned: boolean }).pinned = true
  return t
}
