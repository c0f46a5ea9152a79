import { check } from '../../error.js'
import { type DType, isQuantized } from '../../tensor/dtype.js'
import { joined } from '../../tensor/promote.js'
import { sameShape, wrapDim } from '../../tensor/shape.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { unsqueeze } from '../../tensor/view.js'
import { checkDisjoint, checkOverlap, outputFor, resizeOut } from '../../tensor/out.js'
import { catQuantized } from './cat-quantized.js'
import { commonFormat, isPlaceholder, joinedShape, joinInto } from './join-into.js'

function commonType(tensors: readonly Tensor[]): DType {
  let type = tensors[0]!.type
  for (let i = 1; i < tensors.length; i++) if (tensors[i]!.type !== type) type = joined(type, tensors[i]!.type)
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
  const strides = stridesFor(shape, format)
  const result = out === undefined ? emptyStrided(shape, strides, type) : outputFor(out, out.shape, type)
  if (out !== undefined) {
    resizeOut(out, shape, strides)
    checkOverlap(out, [])
  }
  joinInto(result, parts, wrapDim(dim, shape.length), format)
  return result
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
