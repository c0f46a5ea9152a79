import { check } from '../../error.js'
import { type DType, isQuantized, promoteTypes } from '../../tensor/dtype.js'
import { MemoryFormat } from '../../tensor/options.js'
import { checkDisjoint } from '../../tensor/iterator.js'
import { numelOf, sameShape, shapeText, wrapDim } from '../../tensor/shape.js'
import { emptyStrided, isPerChannel, type Quant, type Tensor } from '../../tensor/tensor.js'
import { isContiguousAs, stridesFor } from '../../tensor/view-strides.js'
import { narrowed, unsqueeze } from '../../tensor/view.js'
import { outputFor } from '../../tensor/resize.js'
import { noteWrite } from '../../tensor/write.js'
import * as at from '../generated/dispatch.js'
import { copyInto } from '../cpu/support/copy.js'
import { joinRows, type Joined } from '../cpu/support/join.js'
import { reshaped } from '../cpu/support/make.js'

/** Old models concatenate with an empty vector to start with: it is left out whatever the other shapes are. */
function isPlaceholder(one: Tensor): boolean {
  return one.shape.length === 1 && one.shape[0] === 0
}

function commonType(tensors: readonly Tensor[]): DType {
  let type = tensors[0]!.type
  for (let i = 1; i < tensors.length; i++) if (tensors[i]!.type !== type) type = promoteTypes(type, tensors[i]!.type)
  return type
}

/** Concatenates along `dim`; other sizes must agree. Channels-last inputs give a channels-last result. */
export function cat(tensors: readonly Tensor[], dim: number, out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'cat expects at least one tensor, found none')
  if (out !== undefined) checkDisjoint(out, tensors)
  const parts = tensors.some(isPlaceholder) ? tensors.filter((one) => !isPlaceholder(one)) : tensors
  for (const one of tensors) check(one.shape.length > 0, () => 'a 0-d tensor cannot be concatenated')
  const type = commonType(tensors)
  if (isQuantized(type)) return catQuantized(tensors, dim, out)
  if (parts.length === 0) return outputFor(out, [0], type)
  const shape = joinedShape(parts, dim)
  const format = commonFormat(parts)
  const result = out === undefined ? emptyStrided(shape, stridesFor(shape, format), type) : outputFor(out, shape, type)
  joinInto(result, parts, wrapDim(dim, shape.length), format)
  return result
}

function joinedShape(parts: readonly Tensor[], dim: number): number[] {
  const first = parts[0]!.shape
  const d = wrapDim(dim, first.length)
  const shape = first.slice()
  for (let i = 1; i < parts.length; i++) {
    const other = parts[i]!.shape
    check(
      other.length === first.length && other.every((size, k) => k === d || size === first[k]),
      () => `cat along dimension ${d} expects sizes that agree in the others, found [${first.join(', ')}] and [${other.join(', ')}]`,
    )
    shape[d] = shape[d]! + other[d]!
  }
  return shape
}

function commonFormat(parts: readonly Tensor[]): number {
  const rank = parts[0]!.shape.length
  if (rank !== 4 && rank !== 5) return MemoryFormat.contiguous
  const format = rank === 4 ? MemoryFormat.channelsLast : MemoryFormat.channelsLast3d
  const all = parts.every((one) => !one.isContiguous && isContiguousAs(one.shape, one.strides, format))
  return all ? format : MemoryFormat.contiguous
}

/** Writes `parts` one after the other along `dim`: those laid out like the result by one kernel, others by copies. */
function joinInto(out: Tensor, parts: readonly Tensor[], dim: number, format: number): void {
  const plain = isContiguousAs(out.shape, out.strides, format)
  // sizes before and after `dim`, in memory order
  const inMemory = format === MemoryFormat.contiguous ? out.shape : [out.shape[0]!, ...out.shape.slice(2), out.shape[1]!]
  const at = format === MemoryFormat.contiguous || dim === 0 ? dim : dim === 1 ? out.shape.length - 1 : dim - 1
  const outer = numelOf(inMemory.slice(0, at))
  const inner = numelOf(inMemory.slice(at + 1))
  const joined: Joined[] = []
  let start = 0
  for (const one of parts) {
    const size = one.shape[dim]!
    if (plain && one.type === out.type && isContiguousAs(one.shape, one.strides, format))
      joined.push({ from: one, start: start * inner, length: size * inner })
    else copyInto(narrowed(out, dim, start, size), one)
    start += size
  }
  if (joined.length > 0) joinRows(out, outer, out.shape[dim]! * inner, joined)
  noteWrite(out)
}

/** Stacks tensors of one shape along a new dimension. */
export function stack(tensors: readonly Tensor[], dim: number, out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'stack expects at least one tensor, found none')
  const shape = tensors[0]!.shape
  for (const one of tensors) {
    check(sameShape(one.shape, shape), () => `stack expects one shape, found [${shape.join(', ')}] and [${one.shape.join(', ')}]`)
  }
  const d = wrapDim(dim, shape.length + 1)
  return cat(
    tensors.map((one) => unsqueeze(one, d)),
    d,
    out,
  )
}

/** The result takes the scale and zero point of the first tensor; others are requantized to them. */
function catQuantized(tensors: readonly Tensor[], dim: number, out?: Tensor): Tensor {
  const quant = out === undefined ? tensors[0]!.quant : out.quant
  const type = tensors[0]!.type
  check(
    tensors.every((one) => one.type === type && one.quant !== null && !isPerChannel(one.quant)),
    () => 'cat expects tensors quantized per tensor to one dtype',
  )
  check(quant !== null && !isPerChannel(quant), () => 'cat expects an out tensor that is quantized per tensor')
  const target = quant as Exclude<Quant, { axis: number }>
  const parts = tensors
    .filter((one) => !isPlaceholder(one))
    .map((one) => {
      const own = one.quant as typeof target
      if (own.scale === target.scale && own.zeroPoint === target.zeroPoint) return one
      return at.quantize_per_tensor(at.dequantize_self(one), target.scale, target.zeroPoint, type)
    })
  const shape = parts.length === 0 ? [0] : joinedShape(parts, dim)
  const format = parts.length === 0 ? MemoryFormat.contiguous : commonFormat(parts)
  const result = out === undefined ? emptyStrided(shape, stridesFor(shape, format), type, target) : outputFor(out, shape, type)
  if (parts.length > 0) joinInto(result, parts, wrapDim(dim, shape.length), format)
  return result
}

/** Dimension `dim` of each tensor as [count, size / count], zeros at its end where that does not come out even. */
function chunked(one: Tensor, dim: number, count: number): Tensor {
  const missing = (count - (one.shape[dim]! % count)) % count
  const padding = new Array<number>(2 * (one.dim - dim)).fill(0)
  padding[padding.length - 1] = missing
  const whole = missing === 0 ? one : at.constant_pad_nd(one, padding, 0)
  return reshaped(whole, [
    ...one.shape.slice(0, dim),
    count,
    (numelOf(one.shape.slice(dim)) / one.shape[dim]!) * (whole.shape[dim]! / count),
  ])
}

/** Chunk i of all tensors one after the other, for each of `count` chunks along `dim`; what follows `dim` is flattened. */
export function _chunk_cat(tensors: readonly Tensor[], dim: number, count: number, out?: Tensor): Tensor {
  const [first] = tensors
  check(count >= 1, () => `_chunk_cat: expected at least one chunk, found ${count}`)
  check(first !== undefined, () => '_chunk_cat: expected at least one tensor')
  check(
    dim >= 0 || tensors.every((one) => one.dim === first.dim),
    () => `_chunk_cat: expected a dimension from 0 on for tensors of several ranks, found ${dim}`,
  )
  const along = wrapDim(dim, first.dim)
  const lead = first.shape.slice(0, along)
  for (const one of tensors) {
    check(
      one.numel > 0 && one.type === first.type && along < one.dim && sameShape(one.shape.slice(0, along), lead),
      () =>
        `_chunk_cat: expected ${first.dtype} tensors with elements whose shapes begin with ${shapeText(lead)}, found ${one.dtype} ${shapeText(one.shape)}`,
    )
  }
  return cat(
    tensors.map((one) => chunked(one, along, count)),
    along + 1,
    out,
  )
}
