import { cpu } from '../../runtime/native/cpu.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { arch } from '../../runtime/platform.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { sparseCosts } from './sparse-costs.js'
import type { Estimate, SparseProduct, SparseStrategy } from './target.js'

/** More rows than this never go row by row, nor code of more bytes into the instruction stream. */
const MAX_ROWS = 28
const MAX_CODE_BYTES = 512 << 10
const CODE_BYTES_PER_BLOCK = 140

/** The ways to compute a product with the time that each is expected to take on one core of this level, best first. */
export function estimate(product: SparseProduct): Estimate[] {
  const { layer, dtype } = product
  const costs = sparseCosts(arch, cpu.currentLevel())[layer === 'linear' && dtype === DType.bfloat16 ? 'bfloat16 linear' : layer]
  return strategiesFor(product, kernels.jit_info().state === kernels.JitState.ready)
    .flatMap((strategy) => {
      const numbers = costs[strategy]
      if (numbers === undefined) return []
      return [{ strategy, milliseconds: timeOf(strategy, product, numbers) / 1e6 }]
    })
    .sort((a, b) => a.milliseconds - b.milliseconds)
}

/** The ways there are; `generates`: the structure of a weight can be in code. */
export function strategiesFor({ layer, m, nonZeroBlocks }: SparseProduct, generates: boolean): SparseStrategy[] {
  if (layer === 'convolution') return ['channels', 'dense']
  if (layer === 'blocked convolution') return ['vectors', 'dense']
  return [
    ...(m <= MAX_ROWS ? (['rows'] as const) : []),
    ...(generates && nonZeroBlocks * CODE_BYTES_PER_BLOCK <= MAX_CODE_BYTES ? (['unrolled'] as const) : []),
    'vectors',
    'dense',
  ]
}

/** The time of a way in nanoseconds, where each kind of its work costs so much. */
export function timeOf(strategy: SparseStrategy, product: SparseProduct, costs: readonly number[]): number {
  return workOf(strategy, product).reduce((sum, work, i) => sum + work * costs[i]!, 0)
}

/** What there is to do, by kind, of which each has a cost. The first is done once per call. */
export function workOf(strategy: SparseStrategy, { m, n, k, nonZeroBlocks, width }: SparseProduct): number[] {
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
