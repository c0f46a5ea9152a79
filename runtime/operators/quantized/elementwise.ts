import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { itemOf } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import type { Scalar } from '../../tensor/scalar.js'
import { roundHalfEven } from '../../tensor/half.js'
import { planStrides, resultStrides, stridesAs } from '../../tensor/iterator.js'
import { broadcastShapes, contiguousStrides, sameShape } from '../../tensor/shape.js'
import { emptyStrided, type PerTensorQuant, type Tensor } from '../../tensor/tensor.js'
import { relu_out } from '../cpu/activation.js'
import * as float from '../cpu/binary.js'
import { copyInto } from '../support/copy.js'
import { checkQuant, dequantized, lookUp, mapIntegers, perTensor, quantRange } from '../support/quantization.js'
import { stridesLike } from './support/layout.js'
import { numberOf } from './support/params.js'
import { adopt } from './support/adopt.js'
import { throughFloat } from './support/through-float.js'

/** Sizes and strides of an operator on two operands: three dimensions, innermost first. */
interface Walk {
  readonly a: Tensor
  readonly b: Tensor
  readonly sizes: readonly number[]
  readonly a_strides: readonly number[]
  readonly b_strides: readonly number[]
}

const DIMS = 3

/** The walk over `out`, which is dense; operands that lie otherwise than the kernel reads them are copied. */
function walkOver(out: Tensor, a: Tensor, b: Tensor): Walk {
  const strides = [out, a, b].map((t) => stridesAs(t, out.shape))
  const { sizes, ndim, n, strides: found } = planStrides(out.shape, strides, DIMS)
  if (ndim === 0) return { a, b, sizes: [n, 1, 1], a_strides: [1, n, n], b_strides: [1, n, n] }
  const fits = ndim <= DIMS && found[1]![0]! <= 1 && found[2]![0]! <= 1 && found[0]![0] === 1
  if (!fits) return walkOver(out, denseLike(a, out), denseLike(b, out))
  const padded = (list: readonly number[], by: number): number[] => [...list, ...new Array<number>(DIMS - ndim).fill(by)]
  return { a, b, sizes: padded(sizes, 1), a_strides: padded(found[1]!, 0), b_strides: padded(found[2]!, 0) }
}

/** `t` broadcast to the shape of `out`, with its strides. */
function denseLike(t: Tensor, out: Tensor): Tensor {
  const copy = emptyStrided(out.shape, out.strides, t.type, t.quant)
  copyInto(copy, t)
  return copy
}

/**
 * The layout of a result, as PyTorch has it: channels innermost where the first operand is such an image or holds numbers per channel of one.
 * A sum whose first operand is broadcast lies in memory in the order of both.
 */
function stridesOf(op: 'add' | 'mul', a: Tensor, b: Tensor, shape: readonly number[]): readonly number[] {
  if (op === 'add' && !sameShape(a.shape, shape)) return resultStrides(shape, [a, b])
  const isImage = a.dim === shape.length && (a.dim === 4 || a.dim === 5)
  return isImage ? stridesLike(a, shape) : contiguousStrides(shape)
}

/** Bits below the point of add's multipliers: two terms of 8 bits stay inside int32. */
function addShift(a: number, b: number): number {
  return Math.max(0, Math.min(30, 21 - Math.ceil(Math.log2(Math.max(a, b, 2 ** -20)))))
}

/** The same for qint32, whose sums leave int32: through float32, as in PyTorch. */
function wideBinary(op: 'add' | 'mul', a: Tensor, b: Tensor, to: PerTensorQuant, relu: boolean): Tensor {
  const other = dequantized(b)
  const combine = (x: Tensor): Tensor => (op === 'add' ? float.add_out(x, other, 1) : float.mul_out(x, other))
  return throughFloat(a, relu ? (x) => relu_out(combine(x)) : combine, undefined, to)
}

/**
 * a + b or a * b on integers of one 8-bit dtype, broadcast, with the parameters `to` (quantized::add, quantized::mul).
 * Ratios of scales beyond 2^21 saturate.
 */
function binary(op: 'add' | 'mul', a: Tensor, b: Tensor, to: PerTensorQuant, relu: boolean): Tensor {
  const what = `quantized::${op}`
  const qa = perTensor(a, what)
  const qb = perTensor(b, what)
  check(a.type === b.type, () => `${what}: both operands must have one dtype, found ${a.dtype} and ${b.dtype}`)
  checkQuant(to.scale, to.zeroPoint, a.type)
  if (a.type === DType.qint32) return wideBinary(op, a, b, to, relu)
  const shape = broadcastShapes(a.shape, b.shape)
  const out = emptyStrided(shape, stridesOf(op, a, b, shape), a.type, to)
  if (out.numel === 0) return out
  const walk = walkOver(out, a, b)
  const [min, max] = quantRange(a.type)
  const ratioA = Math.min(qa.scale / to.scale, 2 ** 21)
  const ratioB = Math.min(qb.scale / to.scale, 2 ** 21)
  const shift = addShift(ratioA, ratioB)
  kernels.quantized_binary({
    op: kernels.QuantizedBinaryOp[op],
    dtype: a.type,
    sizes: walk.sizes,
    a_strides: walk.a_strides,
    b_strides: walk.b_strides,
    a: walk.a.address,
    b: walk.b.address,
    out: out.address,
    a_zero: qa.zeroPoint,
    b_zero: qb.zeroPoint,
    out_zero: to.zeroPoint,
    min: relu ? Math.max(min, to.zeroPoint) : min,
    max,
    a_multiplier: Math.round(ratioA * 2 ** shift),
    b_multiplier: Math.round(ratioB * 2 ** shift),
    shift,
    scale: Math.fround((qa.scale * qb.scale) / to.scale),
  })
  return out
}

export function add(a: Tensor, b: Tensor, scale: number, zeroPoint: number): Tensor {
  return binary('add', a, b, { scale, zeroPoint }, false)
}

export function add_relu(a: Tensor, b: Tensor, scale: number, zeroPoint: number): Tensor {
  return binary('add', a, b, { scale, zeroPoint }, true)
}

export function mul(a: Tensor, b: Tensor, scale: number, zeroPoint: number): Tensor {
  return binary('mul', a, b, { scale, zeroPoint }, false)
}

export function mul_relu(a: Tensor, b: Tensor, scale: number, zeroPoint: number): Tensor {
  return binary('mul', a, b, { scale, zeroPoint }, true)
}

export function add_out(a: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, binary('add', a, b, perTensor(out, 'quantized::add'), false))
}

export function add_relu_out(a: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, binary('add', a, b, perTensor(out, 'quantized::add_relu'), true))
}

export function mul_out(a: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, binary('mul', a, b, perTensor(out, 'quantized::mul'), false))
}

export function mul_relu_out(a: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, binary('mul', a, b, perTensor(out, 'quantized::mul_relu'), true))
}

/** Maps integers through `f`, given and giving quantized integers; both saturated. */
function remap(t: Tensor, to: PerTensorQuant, f: (q: number) => number): Tensor {
  const [min, max] = quantRange(t.type)
  if (t.type === DType.qint32) return mapIntegers(t, to, (q) => Math.max(min, Math.min(max, f(q))))
  const table = new Uint8Array(256)
  for (let bits = 0; bits < 256; bits++) {
    const q = t.type === DType.qint8 && bits > 127 ? bits - 256 : bits
    table[bits] = Math.max(min, Math.min(max, f(q))) & 255
  }
  return lookUp(t, table, to)
}

/**
 * Adds a number by moving the zero point; where that would leave the range, the scale grows and elements are
 * requantized (PyTorch's add_scalar).
 */
function addNumber(t: Tensor, b: Scalar, relu: boolean): Tensor {
  const quant = perTensor(t, 'quantized::add_scalar')
  const [min, max] = quantRange(t.type)
  const { scale, zeroPoint } = quant
  const c = roundHalfEven(numberOf(b) / scale)
  const moved = zeroPoint - c
  if (moved >= min && moved <= max) {
    return remap(t, { scale, zeroPoint: moved }, (q) => (relu ? Math.max(q, moved) : q))
  }
  const edge = moved < min ? min : max
  const span = moved < min ? max - moved : moved - min
  const to = { scale: (span / (max - min)) * scale, zeroPoint: edge }
  const multiplier = Math.fround(scale / to.scale)
  return remap(t, to, (q) => {
    // sums of 32-bit integers wrap around
    const r = roundHalfEven(Math.fround(((q - moved) | 0) * multiplier)) + edge
    return relu ? Math.max(r, edge) : r
  })
}

/** Multiplies by a number by scaling the scale; a negative one mirrors the integers (PyTorch's mul_scalar). */
function mulNumber(t: Tensor, b: Scalar, relu: boolean): Tensor {
  const { scale, zeroPoint } = perTensor(t, 'quantized::mul_scalar')
  const [min, max] = quantRange(t.type)
  const factor = numberOf(b)
  if (factor > 0) {
    return remap(t, { scale: scale * factor, zeroPoint }, (q) => (relu ? Math.max(q, zeroPoint) : q))
  }
  if (factor === 0) return remap(t, { scale: 1, zeroPoint: 0 }, () => 0)
  const mirrored = max - (zeroPoint - min)
  return remap(t, { scale: scale * Math.abs(factor), zeroPoint: mirrored }, (q) => {
    const r = max + min - q
    return relu ? Math.max(r, mirrored) : r
  })
}

export function add_scalar(t: Tensor, b: Scalar): Tensor {
  return addNumber(t, b, false)
}

export function add_scalar_relu(t: Tensor, b: Scalar): Tensor {
  return addNumber(t, b, true)
}

export function mul_scalar(t: Tensor, b: Scalar): Tensor {
  return mulNumber(t, b, false)
}

export function mul_scalar_relu(t: Tensor, b: Scalar): Tensor {
  return mulNumber(t, b, true)
}

export function add_scalar_Tensor(t: Tensor, b: Tensor): Tensor {
  return addNumber(t, itemOf(b), false)
}

/** Without the relu of its name: so it is in PyTorch 1.13, and models were trained and checked with that. */
export function add_scalar_relu_Tensor(t: Tensor, b: Tensor): Tensor {
  return addNumber(t, itemOf(b), false)
}

export function mul_scalar_Tensor(t: Tensor, b: Tensor): Tensor {
  return mulNumber(t, itemOf(b), false)
}

export function mul_scalar_relu_Tensor(t: Tensor, b: Tensor): Tensor {
  return mulNumber(t, itemOf(b), true)
}

export function add_Scalar2(b: Scalar, t: Tensor): Tensor {
  return addNumber(t, b, false)
}

export function add_relu_Scalar2(b: Scalar, t: Tensor): Tensor {
  return addNumber(t, b, true)
}

export function mul_Scalar2(b: Scalar, t: Tensor): Tensor {
  return mulNumber(t, b, false)
}

export function mul_relu_Scalar2(b: Scalar, t: Tensor): Tensor {
  return mulNumber(t, b, true)
}

export function add_scalar_out(t: Tensor, b: Scalar, out: Tensor): Tensor {
  return adopt(out, addNumber(t, b, false))
}

export function add_scalar_relu_out(t: Tensor, b: Scalar, out: Tensor): Tensor {
  return adopt(out, addNumber(t, b, true))
}

export function mul_scalar_out(t: Tensor, b: Scalar, out: Tensor): Tensor {
  return adopt(out, mulNumber(t, b, false))
}

export function mul_scalar_relu_out(t: Tensor, b: Scalar, out: Tensor): Tensor {
  return adopt(out, mulNumber(t, b, true))
}

export function add_scalar_out_Tensor(t: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, addNumber(t, itemOf(b), false))
}

export function mul_scalar_out_Tensor(t: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, mulNumber(t, itemOf(b), false))
}

export function add_scalar_relu_out_Tensor(t: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, add_scalar_relu_Tensor(t, b))
}

export function mul_scalar_relu_out_Tensor(t: Tensor, b: Tensor, out: Tensor): Tensor {
  return adopt(out, mulNumber(t, itemOf(b), true))
}
