import type { SparseStrategy } from './target.js'

/** What each kind of work of a way costs (`workOf`), in nanoseconds on one core; what matters is how the numbers compare. */
type Ways = Readonly<Partial<Record<SparseStrategy, readonly number[]>>>

/** By what computes the product; of bfloat16 for linear layers alone. */
export type SparseCosts = Readonly<Record<'linear' | 'bfloat16 linear' | 'convolution' | 'blocked convolution', Ways>>

/*
 * Tables, so that a model has the same plan on each run. Printed by scripts/print-sparse-costs.ts, medians of several runs on a virtual Zen 3 with Node 20.
 */

const AVX2: SparseCosts = {
  linear: {
    rows: [1500, 0.34, 0, 2],
    unrolled: [2000, 0.57, 0, 1, 0.25, 0.02],
    vectors: [1000, 6.2, 20, 0.6, 0.3],
    dense: [0, 0.0215, 0.2, 0.2, 0.033],
  },
  'bfloat16 linear': {
    rows: [2000, 0.36, 80, 1.5],
    unrolled: [1000, 0.55, 5.5, 6, 0.4, 0.025],
    vectors: [1000, 8.2, 90, 0.7, 0.3],
    dense: [0, 0.024, 0.5, 0.3, 0.035],
  },
  convolution: {
    channels: [3000, 6, 250, 0.3, 0.35],
    dense: [0, 0.025, 0.3, 0.37, 0.4],
  },
  'blocked convolution': {
    vectors: [2000, 6.1, 200, 0.4, 0.35],
    dense: [0, 0.023, 0.1, 0.17, 0.27],
  },
}

/** Of a way's costs the number that is of multiply-adds. */
const MULTIPLY_ADD = 1

/** Vectors of twice as many elements take half as many multiply-adds; the ratios are those measured on Cascade Lake (docs/jit.md). */
const AVX512 = Object.fromEntries(
  Object.entries(AVX2).map(([layer, ways]) => [
    layer,
    Object.fromEntries(
      Object.entries(ways).map(([way, costs]) => [way, costs.map((cost: number, i: number) => (i === MULTIPLY_ADD ? cost / 2 : cost))]),
    ),
  ]),
) as unknown as SparseCosts

/** Vectors of 16 bytes, and no generated code. */
const COMPILED: SparseCosts = {
  linear: {
    rows: [1000, 2.9, 0, 0.5],
    vectors: [1000, 27, 0, 4, 1.2],
    dense: [0, 0.09, 0, 0.25, 0.05],
  },
  'bfloat16 linear': {
    rows: [1000, 2.9, 150, 4],
    vectors: [1000, 25, 0, 3.5, 2],
    dense: [0, 0.088, 1, 0.9, 0.2],
  },
  convolution: {
    channels: [2000, 57, 0, 1.2, 0.4],
    dense: [0, 0.081, 0.2, 0.9, 0.6],
  },
  'blocked convolution': {
    vectors: [2000, 59, 0, 1.4, 0.45],
    dense: [0, 0.082, 0, 0.45, 0.28],
  },
}

const WEB_ASSEMBLY: SparseCosts = {
  linear: {
    rows: [3000, 0.7, 50, 0.7],
    unrolled: [2000, 0.9, 2, 8, 0.35, 0.007],
    vectors: [700, 7.2, 0, 1, 0.75],
    dense: [0, 0.085, 0.1, 0.5, 0.035],
  },
  'bfloat16 linear': {
    rows: [1500, 0.85, 20, 3],
    unrolled: [1500, 1.3, 2, 16, 0.55, 0.025],
    vectors: [700, 6.4, 0, 2, 1.4],
    dense: [0, 0.093, 0.4, 0.6, 0.08],
  },
  convolution: {
    channels: [8000, 15.5, 150, 0.4, 0.6],
    dense: [0, 0.083, 0.5, 1, 0.7],
  },
  'blocked convolution': {
    vectors: [5000, 16, 100, 0.4, 0.5],
    dense: [0, 0.092, 0.1, 0.4, 0.06],
  },
}

/** The costs on a processor (`process.arch`, 'wasm32' in browsers) at a level of instruction sets. */
export function sparseCosts(arch: string, level: string): SparseCosts {
  if (arch === 'wasm32') return WEB_ASSEMBLY
  if (arch !== 'x64' || level === 'DEFAULT') return COMPILED
  return level.startsWith('AVX2') ? AVX2 : AVX512
}
