import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { channelsLastStrides } from '../../tensor/shape.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { relu_out } from '../cpu/activation.js'
import { group_norm as groupNorm } from '../cpu/group-norm.js'
import * as cpu from '../cpu/norm.js'
import { contiguousOf } from '../support/copy.js'
import { checkQuant, perTensor } from '../support/quantization.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'
import { toChannelsLast } from './support/layout.js'
import { throughFloat } from './support/through-float.js'

/** Normalisation of quantized tensors: statistics and scaling in float32, the result quantized anew, as PyTorch does. */

export const layer_norm: QuantizedCPU['layer_norm'] = (t, normalizedShape, weight, bias, eps, scale, zeroPoint) =>
  throughFloat(t, (x) => cpu.layer_norm(x, normalizedShape, weight, bias, eps, false), undefined, { scale, zeroPoint })

export const group_norm: QuantizedCPU['group_norm'] = (t, groups, weight, bias, eps, scale, zeroPoint) => {
  check(t.dim >= 3, () => `quantized::group_norm: expected at least 3 dimensions, found ${t.dim}`)
  return throughFloat(t, (x) => groupNorm(x, groups, weight, bias, eps, false), undefined, { scale, zeroPoint })
}

/** A group per channel. */
export const instance_norm: QuantizedCPU['instance_norm'] = (t, weight, bias, eps, scale, zeroPoint) =>
  group_norm(t, t.shape[1] ?? 0, weight, bias, eps, scale, zeroPoint)

/** By the statistics given; `ranks` are the numbers of dimensions that the operator takes. Images have channels innermost then. */
function batchNorm(name: string, ranks: readonly number[], relu: boolean): QuantizedCPU['batch_norm'] {
  return (t, weight, bias, mean, variance, eps, scale, zeroPoint) => {
    const quant = perTensor(t, name)
    if (weight === null || bias === null) throw new PtliteError('INVALID_ARGUMENT', `${name}: weight and bias must be given`)
    check(ranks.includes(t.dim), () => `${name}: expected ${ranks.join(' or ')} dimensions, found ${t.dim}`)
    const to = checkQuant(scale, zeroPoint, t.type)
    const channels = t.shape[1]!
    const given = [weight, bias, mean, variance]
    const isPlain = given.every((v) => v.type === DType.float32 && v.dim === 1 && v.shape[0] === channels)
    if (t.type === DType.qint32 || !isPlain) {
      const normal = (x: Tensor): Tensor => cpu.batch_norm(x, weight, bias, mean, variance, false, 0, eps, false)
      return throughFloat(t, relu ? (x) => relu_out(normal(x)) : normal, undefined, to)
    }
    const x = toChannelsLast(t)
    const out = emptyStrided(t.shape, channelsLastStrides(t.shape), t.type, to)
    if (out.numel === 0) return out
    const [w, b, m, v] = given.map(contiguousOf) as [Tensor, Tensor, Tensor, Tensor]
    kernels.quantized_batch_norm({
      rows: t.numel / channels,
      channels,
      dtype: t.type,
      relu: relu ? 1 : 0,
      in_zero: quant.zeroPoint,
      out_zero: zeroPoint,
      in_scale: quant.scale,
      out_scale: scale,
      eps,
      weight: w.address,
      bias: b.address,
      mean: m.address,
      variance: v.address,
      in: x.address,
      out: out.address,
    })
    return t.dim === 3 ? contiguousOf(out) : out
  }
}

const ANY = [2, 3, 4, 5]

export const batch_norm = batchNorm('quantized::batch_norm', ANY, false)
export const batch_norm_relu = batchNorm('quantized::batch_norm_relu', ANY, true)
export const batch_norm1d = batchNorm('quantized::batch_norm1d', [2, 3], false)
export const batch_norm1d_relu = batchNorm('quantized::batch_norm1d_relu', [2, 3], true)
export const batch_norm2d = batchNorm('quantized::batch_norm2d', [4], false)
export const batch_norm2d_relu = batchNorm('quantized::batch_norm2d_relu', [4], true)
export const batch_norm3d = batchNorm('quantized::batch_norm3d', [5], false)
export const batch_norm3d_relu = batchNorm('quantized::batch_norm3d_relu', [5], true)
