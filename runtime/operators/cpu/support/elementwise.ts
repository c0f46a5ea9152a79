import * as kernels from '../../../native/generated/kernels.js'
import type { DType } from '../../../tensor/dtype.js'
import { denseLoop, type Loop, planLoop, resultTensor } from '../../../tensor/iterator.js'
import type { Operand } from '../../../tensor/promote.js'
import { broadcastShapes, sameShape } from '../../../tensor/shape.js'
import { resizeOut } from '../../../tensor/out.js'
import { empty, Tensor } from '../../../tensor/tensor.js'
import { isInPlace, isOfOther, newOrGiven, written } from './given-out.js'
import { numberFields, type ScalarFields } from './number-fields.js'
import { byWayOf, computeFor, isNarrow, operandFor } from './operands.js'

export { checkPlain, checkSameType, computeFor, notFor } from './operands.js'

/** The kernels of one input share a frame layout. */
export type UnaryKernel = typeof kernels.unary | typeof kernels.activation | typeof kernels.special

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
  const isDense = self.isContiguous && (out === undefined || isInPlace(out, self, type))
  if (!isDense && isOfOther(out, type) && isNarrow(type)) {
    return byWayOf(out, self.shape, type, [self], () => runUnary(kernel, op, self, type, compute, undefined, p0, p1, p2))
  }
  const result = isDense ? newOrGiven(out, self.shape, type) : resultTensor(out, self.shape, type, [self])
  const loop = isDense ? denseLoop(result.numel) : planLoop(result.shape, [result, self])
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
  return written(result, out)
}

/**
 * out = op(a, b) after conversion to the `common` dtype, as dtype `type`. At least one operand is a tensor; scalars
 * travel in the frame. `alpha` multiplies b in add and sub.
 */
export function runBinary(op: number, a: Operand, b: Operand, common: DType, type: DType, out: Tensor | undefined, alpha = 1): Tensor {
  const simple = simpleLoop(a, b, common, type, out)
  if (simple !== null) {
    const result = newOrGiven(out, (a as Tensor).shape, type)
    launchBinary(op, a, b, common, alpha, result, simple)
    return written(result, out)
  }
  // memory is shared with what the caller gave, whatever is read from
  const inputs = [a, b].filter((x) => x instanceof Tensor)
  const shape = inputs.length === 1 ? inputs[0]!.shape : broadcastShapes(inputs[0]!.shape, inputs[1]!.shape)
  if (isOfOther(out, type) && isNarrow(type)) {
    return byWayOf(out, shape, type, inputs, () => runBinary(op, a, b, common, type, undefined, alpha))
  }
  const x = a instanceof Tensor ? operandFor(a, common) : a
  const y = b instanceof Tensor ? operandFor(b, common) : b
  const result = binaryResult(op, a, b, shape, type, out)
  const operands = [result, x, y].filter((operand) => operand instanceof Tensor)
  launchBinary(op, x, y, common, alpha, result, planLoop(shape, operands))
  return written(result, out)
}

/** Powers have no number among the tensors whose order the result keeps, and those of a number none. */
function binaryResult(op: number, a: Operand, b: Operand, shape: readonly number[], type: DType, out: Tensor | undefined): Tensor {
  if (op !== kernels.BinaryOp.pow || (a instanceof Tensor && b instanceof Tensor)) return resultTensor(out, shape, type, [a, b])
  if (a instanceof Tensor) return resultTensor(out, shape, type, [a])
  if (out === undefined) return empty(shape, type)
  resizeOut(out, shape)
  return resultTensor(out, shape, type, [b])
}

/** The walk where `a` is dense and of the result's form, and `b` a scalar, of a's form too, or repeated along its leading dimensions; null for all else. */
function simpleLoop(a: Operand, b: Operand, common: DType, type: DType, out: Tensor | undefined): Loop | null {
  if (!(a instanceof Tensor) || a.type !== common || !a.isContiguous) return null
  if (out !== undefined && !isInPlace(out, a, type)) return null
  if (!(b instanceof Tensor)) return isRowMajor(a) ? denseLoop(a.numel) : null
  if (b.type !== common || !b.isContiguous || (out !== undefined && b.storage === a.storage)) return null
  if (sameShape(a.shape, b.shape)) return denseLoop(a.numel)
  return isTail(a.shape, b.shape) && isRowMajor(a) ? rowLoop(a.numel, b.numel) : null
}

/** Not only contiguous: every stride is as in a new tensor, those of dimensions of size 1, too, which decide where the result has them. */
function isRowMajor(a: Tensor): boolean {
  const { shape, strides } = a
  let step = 1
  for (let d = shape.length - 1; d >= 0; d--) {
    if (strides[d] !== step) return false
    step *= shape[d]!
  }
  return step > 0
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
const rows: Loop = { ndim: 2, n: 0, sizes: rowSizes, strides: [rowStrides, rowStrides, tailStrides] }

/** The walk of `n` dense elements beside `row` that repeat. */
function rowLoop(n: number, row: number): Loop {
  // one element repeats along one long row
  const length = row === 1 ? n : row
  rows.n = n
  rowSizes[0] = length
  rowSizes[1] = length === 0 ? 0 : n / length
  rowStrides[1] = length
  tailStrides[0] = row === 1 ? 0 : 1
  return rows
}

const NONE: readonly number[] = []
const NO_SCALAR: ScalarFields = { scalar: 0, low: 0, high: 0 }

function scalarFields(operand: Operand, common: DType): ScalarFields {
  return operand instanceof Tensor ? NO_SCALAR : numberFields(operand, common)
}

function launchBinary(op: number, a: Operand, b: Operand, common: DType, alpha: number, result: Tensor, loop: Loop): void {
  if (loop.n === 0) return
  const x = a instanceof Tensor ? a : null
  const y = b instanceof Tensor ? b : null
  const { scalar, low, high } = scalarFields(x === null ? a : b, common)
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
    scalar,
    low,
    high,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    a_strides: x === null ? NONE : loop.strides[1]!,
    b_strides: y === null ? NONE : loop.strides[x === null ? 1 : 2]!,
  })
}

/**
 * out = op(a, b, c); b and c may be scalars. `a` is read as it is (a condition may have any dtype) where `common` can
 * hold it. `value` is the factor of addcmul and addcdiv.
 */
export function runTernary(op: number, a: Tensor, b: Operand, c: Operand, common: DType, out: Tensor | undefined, value = 1): Tensor {
  const given = [a, b, c].filter((t): t is Tensor => t instanceof Tensor)
  let shape = a.shape
  for (const t of given) if (!sameShape(shape, t.shape)) shape = broadcastShapes(shape, t.shape)
  if (isOfOther(out, common) && isNarrow(common)) {
    return byWayOf(out, shape, common, given, () => runTernary(op, a, b, c, common, undefined, value))
  }
  const result = resultTensor(out, shape, common, op === kernels.TernaryOp.where ? [a, b, c] : given)
  const x = operandFor(a, common)
  const y = b instanceof Tensor ? operandFor(b, common) : null
  const z = c instanceof Tensor ? operandFor(c, common) : null
  const operands = [result, x]
  if (y !== null) operands.push(y)
  if (z !== null) operands.push(z)
  const loop = planLoop(shape, operands)
  if (loop.n === 0) return written(result, out)
  const bScalar = scalarFields(b, common)
  const cScalar = scalarFields(c, common)
  kernels.ternary({
    op,
    compute: computeFor(common),
    ndim: loop.ndim,
    out_dtype: result.type,
    a_dtype: x.type,
    b_dtype: y === null ? common : y.type,
    c_dtype: z === null ? common : z.type,
    b_low: bScalar.low,
    b_high: bScalar.high,
    c_low: cScalar.low,
    c_high: cScalar.high,
    n: loop.n,
    out: result.address,
    a: x.address,
    b: y === null ? 0 : y.address,
    c: z === null ? 0 : z.address,
    value,
    b_scalar: bScalar.scalar,
    c_scalar: cScalar.scalar,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    a_strides: loop.strides[1]!,
    b_strides: y === null ? NONE : loop.strides[2]!,
    c_strides: z === null ? NONE : loop.strides[y === null ? 2 : 3]!,
  })
  return written(result, out)
}
