import { DType } from '../../../runtime/tensor/dtype.js'
import { elementValue, readTensor } from '../../../runtime/tensor/data.js'
import { numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { type Arg, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, integersArg, inputOf, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { clampOf, madeBy, scalarOf } from '../expression.js'
import { conversionOf, kindOf, leastScale, MOST, type Rounded, shownBy } from './rounded.js'

/* Quantization as torchao's operators compute it and run_decompositions() writes it: extremes, a quotient, a rounding. Each step has to be there, with its dtype. */

/** The rows that bytes are made of, element by element; null for other bytes. */
export function bytesOfSteps(id: ValueId, analysis: Analysis): Rounded | null {
  if (analysis.type(id).dtype !== DType.int8) return null
  const numbers = conversionOf(id, analysis)
  const bounded = numbers === undefined ? null : clampOf(value(shownBy(numbers, analysis)), analysis)
  if (bounded === null || bounded.max !== MOST) return null
  const least = bounded.min
  const moved = sumOf(bounded.term, analysis)
  const quotients = moved === null ? madeBy(bounded.term, analysis) : madeBy(moved.term, analysis)
  const product = quotients?.op === 'aten::round' ? madeBy(quotients.args[0], analysis) : undefined
  const [floats, inverse] = product?.op === 'aten::mul.Tensor' ? product.args.map(valueArg) : []
  if (floats === undefined || inverse === undefined) return null
  const { dtype, shape } = analysis.type(floats)
  const width = shape.at(-1)
  const steps = [valueArg(bounded.term)!, onlyResult(quotients!)!, onlyResult(product!)!].map((step) => analysis.type(step))
  const type = steps[2]!.dtype
  if (!steps.every((step) => step.dtype === type && sameShape(step.shape, shape)) || !isOfRows(inverse, shape, analysis)) return null
  const scales = reciprocalOf(inverse, analysis)
  if (width === undefined || scales === null || analysis.type(scales).dtype !== type) return null
  const chosen = scaleOf(scales, dtype, analysis)
  if (chosen === null || chosen.width !== width || shownBy(floats, analysis) !== shownBy(chosen.rows, analysis)) return null
  const kind = kindOf(chosen.isSymmetric, dtype, type)
  const eps = leastScale(chosen.eps, dtype)
  if (kind === null || eps === null || !isDivided(chosen, least)) return null
  const zeros = moved === null ? null : integersOf(moved.zeros, analysis)
  const isMoved = zeros === null ? chosen.isSymmetric : isZeroPoint(zeros, chosen, least, analysis)
  if (!isMoved || (moved !== null && !chosen.isSymmetric && !isOfRows(moved.zeros, shape, analysis))) return null
  const whole = shownBy(floats, analysis)
  return { floats: analysis.type(whole).shape.at(-1) === width ? whole : floats, rows: { kind, least, eps }, scales, zeros }
}

/** Bytes that become floats again, and by what; null for other values. */
interface Floats {
  readonly bytes: ValueId
  readonly scales: ValueId
  readonly zeros: ValueId | null
  /** How many numbers share a scale and a zero point. */
  readonly width: number
}

/** What floats of a dtype are, where each is a byte, less its zero point, times its scale. */
export function floatsOfSteps(id: ValueId, analysis: Analysis): Floats | null {
  const node = madeBy(value(shownBy(id, analysis)), analysis)
  const [moved, scales] = node?.op === 'aten::mul.Tensor' ? node.args.map(valueArg) : []
  if (moved === undefined || scales === undefined) return null
  const { dtype, shape } = analysis.type(onlyResult(node!)!)
  const difference = madeBy(value(moved), analysis)
  const isMoved = difference?.op === 'aten::sub.Tensor' && numberArg(difference.args[2]) === 1
  const [numbers, zeros] = isMoved ? difference.args.map(valueArg) : [moved, null]
  const bytes = numbers === undefined ? undefined : conversionOf(numbers, analysis)
  if (numbers === undefined || bytes === undefined || zeros === undefined || analysis.type(bytes).dtype !== DType.int8) return null
  const parts = [numbers, moved].map((part) => analysis.type(part))
  if (!parts.every((part) => part.dtype === dtype && sameShape(part.shape, shape)) || analysis.type(scales).dtype !== dtype) return null
  if (!isOfRows(scales, shape, analysis) || (zeros !== null && !isOfRows(zeros, shape, analysis))) return null
  const width = shape.at(-1)
  if (width === undefined || (zeros !== null && analysis.type(zeros).dtype !== dtype)) return null
  return { bytes, scales: shownBy(scales, analysis), zeros: zeros === null ? null : integersOf(zeros, analysis), width }
}

/** Whether a value has a number for each row of a shape. */
function isOfRows(id: ValueId, shape: readonly number[], analysis: Analysis): boolean {
  return sameShape(analysis.type(id).shape, [...shape.slice(0, -1), 1])
}

/** The elements of a constant, in order. */
export function numbersOf(t: Tensor): number[] {
  return Array.from<number | bigint, number>(readTensor(t), (raw) => Number(elementValue(raw, t.type)))
}

/** Whether all are integers of 8 bits, which every dtype that they are converted to holds. */
export function areBytes(numbers: readonly number[]): boolean {
  return numbers.every((number) => Number.isInteger(number) && number >= -128 && number <= 127)
}

/** The integers that a value is, whatever dtype they are converted to: all that zero points are converted to holds them. */
function integersOf(id: ValueId, analysis: Analysis): ValueId {
  const shown = shownBy(id, analysis)
  const source = conversionOf(shown, analysis)
  return source === undefined || !EXACT.has(analysis.type(shown).dtype) ? shown : integersOf(source, analysis)
}

/** What has all integers of 8 bits. */
const EXACT: ReadonlySet<DType> = new Set([
  ...[DType.int8, DType.int16, DType.int32, DType.int64],
  ...[DType.float32, DType.float64, DType.bfloat16, DType.float16],
])

/** Quotients, and the zero points that are added to them. */
function sumOf(arg: Arg, analysis: Analysis): { readonly term: Arg; readonly zeros: ValueId } | null {
  const node = madeBy(arg, analysis)
  if (node?.op !== 'aten::add.Tensor' || numberArg(node.args[2]) !== 1) return null
  const zeros = valueArg(node.args[1])
  return zeros === undefined ? null : { term: node.args[0]!, zeros }
}

/** What 1 is divided by. */
function reciprocalOf(id: ValueId, analysis: Analysis): ValueId | null {
  const node = madeBy(value(shownBy(id, analysis)), analysis)
  if (node?.op === 'aten::mul.Scalar') {
    const factor = inputOf(node)
    return factor !== undefined && numberArg(node.args[1]) === 1 ? reciprocalOf(factor, analysis) : null
  }
  const scales = node?.op === 'aten::reciprocal' ? inputOf(node) : undefined
  return scales === undefined ? null : shownBy(scales, analysis)
}

/** Scales of rows: a range divided by a number, or `eps` where that is more. */
interface Scale {
  /** The scales in the dtype of the rows. */
  readonly id: ValueId
  readonly rows: ValueId
  readonly width: number
  readonly isSymmetric: boolean
  /** The least number of a row, or 0. */
  readonly low: ValueId
  readonly divisor: number
  readonly eps: number
}

function scaleOf(id: ValueId, dtype: DType, analysis: Analysis): Scale | null {
  const source = analysis.type(id).dtype === dtype ? id : conversionOf(id, analysis)
  if (source === undefined) return null
  const scale = shownBy(source, analysis)
  const bounded = madeBy(value(scale), analysis)
  const [eps, most] = boundsOf(bounded)
  const quotient = eps === undefined || most !== undefined ? undefined : madeBy(bounded!.args[0], analysis)
  if (eps === undefined || quotient === undefined || !/^aten::div\.(Scalar|Tensor)$/.test(quotient.op)) return null
  const divisor = scalarOf(quotient.args[1], analysis)
  const range = madeBy(quotient.args[0], analysis)
  const extremes = range === undefined ? null : rangeOf(range, analysis)
  if (divisor === undefined || extremes === null) return null
  const [low, high] = [extremeOf(extremes.low, LEAST, analysis), extremeOf(extremes.high, GREATEST, analysis)]
  if (low === null || high === null || low.rows !== high.rows) return null
  const parts = [scale, onlyResult(quotient)!, onlyResult(range!)!, extremes.low, extremes.high]
  if (!parts.every((part) => analysis.type(part).dtype === dtype)) return null
  return { id: scale, ...low, isSymmetric: extremes.isSymmetric, low: shownBy(extremes.low, analysis), divisor, eps }
}

/** Whether the range is divided into all bytes from the least one on. */
function isDivided({ isSymmetric, divisor }: Scale, least: number): boolean {
  // others have another middle than 0
  if (isSymmetric) return (least === -128 || least === -127) && divisor === (MOST - least) / 2
  return Number.isInteger(least) && least >= -128 && least < 0 && divisor === MOST - least
}

interface Extremes {
  readonly isSymmetric: boolean
  readonly low: ValueId
  readonly high: ValueId
}

function rangeOf(node: OperatorNode, analysis: Analysis): Extremes | null {
  const [first, second] = node.args.map(valueArg)
  if (first === undefined || second === undefined) return null
  if (node.op === 'aten::sub.Tensor') return numberArg(node.args[2]) === 1 ? { isSymmetric: false, low: second, high: first } : null
  const negated = node.op === 'aten::maximum' ? madeBy(value(first), analysis) : undefined
  const low = negated?.op === 'aten::neg' ? inputOf(negated) : undefined
  return low === undefined ? null : { isSymmetric: true, low, high: second }
}

/** An extreme and the operator that bounds it by 0. */
const LEAST = { op: 'aten::amin', bound: 'aten::minimum', side: 1 } as const
const GREATEST = { op: 'aten::amax', bound: 'aten::maximum', side: 0 } as const

/** The rows whose extremes a value is, or 0 where these are beyond it. */
function extremeOf(
  id: ValueId,
  { op, bound, side }: typeof LEAST | typeof GREATEST,
  analysis: Analysis,
): Pick<Scale, 'rows' | 'width'> | null {
  const node = madeBy(value(shownBy(id, analysis)), analysis)
  if (node === undefined) return null
  const bounds = boundsOf(node)
  const isBounded = node.op === bound ? isZero(valueArg(node.args[1]), analysis) : bounds[side] === 0 && bounds[1 - side] === undefined
  const extreme = isBounded ? madeBy(node.args[0], analysis) : undefined
  const rows = extreme?.op === op ? inputOf(extreme) : undefined
  if (rows === undefined) return null
  const { shape } = analysis.type(rows)
  const dims = integersArg(extreme!.args[1])
  const isLast = dims?.length === 1 && (dims[0] === -1 || dims[0] === shape.length - 1) && numelOf(shape) > 0
  return isLast ? { rows, width: shape.at(-1)! } : null
}

/** The bounds of a clamp by numbers; undefined for one that it lacks, and for other nodes. */
function boundsOf(node: OperatorNode | undefined): readonly [least: number | undefined, most: number | undefined] {
  if (node?.op === 'aten::clamp_min') return [numberArg(node.args[1]), undefined]
  if (node?.op === 'aten::clamp_max') return [undefined, numberArg(node.args[1])]
  if (node?.op !== 'aten::clamp') return [undefined, undefined]
  const [least, most] = node.args.slice(1).map((arg) => (isNone(arg) ? undefined : (numberArg(arg) ?? NaN)))
  return [least, most]
}

/** Whether all elements of a value are 0. */
function isZero(id: ValueId | undefined, analysis: Analysis): boolean {
  const node = id === undefined ? undefined : madeBy(value(shownBy(id, analysis)), analysis)
  if (node?.op === 'aten::zeros_like' || node?.op === 'aten::zeros') return true
  return (node?.op === 'aten::full_like' || node?.op === 'aten::full') && numberArg(node.args[1]) === 0
}

/** Whether integers are the zero points of rows with these scales. */
function isZeroPoint(id: ValueId, { isSymmetric, low, id: scale }: Scale, least: number, analysis: Analysis): boolean {
  if (isSymmetric) return isZero(id, analysis)
  const bounded = clampOf(value(id), analysis)
  if (bounded?.min !== least || bounded.max !== MOST) return false
  const difference = madeBy(bounded.term, analysis)
  let rounded: Arg | undefined
  if (difference?.op === 'aten::sub.Tensor' && numberArg(difference.args[2]) === 1) {
    const from = madeBy(difference.args[0], analysis)
    if (from?.op === 'aten::scalar_tensor' && numberArg(from.args[0]) === least) rounded = difference.args[1]
  } else if (difference?.op === 'aten::rsub.Scalar' && numberArg(difference.args[1]) === least && numberArg(difference.args[2]) === 1) {
    rounded = difference.args[0]
  }
  const rounding = rounded === undefined ? undefined : madeBy(rounded, analysis)
  const quotient = rounding?.op === 'aten::round' ? madeBy(rounding.args[0], analysis) : undefined
  if (quotient?.op !== 'aten::div.Tensor') return false
  const [of, by] = quotient.args.map(valueArg)
  if (of === undefined || by === undefined || shownBy(of, analysis) !== low || shownBy(by, analysis) !== scale) return false
  const parts = [valueArg(bounded.term)!, onlyResult(rounding!)!, onlyResult(quotient)!, of, by].map((part) => analysis.type(part))
  return parts.every(({ dtype, shape }) => dtype === analysis.type(scale).dtype && sameShape(shape, parts[0]!.shape))
}
