import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import type { Storage } from '../../tensor/storage.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { CustomObject } from '../../tensor/value.js'
import { castTo, contiguousCopy, contiguousOf } from '../support/copy.js'
import { asQuantized, chooseQuant, integersOf, quantizePerTensor } from '../support/quantization.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { linear_dynamic } from '../quantized/linear.js'
import { linear_prepack } from '../quantized/prepack.js'
import {
  quantized_gru_cell_dynamic,
  quantized_lstm_cell_dynamic,
  quantized_rnn_relu_cell_dynamic,
  quantized_rnn_tanh_cell_dynamic,
} from './quantized-rnn.js'

/**
 * Layers of torch.jit.quantized. FBGEMM packs weights into tensors that hold an address; here these hold the weights themselves, and
 * products read the integers that are handed over beside.
 */

function checkMatrix(what: string, t: Tensor, type: DType): void {
  if (t.type !== type) throw new PtliteError('INVALID_DTYPE', `${what}: expected weights of another dtype, found ${t.dtype}`)
  check(t.dim === 2, () => `${what}: expected a matrix of weights, found shape [${t.shape.join(', ')}]`)
}

/** int8 weights, the sums of their rows less the zero point, scale and zero point. */
export function fbgemm_linear_quantize_weight(weight: Tensor): [Tensor, Tensor, number, number] {
  const what = 'fbgemm_linear_quantize_weight'
  checkMatrix(what, weight, DType.float32)
  check(weight.numel > 0, () => `${what}: a tensor without elements has no range`)
  const source = contiguousOf(weight)
  noteRead(weight)
  const { min, max } = kernels.float_range({ n: source.numel, in: source.address })
  const { scale, zeroPoint } = chooseQuant(min, max, -128, 127)
  const integers = integersOf(quantizePerTensor(source, scale, zeroPoint, DType.qint8))
  const sums = at.sub_Scalar(at.sum_dim_IntList(integers, [1], false, DType.int32), zeroPoint * weight.shape[1]!, 1)
  return [integers, sums, scale, zeroPoint]
}

export function fbgemm_pack_quantized_matrix(weight: Tensor): Tensor {
  checkMatrix('fbgemm_pack_quantized_matrix', weight, DType.int8)
  return contiguousCopy(weight)
}

export function fbgemm_pack_quantized_matrix_KN(weight: Tensor, _k: number, _n: number): Tensor {
  return fbgemm_pack_quantized_matrix(weight)
}

interface Layer {
  readonly version: number
  readonly offset: number
  readonly scale: number
  readonly zeroPoint: number
  readonly bias: Storage
  readonly biasVersion: number
  readonly packed: CustomObject
}

const layers = new WeakMap<Storage, Layer>()

/** int8 weights and a bias as a packed layer, kept for as long as they stay as they are. */
function layerOf(what: string, weight: Tensor, scale: Scalar, zeroPoint: Scalar, bias: Tensor): CustomObject {
  checkMatrix(what, weight, DType.int8)
  if (bias.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 bias, found ${bias.dtype}`)
  const quant = { scale: scalarToNumber(scale), zeroPoint: scalarToNumber(zeroPoint) }
  const known = layers.get(weight.storage)
  const same =
    known?.version === weight.storage.version &&
    known.offset === weight.offset &&
    known.scale === quant.scale &&
    known.zeroPoint === quant.zeroPoint &&
    known.bias === bias.storage &&
    known.biasVersion === bias.storage.version
  if (same) return known.packed
  const packed = linear_prepack(asQuantized(contiguousOf(weight), quant), bias)
  layers.set(weight.storage, {
    ...quant,
    version: weight.storage.version,
    offset: weight.offset,
    bias: bias.storage,
    biasVersion: bias.storage.version,
    packed,
  })
  return packed
}

export const fbgemm_linear_int8_weight_fp32_activation: Composite['fbgemm_linear_int8_weight_fp32_activation'] = (
  x,
  weight,
  _packed,
  _sums,
  scale,
  zeroPoint,
  bias,
) => {
  const what = 'fbgemm_linear_int8_weight'
  if (x.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 input, found ${x.dtype}`)
  return linear_dynamic(x, layerOf(what, weight, scale, zeroPoint, bias), false)
}

export { fbgemm_linear_int8_weight_fp32_activation as fbgemm_linear_int8_weight }

const LIMIT = new Float(65504)

/** float16 weights; what they cannot hold ends at their largest. */
export function fbgemm_pack_gemm_matrix_fp16(weight: Tensor): Tensor {
  checkMatrix('fbgemm_pack_gemm_matrix_fp16', weight, DType.float32)
  return castTo(at.clamp(weight, new Float(-LIMIT.value), LIMIT), DType.float16)
}

export { fbgemm_pack_gemm_matrix_fp16 as wrapped_fbgemm_pack_gemm_matrix_fp16 }

export function fbgemm_linear_fp16_weight_fp32_activation(x: Tensor, packed: Tensor, bias: Tensor | null): Tensor {
  checkMatrix('fbgemm_linear_fp16_weight', packed, DType.float16)
  return at.linear(castTo(x, DType.float32), castTo(packed, DType.float32), bias)
}

export { fbgemm_linear_fp16_weight_fp32_activation as fbgemm_linear_fp16_weight }

export function wrapped_fbgemm_linear_fp16_weight(x: Tensor, packed: Tensor, bias: Tensor, _channels: number): Tensor {
  return fbgemm_linear_fp16_weight_fp32_activation(x, packed, bias)
}

type CellArguments = [
  wIh: Tensor,
  wHh: Tensor,
  bIh: Tensor,
  bHh: Tensor,
  packedIh: Tensor,
  packedHh: Tensor,
  sumsIh: Tensor,
  sumsHh: Tensor,
  scaleIh: Scalar,
  scaleHh: Scalar,
  zeroIh: Scalar,
  zeroHh: Scalar,
]

function layersOf(what: string, ...[wIh, wHh, bIh, bHh, , , , , sIh, sHh, zIh, zHh]: CellArguments): [CustomObject, CustomObject] {
  return [layerOf(what, wIh, sIh, zIh, bIh), layerOf(what, wHh, sHh, zHh, bHh)]
}

export function quantized_lstm_cell(input: Tensor, hx: Tensor[], ...rest: CellArguments): [Tensor, Tensor] {
  return quantized_lstm_cell_dynamic(input, hx, ...layersOf('quantized_lstm_cell', ...rest), rest[2], rest[3])
}

type Cell = (input: Tensor, hx: Tensor, ...rest: CellArguments) => Tensor

function cell(what: string, run: typeof quantized_gru_cell_dynamic): Cell {
  return (input, hx, ...rest) => run(input, hx, ...layersOf(what, ...rest), rest[2], rest[3])
}

export const quantized_gru_cell = cell('quantized_gru_cell', (...given) => quantized_gru_cell_dynamic(...given))
export const quantized_rnn_relu_cell = cell('quantized_rnn_relu_cell', (...given) => quantized_rnn_relu_cell_dynamic(...given))
export const quantized_rnn_tanh_cell = cell('quantized_rnn_tanh_cell', (...given) => quantized_rnn_tanh_cell_dynamic(...given))
