import { check } from '../../error.js'
import { MemoryFormat } from '../../tensor/options.js'
import { wrapDim } from '../../tensor/shape.js'
import { emptyStrided, isPerChannel, type Quant, type Tensor } from '../../tensor/tensor.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { outputFor } from '../../tensor/out.js'
import * as at from '../generated/dispatch.js'
import { commonFormat, isPlaceholder, joinedShape, joinInto } from './join-into.js'

/** The result takes the scale and zero point of the first tensor; others are requantized to them. */
export function catQuantized(tensors: readonly Tensor[], dim: number, out?: Tensor): Tensor {
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
