import * as features from '../../features.js'
import * as kernels from '../../native/generated/kernels.js'
import { ScaleFormat, ZeroPoints } from '../../native/generated/kernels.js'
import type { PostFields } from '../../shapes/post-ops.js'
import { BLOCK_NUMBERS, filterRow, packedBytes, PANEL_ROWS } from '../../shapes/packed-weight.js'
import { DType } from '../../tensor/dtype.js'
import { derivedOf, discardPages, type Rounding, Storage } from '../../tensor/storage.js'
import { MemoryFormat } from '../../tensor/options.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { isContiguousAs } from '../../tensor/view-strides.js'
import { contiguousOf, copyInto } from './copy.js'
import { derivedIn } from './kept-derived.js'
import { zerosOf } from './make.js'

/** What packed weights are kept under begins so. */
const KEY = 'weights:'

/** A weight [n, k] in few bits. */
export interface RoundedWeight extends Rounding {
  readonly n: number
  readonly k: number
  /** A ScaleFormat, and ZeroPoints. */
  readonly scale: number
  readonly zero: number
  readonly address: number
  /** How whole rows that it multiplies become bytes, in place of blocks of them. */
  readonly rows?: RowRounding
}

/** What packed_linear takes for rows that have a scale each. */
export interface RowRounding {
  /** A RowBytes. */
  readonly kind: number
  readonly least: number
  readonly eps: number
}

/** How the filters of convolutions lie. */
const FILTER_FORMATS = [MemoryFormat.contiguous, MemoryFormat.channelsLast, MemoryFormat.channelsLast3d] as const

/** What weight_pack writes. */
const PLAIN = { scale: ScaleFormat.bfloat16, zero: ZeroPoints.none }

/** Whether products round this weight [n, k], or [k, n]: a dense matrix of a module that was loaded with `weights`, which is large enough to gain from it. */
export function isRounded({ storage, type, shape, strides }: Tensor): boolean {
  if (storage.rounding === undefined || storage.varies || type !== DType.float32 || shape.length !== 2) return false
  const [rows, columns] = shape as [number, number]
  const isDense = (strides[1] === 1 && strides[0] === columns) || (strides[0] === 1 && strides[1] === rows)
  return isDense && Math.min(rows, columns) >= PANEL_ROWS && Math.max(rows, columns) < 2 ** 31
}

/** Whether convolutions in one group round this filter [n, channels, ...]: one of a module that was loaded with `weights`, with a block of channels or more. */
export function isRoundedFilter({ storage, type, shape, strides }: Tensor, groups = 1): boolean {
  if (storage.rounding === undefined || storage.varies || type !== DType.float32 || shape.length < 3 || shape.length > 5) return false
  const [n, channels] = shape as [number, number]
  const row = filterRow(channels, numelOf(shape.slice(2)))
  if (groups !== 1 || n < PANEL_ROWS || channels < BLOCK_NUMBERS || row === 0 || Math.max(n, row) >= 2 ** 31) return false
  return FILTER_FORMATS.some((format) => isContiguousAs(shape, strides, format))
}

/** A filter that convolutions round, packed and kept as the weight of a product is: each row has the taps of an output, and each tap its channels. Null for others. */
export function roundedFilter(weight: Tensor, groups: number): RoundedWeight | null {
  if (!features.rounding || !isRoundedFilter(weight, groups)) return null
  const { storage, shape, strides, offset } = weight
  const [n, channels] = shape as [number, number]
  const rounding = storage.rounding!
  const taps = numelOf(shape.slice(2))
  if (taps === 1) {
    const packed = packedIn(storage, { n, k: channels, nStride: strides[0]!, kStride: strides[1]!, offset }, rounding)
    return { ...rounding, ...PLAIN, n, k: channels, address: packed.address }
  }
  const k = filterRow(channels, taps)
  const { format, group } = rounding
  const packed = derivedIn(storage, `${KEY}${format}:${group}:${shape.join('x')}:${strides.join(':')}:${offset}`, () => {
    const rows = zerosOf([n, k], DType.float32)
    const order = [0, ...shape.keys()].filter((d, i) => i === 0 || d > 1)
    const sizes = [...order.map((d) => shape[d]!), channels]
    const width = k / taps
    // of a row-major [n, taps, width]
    const into = [k, ...order.slice(1).map((d) => width * numelOf(shape.slice(d + 1))), 1]
    copyInto(viewOf(rows, sizes, into, 0), viewOf(weight, sizes, [...order.map((d) => strides[d]!), strides[1]!], offset))
    const made = Storage.allocate(packedBytes(format, n, k, group))
    kernels.weight_pack({ format, n, k, group, n_stride: k, k_stride: 1, src: rows.address, dst: made.address })
    rows.release()
    // a mapped file keeps the floats
    discardPages(storage)
    return made
  })
  return { ...rounding, ...PLAIN, n, k, address: packed.address }
}

/**
 * A weight [n, k] that products round, packed at its first use and kept with its storage; null for others and where rows are shorter than a block.
 * `transposed`: the tensor is [k, n].
 */
export function roundedWeight(weight: Tensor, transposed = false): RoundedWeight | null {
  if (!features.rounding || !isRounded(weight)) return null
  const [n, k] = (transposed ? [weight.shape[1], weight.shape[0]] : weight.shape) as [number, number]
  if (k < BLOCK_NUMBERS) return null
  const { storage, strides } = weight
  const [nStride, kStride] = (transposed ? [strides[1], strides[0]] : strides) as [number, number]
  const rounding = storage.rounding!
  const packed = packedIn(storage, { n, k, nStride, kStride, offset: weight.offset }, rounding)
  return { ...rounding, ...PLAIN, n, k, address: packed.address }
}

interface Place {
  readonly n: number
  readonly k: number
  readonly nStride: number
  readonly kStride: number
  readonly offset: number
}

function packedIn(storage: Storage, { n, k, nStride, kStride, offset }: Place, { format, group }: Rounding): Storage {
  const key = `${KEY}${format}:${group}:${n}:${k}:${nStride}:${kStride}:${offset}`
  return derivedIn(storage, key, () => {
    const packed = Storage.allocate(packedBytes(format, n, k, group))
    const src = storage.address + offset * 4
    kernels.weight_pack({ format, n, k, group, n_stride: nStride, k_stride: kStride, src, dst: packed.address })
    // a mapped file keeps the floats
    discardPages(storage)
    return packed
  })
}

/** Bytes that products have packed a weight's storage in; null where none has rounded it. */
export function roundedBytes(storage: Storage): number | null {
  const packed = derivedOf(storage).filter(({ key }) => key.startsWith(KEY))
  return packed.length === 0 ? null : packed.reduce((sum, { storage: { byteLength } }) => sum + byteLength, 0)
}

/** x [..., k] by a rounded weight, plus bias [n], clamped to [lo, hi] where asked, as a tensor of `shape`; steps on it as those of kernel linear. */
export function roundedLinear(
  input: Tensor,
  weight: RoundedWeight,
  bias: Tensor | null,
  limits: { readonly lo: number; readonly hi: number } | null,
  post: PostFields | null = null,
  shape: readonly number[] = [...input.shape.slice(0, -1), weight.n],
): Tensor {
  const { n, k, format, group, scale, zero, bytes, address, rows } = weight
  const result = empty(shape, DType.float32)
  if (result.numel === 0) return result
  const x = contiguousOf(input)
  kernels.packed_linear(
    {
      format,
      m: result.numel / n,
      n,
      k,
      group,
      scale,
      zero,
      bytes: rows?.kind ?? Number(bytes),
      range: rows === undefined ? 0 : 127 - rows.least,
      clamped: Number(limits !== null),
      x: x.address,
      weight: address,
      bias: bias === null ? 0 : bias.address,
      out: result.address,
      lo: limits?.lo ?? 0,
      hi: limits?.hi ?? 0,
      eps: rows?.eps ?? 0,
    },
    post,
  )
  return result
}

/** Rows of a rounded weight that `indices`, int32 or int64 in one dimension, name; the first `count` without. */
export function roundedRows({ n, k, format, group, scale, zero, address }: RoundedWeight, indices: Tensor | null, count = n): Tensor {
  const list = indices === null ? null : contiguousOf(indices)
  const rows = list === null ? count : list.numel
  const out = empty([rows, k], DType.float32)
  if (rows === 0) return out
  kernels.weight_rows({
    format,
    n,
    k,
    group,
    scale,
    zero,
    count: rows,
    index_dtype: list === null ? DType.int64 : list.type,
    indices: list === null ? 0 : list.address,
    weight: address,
    out: out.address,
  })
  return out
}
