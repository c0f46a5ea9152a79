import * as features from '../../features.js'
import * as kernels from '../../native/generated/kernels.js'
import { packedBytes, PANEL_ROWS, BLOCK_NUMBERS } from '../../shapes/packed-weight.js'
import { DType } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { isContiguous, numelOf, sameShape } from '../../tensor/shape.js'
import { discardPages, Storage } from '../../tensor/storage.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from './copy.js'
import { derivedIn } from './kept-derived.js'
import { roundedLinear } from './rounded-weight.js'

/** Rows that are packed at a time, by way of float32: whole panels. */
const ROWS_AT_ONCE = 64 * PANEL_ROWS

/** Versions of weights that were used once, by where they begin and their sizes: one that is used no more is not worth packing. */
const uses = new WeakMap<Storage, Map<string, number>>()

/** Whether a weight [n, k] is used again, as it was. */
function isUsedAgain({ storage, offset }: Tensor, n: number, k: number): boolean {
  const place = `${offset}:${n}:${k}`
  const known = uses.get(storage) ?? new Map<string, number>()
  const isSame = known.get(place) === storage.version
  uses.set(storage, known.set(place, storage.version))
  return isSame
}

/**
 * x [..., k] by a weight [n, k] of 16 bits, plus bias [n], all of one dtype, where the weight lasts and is worth packing; null elsewhere. The weight keeps its 16 bits, sums are
 * float32 and rounded once.
 */
export function halfLinear(input: Tensor, weight: Tensor, bias: Tensor | null): Tensor | null {
  return weight.dim === 2 ? halfRows(input, weight, weight.shape[0]!, weight.shape[1]!, bias) : null
}

/** The same for a convolution in one group whose windows are whole images: filters [n, channels, ...] and images [batch, channels, ...] of the same sizes; [batch, n]. */
export function halfWindows(images: Tensor, filters: Tensor, bias: Tensor | null): Tensor | null {
  const k = numelOf(filters.shape.slice(1))
  if (images.dim < 2 || images.numel === 0 || !sameShape(images.shape.slice(1), filters.shape.slice(1))) return null
  return halfRows(viewOf(contiguousOf(images), [images.shape[0]!, k], [k, 1]), filters, filters.shape[0]!, k, bias)
}

/** A weight of these n k numbers, whatever dimensions it has. */
function halfRows(input: Tensor, weight: Tensor, n: number, k: number, bias: Tensor | null): Tensor | null {
  if (!features.rounding || !features.half || !isHalf(weight.type) || input.type !== weight.type) return null
  if (n < PANEL_ROWS || k < BLOCK_NUMBERS || input.dim === 0 || input.shape.at(-1) !== k || input.numel === 0) return null
  if (bias !== null && (bias.type !== weight.type || bias.dim !== 1 || bias.numel !== n)) return null
  if (!weight.pinned || weight.storage.varies || !isContiguous(weight.shape, weight.strides)) return null
  if (!isUsedAgain(weight, n, k)) return null
  const format = weight.type === DType.bfloat16 ? 'bfloat16' : 'float16'
  const { address } = packedIn(weight, n, k, kernels.WeightFormat[format])
  // rounding to bfloat16 changes nothing of what is bfloat16, and lets its products take pairs
  const held = { format: kernels.WeightFormat[format], group: 0, scale: 0, zero: 0, bytes: format === 'bfloat16', n, k, address }
  const addend = bias === null ? null : castTo(bias, DType.float32)
  return castTo(roundedLinear(castTo(input, DType.float32), held, addend, null), weight.type)
}

function packedIn(weight: Tensor, n: number, k: number, format: number): Storage {
  const { storage, offset } = weight
  return derivedIn(storage, `half:${n}:${k}:${offset}`, () => {
    const packed = Storage.allocate(packedBytes(format, n, k, 0))
    let dst = packed.address
    for (let row = 0; row < n; row += ROWS_AT_ONCE) {
      const rows = Math.min(ROWS_AT_ONCE, n - row)
      const floats = castTo(viewOf(weight, [rows, k], [k, 1], offset + row * k), DType.float32)
      kernels.weight_pack({ format, n: rows, k, group: 0, n_stride: k, k_stride: 1, src: floats.address, dst })
      dst += packedBytes(format, rows, k, 0)
      floats.release()
    }
    // a mapped file keeps the numbers
    discardPages(storage)
    return packed
  })
}
