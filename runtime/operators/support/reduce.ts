import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { contiguousStrides, numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { coalesce, reducedDims, reducedShape, type Walk, without } from '../../shapes/dims.js'

export type ReduceOpName = keyof typeof kernels.ReduceOp

/** The kernel type in which values of this dtype are computed. */
export function computeType(type: DType): number {
  if (type === DType.float64) return kernels.ComputeType.f64
  return isFloating(type) ? kernels.ComputeType.f32 : kernels.ComputeType.i64
}

interface Split {
  readonly shape: number[]
  readonly kept: Walk
  readonly folded: Walk
  /** Elements that go into one result. */
  readonly count: number
}

/** Takes the dims of `t` apart; the second stride list of `kept` is that of a contiguous result. */
export function splitDims(t: Tensor, folded: readonly boolean[], keepdim: boolean): Split {
  const keptShape = t.shape.filter((_, d) => !folded[d])
  const keptIn = t.strides.filter((_, d) => !folded[d])
  const redShape = t.shape.filter((_, d) => folded[d])
  const redIn = t.strides.filter((_, d) => folded[d])
  const count = numelOf(redShape)
  return {
    shape: reducedShape(t.shape, folded, keepdim),
    kept: coalesce(keptShape, [keptIn, contiguousStrides(keptShape)]),
    // beside a size of 0 the others may be any number
    folded: count === 0 ? { sizes: [0], strides: [[0]] } : coalesce(redShape, [redIn]),
    count,
  }
}

/** The fields of frames that say how a kernel folds a tensor into a contiguous one. */
export function splitFields({ kept, folded }: Split) {
  return {
    kept_ndim: kept.sizes.length,
    red_ndim: folded.sizes.length,
    kept_sizes: kept.sizes,
    kept_in: kept.strides[0]!,
    kept_out: kept.strides[1]!,
    red_sizes: folded.sizes,
    red_in: folded.strides[0]!,
  }
}

/** Folds `dims` (null or [] for all) of `t` with `op` into a new contiguous tensor of dtype `outType`. */
export function reduce(
  op: ReduceOpName,
  t: Tensor,
  dims: readonly number[] | null,
  keepdim: boolean,
  outType: DType,
  { compute = computeType(outType), p = 0 }: { readonly compute?: number; readonly p?: number } = {},
): Tensor {
  const split = splitDims(t, reducedDims(dims, t.dim), keepdim)
  const out = empty(split.shape, outType)
  if (out.numel === 0) return out
  kernels.reduce({
    op: kernels.ReduceOp[op],
    compute,
    in_dtype: t.type,
    out_dtype: outType,
    ...splitFields(split),
    out: out.address,
    in: t.address,
    p,
    divisor: split.count,
  })
  return out
}

/** Throws unless each folded dim has elements: for folds without an identity, such as max. */
export function checkNotEmpty(t: Tensor, dims: readonly number[] | null, operator: string): void {
  const folded = reducedDims(dims, t.dim)
  if (t.numel > 0) return
  if (dims === null || dims.length === 0) {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `${operator}: expected a dim to fold for a tensor without elements, found shape [${t.shape.join(', ')}]`,
    )
  }
  const empties = t.shape.findIndex((n, d) => folded[d] && n === 0)
  if (empties >= 0)
    throw new PtliteError('INVALID_ARGUMENT', `${operator}: expected dim ${empties} to have elements, found shape [${t.shape.join(', ')}]`)
}

/** Sizes and strides of everything beside `dim`, and of the line along it. A 0-d tensor is one line of one element. */
export interface Lines {
  readonly count: number
  readonly steps: number[]
  readonly sizes: number[]
  readonly strides: number[][]
}

/** The lines of several operands of equal rank along `dim`; sizes beside `dim` must agree. */
export function linesAlong(
  dim: number,
  ...operands: readonly { readonly shape: readonly number[]; readonly strides: readonly number[] }[]
): Lines {
  const [first] = operands
  if (first!.shape.length === 0) return { count: 1, steps: operands.map(() => 1), sizes: [], strides: operands.map(() => []) }
  const walk = coalesce(
    without(first!.shape, dim),
    operands.map((o) => without(o.strides, dim)),
  )
  return { count: first!.shape[dim]!, steps: operands.map((o) => o.strides[dim]!), ...walk }
}

/** The fields of frames of kernels on lines, from a tensor to values and positions that lie alike. */
export function lineFields({ count, steps, sizes, strides }: Lines) {
  return {
    ndim: sizes.length,
    sizes,
    in_strides: strides[0]!,
    values_strides: strides[1]!,
    indices_strides: strides[1]!,
    count,
    in_step: steps[0]!,
    values_step: steps[1]!,
    indices_step: steps[1]!,
  }
}

/** Position (int64) and, where `withValues`, value of the extreme element along `dim`. */
export function reduceArg(
  op: 'max' | 'min',
  t: Tensor,
  dim: number,
  keepdim: boolean,
  withValues: boolean,
): { values: Tensor | null; indices: Tensor } {
  const kept = t.dim === 0 ? [] : t.shape.map((n, d) => (d === dim ? 1 : n))
  const shape = keepdim || t.dim === 0 ? kept : without(kept, dim)
  const indices = empty(shape, DType.int64)
  const values = withValues ? empty(shape, t.type) : null
  if (indices.numel === 0) return { values, indices }
  const strides = contiguousStrides(kept)
  const lines = linesAlong(dim, t, { shape: kept, strides })
  kernels.reduce_arg({
    op: kernels.ArgOp[op],
    compute: computeType(t.type),
    dtype: t.type,
    kept_ndim: lines.sizes.length,
    kept_sizes: lines.sizes,
    kept_in: lines.strides[0]!,
    kept_values: lines.strides[1]!,
    kept_indices: lines.strides[1]!,
    count: lines.count,
    stride: lines.steps[0]!,
    in: t.address,
    values_out: values === null ? 0 : values.address,
    indices_out: indices.address,
  })
  return { values, indices }
}
