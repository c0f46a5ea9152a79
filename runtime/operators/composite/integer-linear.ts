import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import type { Storage } from '../../tensor/storage.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import type { CustomObject } from '../../tensor/value.js'
import { transpose } from '../../tensor/view.js'
import { noteWrite } from '../../tensor/observe.js'
import { contiguousOf } from '../support/copy.js'
import { zerosOf } from '../support/make.js'
import { keptDerived } from '../support/kept-derived.js'
import { asQuantized, dequantized, numbersOf, quantizePerTensor } from '../support/quantization.js'
import type { Composite } from '../support/generated/interfaces.js'
import { linear, multiplyIntegers } from '../quantized/linear.js'
import { linear_prepack } from '../quantized/prepack.js'
import * as at from '../generated/dispatch.js'

/** Products of integers, and layers that quantize their float32 input. */

/** int32 product, modulo 2^32, of int8 or uint8 rows and int8 columns (torch._int_mm). `out` must have the result's shape. */
export function _int_mm(self: Tensor, mat2: Tensor, out?: Tensor): Tensor {
  check(
    self.dim === 2 && mat2.dim === 2 && self.shape[1] === mat2.shape[0],
    () => `_int_mm: shapes [${self.shape.join(', ')}] and [${mat2.shape.join(', ')}] cannot be multiplied`,
  )
  if (mat2.type !== DType.int8 || (self.type !== DType.int8 && self.type !== DType.uint8)) {
    throw new PtliteError('INVALID_DTYPE', `_int_mm: expected int8 or uint8 by int8, found ${self.dtype} by ${mat2.dtype}`)
  }
  const [m, k, n] = [self.shape[0]!, self.shape[1]!, mat2.shape[1]!]
  if (out !== undefined) {
    if (out.type !== DType.int32) throw new PtliteError('INVALID_DTYPE', `_int_mm: expected an int32 out tensor, found ${out.dtype}`)
    check(
      out.dim === 2 && out.shape[0] === m && out.shape[1] === n && out.isContiguous,
      () => `_int_mm: expected a dense out tensor of shape [${m}, ${n}], found [${out.shape.join(', ')}]`,
    )
  }
  const result = out ?? empty([m, n], DType.int32)
  if (result.numel === 0) return result
  if (k === 0) return at.zero_(result)
  const columns = transpose(mat2, 0, 1)
  const packed = keptDerived(mat2, 'int8', kernels.quantized_gemm_pack_size({ n, k }), (address) => {
    const zeros = zerosOf([n], DType.int32)
    const w = contiguousOf(columns)
    kernels.quantized_gemm_pack({ n, k, dtype: DType.qint8, w: w.address, zero_points: zeros.address, out: address })
  })
  multiplyIntegers(contiguousOf(self), packed, result)
  noteWrite(result)
  return result
}

/** A weight with what is beyond the range of float16 at its ends; PyTorch changes the weight itself. */
export function _saturate_weight_to_fp16(weight: Tensor): Tensor {
  if (weight.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `expected a float32 weight, found ${weight.dtype}`)
  check(weight.dim === 2, () => `expected a matrix, found shape [${weight.shape.join(', ')}]`)
  return at.clamp(weight, -65504, 65504)
}

/** Bytes before the bias: scale (float64), zero point and rows (int32). */
const HEADER = 16

/**
 * A linear layer in one tensor of bytes: weight and bias, quantized by one scale (at::_wrapped_linear_prepack, whose tensor holds
 * an address).
 */
export function _wrapped_linear_prepack(weight: Tensor, scale: Tensor, zeroPoint: Tensor, bias: Tensor): Tensor {
  const what = '_wrapped_linear_prepack'
  check(weight.dim === 2, () => `${what}: expected a matrix, found shape [${weight.shape.join(', ')}]`)
  checkFloat(what, weight)
  checkFloat(what, bias)
  const [rows, columns] = weight.shape as [number, number]
  check(bias.dim === 1 && bias.shape[0] === rows, () => `${what}: expected a bias of ${rows} elements, found [${bias.shape.join(', ')}]`)
  const quantized = quantizePerTensor(weight, single(scale), single(zeroPoint), DType.qint8)
  const bytes = new Uint8Array(HEADER + rows * (4 + columns))
  const header = new DataView(bytes.buffer)
  header.setFloat64(0, single(scale), true)
  header.setInt32(8, single(zeroPoint), true)
  header.setInt32(12, rows, true)
  new Float32Array(bytes.buffer, HEADER, rows).set(readTensor(bias) as Float32Array)
  new Int8Array(bytes.buffer, HEADER + 4 * rows).set(readTensor(quantized) as Int8Array)
  const out = empty([bytes.length], DType.uint8)
  writeTensor(out, bytes)
  return out
}

function checkFloat(what: string, t: Tensor): void {
  if (t.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected float32 tensors, found ${t.dtype}`)
}

function single(t: Tensor): number {
  check(t.numel === 1, () => `expected one scale or zero point, found ${t.numel}`)
  return numbersOf(t)[0]!
}

const layers = new WeakMap<Storage, { version: number; offset: number; layer: CustomObject }>()

function layerIn(packed: Tensor): CustomObject {
  const known = layers.get(packed.storage)
  if (known?.version === packed.storage.version && known.offset === packed.offset) return known.layer
  const layer = unpacked(packed)
  layers.set(packed.storage, { version: packed.storage.version, offset: packed.offset, layer })
  return layer
}

function unpacked(packed: Tensor): CustomObject {
  const usable = packed.type === DType.uint8 && packed.dim === 1 && packed.numel >= HEADER
  check(usable, () => `expected a layer packed by _wrapped_linear_prepack, found ${packed.dtype}[${packed.shape.join(', ')}]`)
  const bytes = readTensor(packed) as Uint8Array
  const header = new DataView(bytes.buffer)
  const [zeroPoint, rows] = [header.getInt32(8, true), header.getInt32(12, true)]
  const columns = rows > 0 ? (bytes.length - HEADER) / rows - 4 : 0
  check(rows > 0 && Number.isInteger(columns) && columns > 0, () => `the bytes are not a layer that _wrapped_linear_prepack packed`)
  const bias = empty([rows], DType.float32)
  writeTensor(bias, new Float32Array(bytes.buffer, HEADER, rows))
  const integers = empty([rows, columns], DType.int8)
  writeTensor(integers, new Int8Array(bytes.buffer, HEADER + 4 * rows))
  const weight = asQuantized(integers, { scale: header.getFloat64(0, true), zeroPoint })
  for (const t of [bias, weight]) {
    t.pinned = true
    t.storage.watch()
  }
  return linear_prepack(weight, bias)
}

/** float32 rows quantized, multiplied by a packed layer, requantized and dequantized (at::_wrapped_quantized_linear_prepacked). */
export function _wrapped_quantized_linear_prepacked(
  input: Tensor,
  inputScale: Tensor,
  inputZeroPoint: Tensor,
  packed: Tensor,
  outputScale: Tensor,
  outputZeroPoint: Tensor,
  _channels: number,
): Tensor {
  checkFloat('_wrapped_quantized_linear_prepacked', input)
  const x = quantizePerTensor(input, single(inputScale), single(inputZeroPoint), DType.quint8)
  return dequantized(linear(x, layerIn(packed), single(outputScale), single(outputZeroPoint)))
}

export const wrapped_quantized_linear: Composite['wrapped_quantized_linear'] = (
  input,
  inputScale,
  inputZeroPoint,
  weight,
  weightScale,
  weightZeroPoint,
  bias,
  outputScale,
  outputZeroPoint,
  channels,
) => {
  const packed = _wrapped_linear_prepack(weight, weightScale, weightZeroPoint, bias)
  return _wrapped_quantized_linear_prepacked(input, inputScale, inputZeroPoint, packed, outputScale, outputZeroPoint, channels)
}
