import * as kernels from '../../../native/generated/kernels.js'
import { DType, isFloating } from '../../../tensor/dtype.js'
import { planLoop, resultTensor } from '../../../tensor/iterator.js'
import type { Operand } from '../../../tensor/promote.js'
import { type Scalar, scalarToNumber } from '../../../tensor/scalar.js'
import { scalarBits } from '../../../tensor/scalar-bits.js'
import { broadcastShapes, sameShape } from '../../../tensor/shape.js'
import { empty, Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/write.js'
import { byWayOf, computeFor, isNarrow, operandFor, scalarAs } from './operands.js'

export { checkPlain, checkSameType, computeFor, notFor, scalarAs } from './operands.js'

/** The kernels of one input share a frame layout. */
export type UnaryKernel = typeof kernels.unary | typeof kernels.activation | typeof kernels.special

const NONE: readonly number[] = []
/**
 * out = op(self): a new tensor of dtype `type`, or `out` (which may be `self`, in place). `compute` is what the kernel
 * works in; p0..p2 are the operator's numbers.
 */
export function runUnary(
  kernel: UnaryKernel,
  op: number,
  self: Tensor,
  type: DType,
  compute: number,
  out: Tensor | undefined,
  p0 = 0,
  p1 = 0,
  p2 = 0,
): Tensor {
  if (self.isContiguous && (out === undefined || (out === self && out.type === type))) {
    const result = out ?? empty(self.shape, type)
    kernel({
      op,
      compute,
      ndim: 0,
      out_dtype: result.type,
      in_dtype: self.type,
      n: result.numel,
      out: result.address,
      in: self.address,
      p0,
      p1,
      p2,
      sizes: NONE,
      out_strides: NONE,
      in_strides: NONE,
    })
    if (out !== undefined) noteWrite(out)
    return result
  }
  if (out !== undefined && out.type !== type && isNarrow(type)) {
    return byWayOf(out, self.shape, type, [self], () => runUnary(kernel, op, self, type, compute, undefined, p0, p1, p2))
  }
  const result = resultTensor(out, self.shape, type, [self])
  const loop = planLoop(result.shape, [result, self])
  kernel({
    op,
    compute,
    ndim: loop.ndim,
    out_dtype: result.type,
    in_dtype: self.type,
    n: loop.n,
    out: result.address,
    in: self.address,
    p0,
    p1,
    p2,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    in_strides: loop.strides[1]!,
  })
  if (out !== undefined) noteWrite(out)
  return result
}

/**
 * out = op(a, b) after conversion to the `common` dtype, as dtype `type`. At least one operand is a tensor; scalars
 * travel in the frame. `alpha` multiplies b in add and sub.
 */
export function runBinary(op: number, a: Operand, b: Operand, common: DType, type: DType, out: Tensor | undefined, alpha = 1): Tensor {
  // new, or in place; dense results are neither cast nor rearranged
  if (a instanceof Tensor && a.type === common && (out === undefined || (out === a && type === common)) && a.isContiguous) {
    if (b instanceof Tensor) {
      if (b.type === common && b.isContiguous && (out === undefined || b.storage !== a.storage)) {
        if (sameShape(a.shape, b.shape)) return denseBinary(op, a, b, common, type, alpha, out)
        if (isTail(a.shape, b.shape)) return rowBinary(op, a, b, common, type, alpha, out)
      }
    } else {
      return denseScalar(op, a, b, common, type, alpha, out)
    }
  }
  const inputs: Tensor[] = []
  const x = a instanceof Tensor ? operandFor(a, common) : null
  const y = b instanceof Tensor ? operandFor(b, common) : null
  // memory is shared with what the caller gave, whatever is read from
  if (a instanceof Tensor) inputs.push(a)
  if (b instanceof Tensor) inputs.push(b)
  const shape = inputs.length === 1 ? inputs[0]!.shape : broadcastShapes(inputs[0]!.shape, inputs[1]!.shape)
  if (out !== undefined && out.type !== type && isNarrow(type)) {
    return byWayOf(out, shape, type, inputs, () => runBinary(op, a, b, common, type, undefined, alpha))
  }
  const result = resultTensor(out, shape, type, inputs)
  const operands = [result]
  if (x !== null) operands.push(x)
  if (y !== null) operands.push(y)
  const loop = planLoop(shape, operands)
  const scalar = x === null ? scalarAs(a as Scalar, common) : y === null ? scalarAs(b as Scalar, common) : 0
  const isReal = isFloating(common)
  const [low, high] = isReal ? ZERO_BITS : scalarBits(DType.int64, scalar)
  kernels.binary({
    op,
    compute: computeFor(common),
    ndim: loop.ndim,
    out_dtype: result.type,
    a_dtype: x === null ? common : x.type,
    b_dtype: y === null ? common : y.type,
    n: loop.n,
    out: result.address,
    a: x === null ? 0 : x.address,
    b: y === null ? 0 : y.address,
    alpha,
    scalar: isReal ? scalarToNumber(scalar) : 0,
    low,
    high,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    a_strides: x === null ? NONE : loop.strides[1]!,
    b_strides: y === null ? NONE : loop.strides[x === null ? 1 : 2]!,
  })
  if (out !== undefined) noteWrite(out)
  return result
}

const ZERO_BITS: readonly [number, number] = [0, 0]

function denseBinary(op: number, a: Tensor, b: Tensor, common: DType, type: DType, alpha: number, out: Tensor | undefined): Tensor {
  const result = out ?? empty(a.shape, type)
  kernels.binary({
    op,
    compute: computeFor(common),
    ndim: 0,
    out_dtype: type,
    a_dtype: common,
    b_dtype: common,
    n: result.numel,
    out: result.address,
    a: a.address,
    b: b.address,
    alpha,
    scalar: 0,
    low: 0,
    high: 0,
    sizes: NONE,
    out_strides: NONE,
    a_strides: NONE,
    b_strides: NONE,
  })
  if (out !== undefined) noteWrite(out)
  return result
}

/** `tail` repeats along leading dimensions to give `shape`: a bias of the last dimensions, or one element. */
function isTail(shape: readonly number[], tail: readonly number[]): boolean {
  const lead = shape.length - tail.length
  if (lead < 0) return false
  let d = 0
  while (d < tail.length && tail[d] === 1) d++
  for (; d < tail.length; d++) if (tail[d] !== shape[lead + d]) return false
  return true
}

const rowSizes = [0, 0]
const rowStrides = [1, 0]
const tailStrides = [1, 0]

/** Both dense, b repeated along the leading dimensions of a. */
function rowBinary(op: number, a: Tensor, b: Tensor, common: DType, type: DType, alpha: number, out: Tensor | undefined): Tensor {
  const result = out ?? empty(a.shape, type)
  const n = result.numel
  const row = b.numel
  // one element repeats along one long row
  const length = row === 1 ? n : row
  rowSizes[0] = length
  rowSizes[1] = length === 0 ? 0 : n / length
  rowStrides[1] = length
  tailStrides[0] = row === 1 ? 0 : 1
  kernels.binary({
    op,
    compute: computeFor(common),
    ndim: 2,
    out_dtype: type,
    a_dtype: common,
    b_dtype: common,
    n,
    out: result.address,
    a: a.address,
    b: b.address,
    alpha,
    scalar: 0,
    low: 0,
    high: 0,
    sizes: rowSizes,
    out_strides: rowStrides,
    a_strides: rowStrides,
    b_strides: tailStrides,
  })
  if (out !== undefined) noteWrite(out)
  return result
}

function denseScalar(op: number, a: Tensor, b: Scalar, common: DType, type: DType, alpha: number, out: Tensor | undefined): Tensor {
  const result = out ?? empty(a.shape, type)
  const isReal = isFloating(common)
  const scalar = scalarAs(b, common)
  const [low, high] = isReal ? ZERO_BITS : scalarBits(DType.int64, scalar)
  kernels.binary({
    op,
    compute: computeFor(common),
    ndim: 0,
    out_dtype: type,
    a_dtype: common,
    b_dtype: common,
    n: result.numel,
    out: result.address,
    a: a.address,
    b: 0,
    alpha,
    scalar: isReal ? scalarToNumber(scalar) : 0,
    low,
    high,
    sizes: NONE,
    out_strides: NONE,
    a_strides: NONE,
    b_strides: NONE,
  })
  if (out !== undefined) noteWrite(out)
  return result
}

/**
 * out = op(a, b, c); b and c may be scalars. `a` is read as it is (a condition may have any dtype) where `common` can
 * hold it. `value` is the factor of addcmul and addcdiv.
 */
export function runTernary(op: number, a: Tensor, b: Operand, c: Operand, common: DType, out: Tensor | undefined, value = 1): Tensor {
  const given = [a, b, c].filter((t): t is Tensor => t instanceof Tensor)
  let shape = a.shape
  for (const t of given) if (!sameShape(shape, t.shape)) shape = broadcastShapes(shape, t.shape)
  if (out !== undefined && out.type !== common && isNarrow(common)) {
    return byWayOf(out, shape, common, given, () => runTernary(op, a, b, c, common, undefined, value))
  }
  const result = resultTensor(out, shape, common, given)
  const x = operandFor(a, common)
  const y = b instanceof Tensor ? operandFor(b, common) : null
  const z = c instanceof Tensor ? operandFor(c, common) : null
  const operands = [result, x]
  if (y !== null) operands.push(y)
  if (z !== null) operands.push(z)
  const loop = planLoop(shape, operands)
  const isReal = isFloating(common)
  const bScalar = y === null ? scalarAs(b as Scalar, common) : 0
  const cScalar = z === null ? scalarAs(c as Scalar, common) : 0
  const [bLow, bHigh] = isReal ? ZERO_BITS : scalarBits(DType.int64, bScalar)
  const [cLow, cHigh] = isReal ? ZERO_BITS : scalarBits(DType.int64, cScalar)
  kernels.ternary({
    op,
    compute: computeFor(common),
    ndim: loop.ndim,
    out_dtype: result.type,
    a_dtype: x.type,
    b_dtype: y === null ? common : y.type,
    c_dtype: z === null ? common : z.type,
    b_low: bLow,
    b_high: bHigh,
    c_low: cLow,
    c_high: cHigh,
    n: loop.n,
    out: result.address,
    a: x.address,
    b: y === null ? 0 : y.address,
    c: z === null ? 0 : z.address,
    value,
    b_scalar: isReal ? scalarToNumber(bScalar) : 0,
    c_scalar: isReal ? scalarToNumber(cScalar) : 0,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    a_strides: loop.strides[1]!,
    b_strides: y === null ? NONE : loop.strides[2]!,
    c_strides: z === null ? NONE : loop.strides[y === null ? 2 : 3]!,
  })
  if (out !== undefined) noteWrite(out)
  return result
}
