import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { elementValue, readTensor, writeTensor } from '../../tensor/data.js'
import { DType, dtypeName, integerType, isComplex, isQuantized } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { roundHalfEven } from '../../tensor/half.js'
import { channelsLastStrides } from '../../tensor/shape.js'
import {
  empty,
  emptyStrided,
  isPerChannel,
  type PerChannelQuant,
  type PerTensorQuant,
  type Quant,
  Tensor,
  viewOf,
} from '../../tensor/tensor.js'
import { MemoryFormat } from '../../tensor/options.js'
import { isContiguousAs } from '../../tensor/view-strides.js'
import { asSuggested, castTo, contiguousOf } from './copy.js'

/** Smallest and largest integer of a quantized dtype. */
export function quantRange(type: DType): readonly [min: number, max: number] {
  if (type === DType.quint8) return [0, 255]
  if (type === DType.qint8) return [-128, 127]
  return [-2147483648, 2147483647]
}

/** The scale and zero point of a per-tensor quantized tensor of 8 or 32 bits; throws for any other. */
export function perTensor(t: Tensor, what: string): PerTensorQuant {
  const { quant } = t
  if (quant === null) throw new PtliteError('INVALID_DTYPE', `${what}: expected a quantized tensor, found ${t.dtype}`)
  if (isPerChannel(quant)) throw new PtliteError('INVALID_ARGUMENT', `${what}: expected per-tensor quantization, found per-channel`)
  integerType(t.type)
  return quant
}

export function perChannel(t: Tensor, what: string): PerChannelQuant {
  if (t.quant === null || !isPerChannel(t.quant))
    throw new PtliteError('INVALID_ARGUMENT', `${what}: expected a per-channel quantized tensor`)
  return t.quant
}

/** Parameters that fit the dtype. Throws INVALID_ARGUMENT. */
export function checkQuant(scale: number, zeroPoint: number, type: DType): PerTensorQuant {
  if (!isQuantized(type) || type === DType.quint4x2) {
    throw new PtliteError('INVALID_DTYPE', `expected quint8, qint8 or qint32, found ${dtypeName(type)}`)
  }
  const [min, max] = quantRange(type)
  check(Number.isInteger(zeroPoint) && zeroPoint >= min && zeroPoint <= max, () => `zero point ${zeroPoint} is outside ${min} to ${max}`)
  return { scale, zeroPoint }
}

/** `t` where it is row-major or an image with channels innermost, else a row-major copy: such layouts outlast quantization. */
export function inFormat(t: Tensor): Tensor {
  const format = t.dim === 5 ? MemoryFormat.channelsLast3d : MemoryFormat.channelsLast
  return isContiguousAs(t.shape, t.strides, format) ? t : contiguousOf(t)
}

/** float32 to a per-tensor quantized tensor of the same shape (at::quantize_per_tensor). */
export function quantizePerTensor(x: Tensor, scale: number, zeroPoint: number, type: DType): Tensor {
  const quant = checkQuant(scale, zeroPoint, type)
  const source = inFormat(castTo(x, DType.float32))
  const out = emptyStrided(source.shape, source.strides, type, quant)
  quantizeInto(source, out.address, x.numel, quant, type)
  return out
}

/** The same of images, [N, C, spatial...], with channels innermost in memory, for 8-bit types. */
export function quantizeChannelsLast(x: Tensor, scale: number, zeroPoint: number, type: DType): Tensor {
  const quant = checkQuant(scale, zeroPoint, type)
  check(x.dim > 2 && type !== DType.qint32, () => `expected images to be quantized to 8 bits, found shape [${x.shape.join(', ')}]`)
  const out = emptyStrided(x.shape, channelsLastStrides(x.shape), type, quant)
  if (out.numel === 0) return out
  const [batch, channels] = x.shape as [number, number]
  const source = contiguousOf(castTo(x, DType.float32))
  kernels.quantize_channels_last({
    batch,
    channels,
    pixels: x.numel / (batch * channels),
    dtype: type,
    zero_point: quant.zeroPoint,
    inv_scale: Math.fround(1 / Math.fround(quant.scale)),
    in: source.address,
    out: out.address,
  })
  return out
}

function quantizeInto(x: Tensor, out: number, n: number, quant: PerTensorQuant, type: DType, offset = 0): void {
  kernels.quantize({
    n,
    dtype: type,
    zero_point: quant.zeroPoint,
    inv_scale: Math.fround(1 / Math.fround(quant.scale)),
    in: x.address + 4 * offset,
    out,
  })
}

/** float32 to a tensor with a scale and zero point per index of dimension `quant.axis`. */
export function quantizePerChannel(x: Tensor, quant: PerChannelQuant, type: DType): Tensor {
  // the kernel has no nibbles
  if (!quant.floatZeroPoints) integerType(type)
  const source = contiguousOf(castTo(x, DType.float32))
  const out = empty(x.shape, type, quant)
  if (quant.floatZeroPoints) {
    quantizeFractional(source, quant, out)
    return out
  }
  forEachChannel(x.shape, quant, (offset, n, scale, zeroPoint) => {
    quantizeInto(source, out.address + offset * out.itemSize, n, { scale, zeroPoint }, type, offset)
  })
  return out
}

/** The most that an unsigned type holds in `bits`. */
function levelsOf(type: DType): readonly [number, number] {
  return type === DType.quint4x2 ? [0, 15] : quantRange(type)
}

/** round(x / scale + zero point) with fractions as zero points, for weights of embeddings; 4-bit values go two to a byte, low first. */
function quantizeFractional(x: Tensor, quant: PerChannelQuant, out: Tensor): void {
  if (x.numel === 0) return
  const data = readTensor(x) as Float32Array
  const [low, high] = levelsOf(out.type)
  const nibbles = out.type === DType.quint4x2
  const integers =
    out.type === DType.qint8
      ? new Int8Array(data.length)
      : out.type === DType.qint32
        ? new Int32Array(data.length)
        : new Uint8Array(data.length)
  forEachChannel(x.shape, quant, (offset, n, scale, zeroPoint) => {
    const inverse = Math.fround(1 / Math.fround(scale))
    for (let i = offset; i < offset + n; i++) {
      const q = roundHalfEven(Math.fround(Math.fround(data[i]! * inverse) + Math.fround(zeroPoint)))
      const integer = q >= high ? high : q > low ? q : low
      if (nibbles) integers[i >> 1]! |= integer << ((i & 1) * 4)
      else integers[i] = integer
    }
  })
  writeTensor(out, integers)
}

/** Runs of elements that share a channel, in a dense tensor of this shape. */
function forEachChannel(
  shape: readonly number[],
  quant: PerChannelQuant,
  visit: (offset: number, n: number, scale: number, zeroPoint: number) => void,
): void {
  const channels = shape[quant.axis]!
  const inner = shape.slice(quant.axis + 1).reduce((a, b) => a * b, 1)
  const outer = shape.slice(0, quant.axis).reduce((a, b) => a * b, 1)
  if (inner === 0) return
  for (let o = 0; o < outer; o++) {
    for (let c = 0; c < channels; c++) visit((o * channels + c) * inner, inner, quant.scales[c]!, quant.zeroPoints[c]!)
  }
}

/** The float32 values of a quantized tensor; any other is converted to float32. */
export function dequantized(t: Tensor): Tensor {
  const { quant } = t
  if (quant === null) return castTo(t, DType.float32)
  if (t.type === DType.quint4x2) return dequantizeNibbles(t, quant)
  const source = isPerChannel(quant) ? contiguousOf(t) : inFormat(t)
  const out = emptyStrided(source.shape, source.strides, DType.float32)
  const run = (offset: number, n: number, scale: number, zeroPoint: number): void => {
    kernels.dequantize({
      n,
      dtype: t.type,
      zero_point: zeroPoint,
      scale,
      in: source.address + offset * t.itemSize,
      out: out.address + 4 * offset,
    })
  }
  if (isPerChannel(quant)) forEachChannel(t.shape, quant, run)
  else run(0, t.numel, quant.scale, quant.zeroPoint)
  return out
}

/** Two values a byte, low nibble first, rows of an even number of values. */
function dequantizeNibbles(t: Tensor, quant: Quant): Tensor {
  check(isPerChannel(quant) && t.dim === 2, () => 'a quint4x2 tensor must be a matrix with parameters per row')
  throw new PtliteError(
    'UNSUPPORTED_DTYPE',
    `quint4x2 tensors can only be used by the embedding operators, found shape [${t.shape.join(', ')}]`,
  )
}

/** The integers of an 8-bit or 32-bit quantized tensor as a plain tensor on the same storage. */
export function integersOf(t: Tensor): Tensor {
  return new Tensor(t.storage, t.offset, t.shape, t.strides, integerType(t.type))
}

/** A tensor of integers seen as quantized, on the same storage. */
export function asQuantized(t: Tensor, quant: Quant): Tensor {
  const type = t.type === DType.uint8 ? DType.quint8 : t.type === DType.int8 ? DType.qint8 : t.type === DType.int32 ? DType.qint32 : null
  if (type === null) throw new PtliteError('INVALID_DTYPE', `expected uint8, int8 or int32 integers, found ${t.dtype}`)
  return new Tensor(t.storage, t.offset, t.shape, t.strides, type, quant)
}

/** Scales below are this instead. */
const LEAST_SCALE = Math.fround(6.1e-5)

/**
 * Scale and zero point for data between `min` and `max` (PyTorch's ChooseQuantizationParams); `symmetric` around the zero point where there
 * is data of both signs. The scale is a float32 number unless `wide`.
 */
export function chooseQuant(min: number, max: number, qmin: number, qmax: number, symmetric = false, wide = false): PerTensorQuant {
  const mirrored = symmetric && min < 0 && max > 0
  if (mirrored) {
    const half = Math.floor((qmax - qmin) / 2)
    const widest = Math.max(Math.abs(min / (half + 1)), Math.abs(max / half))
    ;[min, max] = [-widest * (half + 1), widest * half]
  }
  let low = Math.min(min, 0)
  let high = Math.max(max, 0)
  let scale = (high - low) / (qmax - qmin)
  if (Math.fround(scale) === 0 || !Number.isFinite(1 / Math.fround(scale))) scale = 0.1
  if (scale < LEAST_SCALE) {
    const factor = LEAST_SCALE / scale
    ;[low, high] = [low * factor, high * factor]
    scale = LEAST_SCALE
  }
  if (!wide) scale = Math.fround(scale)
  if (mirrored) return { scale, zeroPoint: roundHalfEven((qmin + qmax) / 2) }
  const fromMin = qmin - low / scale
  const fromMax = qmax - high / scale
  const errorMin = Math.abs(qmin) - Math.abs(low / scale)
  const errorMax = Math.abs(qmax) - Math.abs(high / scale)
  const initial = errorMin < errorMax ? fromMin : fromMax
  const zeroPoint = initial < qmin ? qmin : initial > qmax ? qmax : roundHalfEven(initial)
  return { scale, zeroPoint }
}

/** quint8 parameters over the range of a dense float32 tensor, which need not hold 0. */
export function dynamicQuant(x: Tensor): PerTensorQuant {
  noteRead(x)
  const { min, max } = x.numel === 0 ? { min: 0, max: 0 } : kernels.float_range({ n: x.numel, in: x.address })
  return chooseQuant(min, max, 0, 255)
}

/** The integer that a number quantizes to, saturated. */
export function quantizeNumber(x: number, quant: PerTensorQuant, type: DType): number {
  const [min, max] = quantRange(type)
  const q = roundHalfEven(Math.fround(Math.fround(x) * Math.fround(1 / Math.fround(quant.scale)))) + quant.zeroPoint
  return q >= max ? max : q > min ? q : min
}

/** Numbers of a small tensor, e.g. of scales. Constants are read as they are, not from a copy, so that a recorder knows them. */
export function numbersOf(t: Tensor): number[] {
  const source = isComplex(t.type) ? castTo(t, DType.float64) : t
  return Array.from<number | bigint, number>(readTensor(source), (raw) => Number(elementValue(raw, source.type)))
}

/**
 * Applies `f` to every element of an 8-bit tensor through a table of its 256 possible values; `to` are the
 * parameters of the result, which lies in memory as `t` suggests.
 */
export function mapElements(t: Tensor, to: PerTensorQuant, f: (x: number) => number): Tensor {
  const from = perTensor(t, 'this operator')
  if (t.type === DType.qint32) return mapWide(t, from, to, f)
  const table = new Uint8Array(256)
  const signed = t.type === DType.qint8
  for (let bits = 0; bits < 256; bits++) {
    const q = signed && bits > 127 ? bits - 256 : bits
    table[bits] = quantizeNumber(f(Math.fround((q - from.zeroPoint) * from.scale)), to, t.type) & 255
  }
  return lookUp(t, table, to)
}

/** The same for qint32, element by element: its values are too many for a table. */
function mapWide(t: Tensor, from: PerTensorQuant, to: PerTensorQuant, f: (x: number) => number): Tensor {
  return mapIntegers(t, to, (q) => quantizeNumber(f(Math.fround((q - from.zeroPoint) * from.scale)), to, t.type))
}

/** A qint32 tensor of `f` of each integer, with the parameters `to`, in the memory format that `t` suggests. */
export function mapIntegers(t: Tensor, to: PerTensorQuant, f: (q: number) => number): Tensor {
  const source = asSuggested(t)
  const flat = viewOf(source, [source.numel], [1])
  const out = emptyStrided(source.shape, source.strides, t.type, to)
  writeTensor(viewOf(out, [out.numel], [1]), (readTensor(flat) as Int32Array).map(f))
  return out
}

export function lookUp(t: Tensor, table: Uint8Array, quant: PerTensorQuant): Tensor {
  const source = asSuggested(t)
  const out = emptyStrided(source.shape, source.strides, t.type, quant)
  kernels.quantized_lookup({ n: source.numel, in: source.address, out: out.address }, table)
  return out
}

/** True where the elements fill one block of memory, in whatever order of dimensions. */
export function isDense(t: Tensor): boolean {
  const order = t.shape.map((_, d) => d).filter((d) => t.shape[d] !== 1)
  order.sort((a, b) => t.strides[a]! - t.strides[b]!)
  let step = 1
  for (const d of order) {
    if (t.strides[d] !== step) return false
    step *= t.shape[d]!
  }
  return true
}
