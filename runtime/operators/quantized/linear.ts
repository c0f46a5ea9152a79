import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type PerTensorQuant, type Tensor } from '../../tensor/tensor.js'
import type { Storage } from '../../tensor/storage.js'
import type { Value } from '../../tensor/value.js'
import { relu_out } from '../cpu/activation.js'
import { linear as floatLinear } from '../cpu/matmul.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { asQuantized, checkQuant, perTensor, quantizePerTensor, quantRange } from '../support/quantization.js'
import { linear_prepack_fp16 } from './prepack.js'
import {
  biasNumbers,
  channelQuant,
  dequantization,
  type Epilogue,
  packMatrix,
  type PackedWeights,
  requantization,
  weightNumbers,
} from './support/gemm.js'
import { type LinearParams, linearParams } from './support/params.js'

function packedLinear(params: LinearParams): PackedWeights {
  if (params.packed !== undefined) return params.packed
  const { weight } = params
  const [rows, depth] = weight.shape as [number, number]
  const { scales, zeroPoints } = channelQuant(weight, 0)
  params.packed = packMatrix(weight, rows, depth, scales, zeroPoints, biasNumbers(params.bias, rows))
  return params.packed
}

function checkInput(x: Tensor, weight: Tensor): void {
  const depth = weight.shape[1]!
  check(
    x.dim >= 2 && x.shape[x.dim - 1] === depth,
    () => `the last of at least two input dimensions must be ${depth}, found shape [${x.shape.join(', ')}]`,
  )
}

/** What only windows of a convolution have. */
const UNUSED: readonly number[] = [0, 0, 0]

// frames are written out in full: an object spread of this many fields takes longer than a small product
function launchRows(
  x: Tensor,
  quant: PerTensorQuant,
  packed: Pick<PackedWeights, 'storage' | 'rows' | 'depth'>,
  e: Epilogue,
  out: Tensor,
  clamp: { min: number; max: number; relu: number },
): void {
  kernels.quantized_gemm({
    m: x.numel / packed.depth,
    n: packed.rows,
    k: packed.depth,
    a: x.address,
    a_dtype: x.type,
    a_zero: quant.zeroPoint,
    a_stride: packed.depth,
    w: packed.storage.address,
    scales: e.scales.address,
    bias: e.bias.address,
    out: out.address,
    out_dtype: out.type,
    out_zero: out.quant === null ? 0 : perTensor(out, 'quantized::linear').zeroPoint,
    out_stride: packed.rows,
    min: clamp.min,
    max: clamp.max,
    relu: clamp.relu,
    taps: 0,
    transposed: 0,
    channels: 0,
    pixel_stride: 0,
    in_size: UNUSED,
    out_size: UNUSED,
    kernel: UNUSED,
    stride: UNUSED,
    padding: UNUSED,
    dilation: UNUSED,
  })
}

/**
 * out = a w, exact modulo 2^32: a dense [m, k] of int8 or uint8, w [n, k] as quantized_gemm_pack lays it out, out dense [m, n] of int32.
 */
export function multiplyIntegers(a: Tensor, w: Storage, out: Tensor): void {
  const columns = out.shape[1]!
  const depth = a.shape[1]!
  // not used for sums, but read
  const numbers = empty([columns], DType.float32)
  const quant = { scale: 1, zeroPoint: 0 }
  launchRows(asQuantized(a, quant), quant, { storage: w, rows: columns, depth }, { scales: numbers, bias: numbers }, out, {
    min: 0,
    max: 0,
    relu: 0,
  })
}

function quantizedLinear(x: Tensor, weights: Value, scale: number, zeroPoint: number, relu: boolean): Tensor {
  const params = linearParams(weights)
  const quant = perTensor(x, 'quantized::linear')
  checkInput(x, params.weight)
  const packed = packedLinear(params)
  const output = checkQuant(scale, zeroPoint, x.type)
  const out = empty([...x.shape.slice(0, -1), packed.rows], x.type, output)
  const [min, max] = quantRange(x.type)
  if (x.numel > 0) {
    launchRows(contiguousOf(x), quant, packed, requantization(packed, quant, output), out, {
      min: relu ? Math.max(min, zeroPoint) : min,
      max,
      relu: 0,
    })
  } else if (out.numel > 0) {
    throw new PtliteError('INVALID_ARGUMENT', 'quantized::linear: expected at least one input feature')
  }
  return out
}

export function linear(x: Tensor, weights: Value, scale: number, zeroPoint: number): Tensor {
  return quantizedLinear(x, weights, scale, zeroPoint, false)
}

export function linear_relu(x: Tensor, weights: Value, scale: number, zeroPoint: number): Tensor {
  return quantizedLinear(x, weights, scale, zeroPoint, true)
}

/** What both kinds of layers between float32 tensors need of their call: a dense input and a place for the result. */
function floatCall(x: Tensor, weights: Value): { source: Tensor; packed: PackedWeights; out: Tensor } {
  const params = linearParams(weights)
  checkInput(x, params.weight)
  const packed = packedLinear(params)
  const out = empty([...x.shape.slice(0, -1), packed.rows], DType.float32)
  return { source: contiguousOf(castTo(x, DType.float32)), packed, out }
}

/** Quantized by the range of the input within the kernel, which may be part of a plan therefore. */
function dynamicLinear(x: Tensor, weights: Value, relu: boolean): Tensor {
  const { source, packed, out } = floatCall(x, weights)
  if (out.numel === 0) return out
  const { scales, bias } = weightNumbers(packed)
  kernels.quantized_linear_dynamic({
    m: out.numel / packed.rows,
    n: packed.rows,
    k: packed.depth,
    relu: relu ? 1 : 0,
    x: source.address,
    w: packed.storage.address,
    scales: scales.address,
    bias: bias.address,
    out: out.address,
  })
  return out
}

/** Quantized by known parameters. */
function staticLinear(x: Tensor, scale: number, zeroPoint: number, weights: Value, relu: boolean): Tensor {
  checkFloat(x)
  const quant = checkQuant(scale, zeroPoint, DType.quint8)
  const { source, packed, out } = floatCall(x, weights)
  if (out.numel === 0) return out
  const integers = quantizePerTensor(source, quant.scale, quant.zeroPoint, DType.quint8)
  launchRows(integers, quant, packed, dequantization(packed, quant.scale), out, { min: 0, max: 0, relu: relu ? 1 : 0 })
  return out
}

/** The float32 sums of a layer on integers. */
export function quantized_linear(x: Tensor, weights: Value): Tensor {
  const params = linearParams(weights)
  const quant = perTensor(x, 'ptlite::quantized_linear')
  checkInput(x, params.weight)
  const packed = packedLinear(params)
  const out = empty([...x.shape.slice(0, -1), packed.rows], DType.float32)
  if (out.numel === 0) return out
  check(x.numel > 0, () => 'ptlite::quantized_linear: expected at least one input feature')
  launchRows(contiguousOf(x), quant, packed, dequantization(packed, quant.scale), out, { min: 0, max: 0, relu: 0 })
  return out
}

function checkFloat(x: Tensor): void {
  check(x.type === DType.float32, () => `quantized::linear: expected float32, found ${x.dtype}`)
}

/** A linear layer between float32 tensors, whose input is quantized to quint8 with the given parameters. */
export function linear_with_input_q_dq_qweight_dq_output_fp32(x: Tensor, scale: number, zeroPoint: number, weights: Value): Tensor {
  return staticLinear(x, scale, zeroPoint, weights, false)
}

export function linear_with_input_q_dq_qweight_dq_relu_output_fp32(x: Tensor, scale: number, zeroPoint: number, weights: Value): Tensor {
  return staticLinear(x, scale, zeroPoint, weights, true)
}

/** Takes `reduce_range` for the schema's sake: QNNPACK, PyTorch's engine on phones, uses all 8 bits in any case. */
export function linear_dynamic(x: Tensor, weights: Value, _reduceRange: boolean): Tensor {
  return dynamicLinear(x, weights, false)
}

export function linear_relu_dynamic(x: Tensor, weights: Value, _reduceRange: boolean): Tensor {
  return dynamicLinear(x, weights, true)
}

/** float32 product with weights that were rounded to half precision when they were packed or written. */
export function linear_dynamic_fp16(x: Tensor, weights: Value): Tensor {
  const { weight, bias } = linearParams(weights)
  checkInput(x, weight)
  return floatLinear(castTo(x, DType.float32), weight, bias)
}

/** The same with weights that are packed on the way: float32 [out, in]. */
export function linear_dynamic_fp16_unpacked_weight(x: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  checkFloat(x)
  checkFloat(weight)
  return linear_dynamic_fp16(x, linear_prepack_fp16(weight, bias))
}

export function linear_relu_dynamic_fp16(x: Tensor, weights: Value): Tensor {
  return relu_out(linear_dynamic_fp16(x, weights))
}
