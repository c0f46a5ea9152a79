import { check, PtliteError } from '../../error.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type PerTensorQuant, type Tensor, viewOf } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'
import { mapElements, perTensor } from '../support/quantization.js'

/** Joins 8-bit tensors along `dim`; each is first brought to the parameters `to`. */
function join(tensors: readonly Tensor[], dim: number, to: PerTensorQuant, relu: boolean): Tensor {
  const first = tensors[0]!
  check(first.dim > 0, () => 'quantized::cat: 0-d tensors cannot be joined')
  const axis = wrapDim(dim, first.dim)
  for (const t of tensors) {
    perTensor(t, 'quantized::cat')
    check(t.type === first.type, () => `quantized::cat: expected tensors of one dtype, found ${first.dtype} and ${t.dtype}`)
    const fits = t.dim === first.dim && t.shape.every((size, d) => d === axis || size === first.shape[d])
    check(fits, () => `quantized::cat: shapes [${first.shape.join(', ')}] and [${t.shape.join(', ')}] differ outside dimension ${axis}`)
  }
  const shape = first.shape.map((size, d) => (d === axis ? tensors.reduce((sum, t) => sum + t.shape[d]!, 0) : size))
  const out = empty(shape, first.type, to)
  let at = 0
  for (const t of tensors) {
    const { scale, zeroPoint } = perTensor(t, 'quantized::cat')
    const same = scale === to.scale && zeroPoint === to.zeroPoint && !relu
    const part = same ? t : mapElements(t, to, relu ? (x) => Math.max(x, 0) : (x) => x)
    copyInto(viewOf(out, t.shape, out.strides, out.offset + at * out.strides[axis]!), part)
    at += t.shape[axis]!
  }
  return out
}

function parameters(tensors: readonly Tensor[], scale: number | null, zeroPoint: number | null): PerTensorQuant {
  if (tensors.length === 0) throw new PtliteError('INVALID_ARGUMENT', 'quantized::cat: expected at least one tensor')
  const own = perTensor(tensors[0]!, 'quantized::cat')
  return { scale: scale ?? own.scale, zeroPoint: zeroPoint ?? own.zeroPoint }
}

export function cat(tensors: Tensor[], dim: number, scale: number | null, zeroPoint: number | null): Tensor {
  return join(tensors, dim, parameters(tensors, scale, zeroPoint), false)
}

export function cat_relu(tensors: Tensor[], dim: number, scale: number | null, zeroPoint: number | null): Tensor {
  return join(tensors, dim, parameters(tensors, scale, zeroPoint), true)
}

function into(out: Tensor, result: Tensor): Tensor {
  copyInto(out, result)
  return out
}

export function cat_out(tensors: Tensor[], dim: number, out: Tensor): Tensor {
  parameters(tensors, null, null)
  return into(out, join(tensors, dim, perTensor(out, 'quantized::cat'), false))
}

export function cat_relu_out(tensors: Tensor[], dim: number, out: Tensor): Tensor {
  parameters(tensors, null, null)
  return into(out, join(tensors, dim, perTensor(out, 'quantized::cat'), true))
}
