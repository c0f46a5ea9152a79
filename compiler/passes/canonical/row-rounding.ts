import { DType } from '../../../runtime/tensor/dtype.js'
import { named } from '../../graph/arguments.js'
import { type Arg, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import type { RowRounding } from '../../graph/packed-weight.js'
import { type Analysis, integersArg, inputOf, isFlag, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { madeBy } from '../expression.js'
import { bytesOfSteps, floatsOfSteps } from './row-steps.js'
import { conversionOf, kindOf, leastScale, LEAST_NORMAL, MOST, type Rounded, shownBy, turnedBy } from './rounded.js'

/*
 * Rows that become bytes by their own range, each with one scale, as torchao and quantized_decomposed write it, in operators of their own or step by step. Kernels
 * round them in the same arithmetic, that of bfloat16 among it.
 */

/** The floats that a value is, rounded to bytes row by row; null for any other value. */
export function roundedRows(id: ValueId, analysis: Analysis): Pick<Rounded, 'floats' | 'rows'> | null {
  return ofOperators(id, analysis) ?? ofSteps(id, analysis)
}

function ofOperators(id: ValueId, analysis: Analysis): Rounded | null {
  const node = madeBy(value(id), analysis)
  const bytes = inputOf(node)
  const rounded = bytes === undefined ? null : bytesOfOperators(bytes, analysis)
  if (node === undefined || rounded === null || !isOwnDtype(id, rounded, analysis)) return null
  const places = ROUNDERS[node.op.replace('::dequantize', '::quantize')]
  if (!/::dequantize_(?:affine|per_token)$/.test(node.op) || places === undefined) return null
  const [scales, zeros] = [valueArg(named(node, places.scales)), zerosOf(named(node, places.zeros))]
  if (scales !== rounded.scales || zeros !== rounded.zeros) return null
  return isOfRows(node, bytes!, rounded.rows, 'input_dtype', analysis) ? rounded : null
}

function ofSteps(id: ValueId, analysis: Analysis): Rounded | null {
  const floats = floatsOfSteps(id, analysis)
  const rounded = floats === null ? null : bytesOfSteps(shownBy(floats.bytes, analysis), analysis)
  if (floats === null || rounded === null || !isOwnDtype(id, rounded, analysis)) return null
  const isSame =
    floats.scales === rounded.scales &&
    (floats.zeros ?? rounded.zeros) === rounded.zeros &&
    (floats.zeros !== null || rounded.rows.kind.startsWith('symmetric')) &&
    floats.width === analysis.type(rounded.floats).shape.at(-1)
  return isSame ? rounded : null
}

/**
 * Whether bytes become floats of the dtype that they are made of. Those of bfloat16 are rounded once more, by half a step of the bytes at most, which products
 * of bytes leave out.
 */
function isOwnDtype(id: ValueId, { floats, rows }: Rounded, analysis: Analysis): boolean {
  return analysis.type(id).dtype === analysis.type(floats).dtype && rows.kind !== 'symmetric_widened'
}

/** What bytes are made of, and by what. */
export function rowsOfBytes(id: ValueId, analysis: Analysis): Rounded | null {
  return bytesOfOperators(id, analysis) ?? bytesOfSteps(id, analysis)
}

function bytesOfOperators(id: ValueId, analysis: Analysis): Rounded | null {
  const node = madeBy(value(id), analysis)
  const floats = inputOf(node)
  const places = node === undefined ? undefined : ROUNDERS[node.op]
  if (node === undefined || floats === undefined || places === undefined) return null
  const [scales, zeros] = [valueArg(named(node, places.scales)), zerosOf(named(node, places.zeros))]
  const { dtype, shape } = analysis.type(floats)
  if (scales === undefined || zeros === undefined || shape.length === 0 || shape.includes(0)) return null
  if (dtype !== DType.float32 && (dtype !== DType.bfloat16 || !node.op.startsWith('torchao::'))) return null
  const chooser = analysis.producer(scales)
  if (chooser?.kind !== 'operator' || !analysis.isPure(chooser) || inputOf(chooser) !== floats) return null
  const [first, second] = chooser.results
  if (first?.kind !== 'value' || first.id !== scales || second?.kind !== 'value' || (zeros !== null && second.id !== zeros)) return null
  const rows = CHOOSERS[chooser.op]?.(chooser, floats, analysis)
  if (rows === undefined || rows === null || (zeros === null && !rows.kind.startsWith('symmetric'))) return null
  if (node.op.startsWith('torchao::') !== chooser.op.startsWith('torchao::')) return null
  return isOfRows(node, floats, rows, 'output_dtype', analysis) ? { floats, rows, scales, zeros } : null
}

/** By operator, what its scales and zero points are called. */
const ROUNDERS: Readonly<Record<string, { readonly scales: string; readonly zeros: string }>> = {
  'torchao::quantize_affine': { scales: 'scale', zeros: 'zero_point' },
  'quantized_decomposed::quantize_per_token': { scales: 'scales', zeros: 'zero_points' },
}

type Chooser = (node: OperatorNode, floats: ValueId, analysis: Analysis) => RowRounding | null

/** float32's next number. */
const EPSILON = 2 ** -23

const asymmetricTokens: Chooser = () => ({ kind: 'tokens', least: -128, eps: EPSILON })

/** Operators that choose scales and zero points. */
const CHOOSERS: Readonly<Record<string, Chooser>> = {
  'torchao::choose_qparams_affine': affineRows,
  'quantized_decomposed::choose_qparams_per_token_asymmetric': asymmetricTokens,
  'quantized_decomposed::_choose_qparams_per_token_asymmetric_impl': asymmetricTokens,
  // the largest magnitude is at least 1e-5, and becomes 127
  'quantized_decomposed::choose_qparams_per_token': (node) =>
    numberArg(node.args[1]) === DType.int8 ? { kind: 'symmetric', least: -127, eps: Math.fround(Math.fround(1e-5) / 127) } : null,
}

function affineRows(node: OperatorNode, floats: ValueId, analysis: Analysis): RowRounding | null {
  const mapping = textOf(named(node, 'mapping_type'))
  const { dtype } = analysis.type(floats)
  const [least, greatest] = [numberOr(named(node, 'quant_min'), -128), numberOr(named(node, 'quant_max'), MOST)]
  const eps = leastScale(numberOr(named(node, 'eps'), LEAST_NORMAL) ?? 0, dtype)
  const scaleType = numberOr(named(node, 'scale_dtype'), dtype)
  const zeroType = numberOr(named(node, 'zero_point_dtype'), DType.int32)
  const kind = scaleType === undefined ? null : kindOf(mapping === 'SYMMETRIC', dtype, scaleType as DType)
  const isPlain =
    numberArg(named(node, 'target_dtype')) === DType.int8 &&
    greatest === MOST &&
    ZERO_TYPES.has(zeroType!) &&
    textOf(named(node, 'zero_point_domain')) === 'INT' &&
    isFlag(named(node, 'preserve_zero'), true)
  if (!isPlain || kind === null || least === undefined || !isRow(node, floats, analysis) || eps === null) return null
  if (mapping === 'ASYMMETRIC' && Number.isInteger(least) && least >= -128 && least < 0) return { kind, least, eps }
  // others have another middle than 0
  return mapping === 'SYMMETRIC' && (least === -128 || least === -127) ? { kind, least, eps } : null
}

/** What has all zero points. */
const ZERO_TYPES: ReadonlySet<number> = new Set([DType.int8, DType.int16, DType.int32, DType.int64, DType.float32])

/** Whether a call that makes bytes or floats goes by rows and by these bounds. */
function isOfRows(node: OperatorNode, input: ValueId, { kind, least }: RowRounding, type: string, analysis: Analysis): boolean {
  if (!node.op.startsWith('torchao::')) {
    // magnitudes of up to 127 are within these bounds
    const isWhole = numberArg(named(node, 'quant_min')) === -128 || (kind === 'symmetric' && numberArg(named(node, 'quant_min')) === -127)
    return isWhole && numberArg(named(node, 'quant_max')) === MOST && numberArg(named(node, 'dtype')) === DType.int8
  }
  return (
    numberArg(named(node, type)) === DType.int8 &&
    numberOr(named(node, 'quant_min'), -128) === least &&
    numberOr(named(node, 'quant_max'), MOST) === MOST &&
    textOf(named(node, 'zero_point_domain')) === 'INT' &&
    isRow(node, input, analysis)
  )
}

/** Whether the blocks of a call are rows of its input. */
function isRow(node: OperatorNode, input: ValueId, analysis: Analysis): boolean {
  const { shape } = analysis.type(input)
  const block = integersArg(named(node, 'block_size'))
  // a block of one element is no block to torchao
  return shape.at(-1)! > 1 && block?.length === shape.length && block.every((size, d) => size === (d === shape.length - 1 ? shape[d] : 1))
}

/** The scales' zero points: a value, null where there are none, undefined for anything else. */
function zerosOf(arg: Arg): ValueId | null | undefined {
  return isNone(arg) ? null : valueArg(arg)
}

function textOf(arg: Arg): string | undefined {
  return arg.kind === 'constant' && typeof arg.value === 'string' ? arg.value : undefined
}

/** A number, or another one for None. */
function numberOr(arg: Arg, none: number): number | undefined {
  return isNone(arg) ? none : numberArg(arg)
}

/** A product of rows as bytes with a transposed matrix of bytes, times the scales of rows and those of the matrix's rows, as torchao writes it. */
export interface ByteProduct {
  readonly floats: ValueId
  readonly rows: RowRounding
  /** Of the bytes [n, k]. */
  readonly weight: ValueId
  /** Of the weight's rows; null for 1 each. */
  readonly scales: ValueId | null
}

/** The product that a node ends; null for other nodes. Where its two factors meet in another dtype, it ends with that of the rows. */
export function byteProduct(node: OperatorNode, analysis: Analysis): ByteProduct | null {
  const whole = wholeProduct(node, analysis)
  if (whole !== null) return whole
  const result = onlyResult(node)
  const reader = result === undefined ? undefined : analysis.onlyReader(result)
  return reader?.kind === 'operator' && wholeProduct(reader, analysis) !== null ? null : productOfRows(node, analysis)
}

function wholeProduct(node: OperatorNode, analysis: Analysis): ByteProduct | null {
  const [ofRows, scales] = factorsOf(node)
  const product = ofRows === undefined ? null : productOfRows(madeBy(value(ofRows), analysis), analysis)
  const result = onlyResult(node)
  if (product === null || scales === undefined || result === undefined) return null
  const n = analysis.type(ofRows!).shape[1]
  const constant = shownBy(scales, analysis)
  const { shape: widths, dtype } = analysis.type(scales)
  if (dtype !== DType.float32 || analysis.type(result).dtype !== DType.float32) return null
  if (analysis.tensor(constant) === undefined || widths.at(-1) !== n || widths.length > 2 || widths.slice(0, -1).some((size) => size !== 1))
    return null
  return { ...product, scales: constant }
}

/** The same without the scales of the matrix's rows. */
function productOfRows(node: OperatorNode | undefined, analysis: Analysis): ByteProduct | null {
  const [sums, rowScales] = factorsOf(node)
  if (sums === undefined || rowScales === undefined) return null
  const from = conversionOf(sums, analysis)
  if (from === undefined || analysis.type(sums).dtype !== DType.float32) return null
  const [bytes, turned] = sumsOf(madeBy(value(from), analysis), analysis) ?? []
  const weight = turned === undefined ? undefined : turnedBy(turned, analysis)
  const result = onlyResult(node!)
  if (bytes === undefined || weight === undefined || result === undefined) return null
  const rounded = rowsOfBytes(shownBy(bytes, analysis), analysis)
  const isSymmetric = rounded?.rows.kind === 'symmetric' || rounded?.rows.kind === 'symmetric_widened'
  if (rounded === null || !isSymmetric || shownBy(rowScales, analysis) !== rounded.scales) return null
  const [integers, matrix, of] = [bytes, result, rowScales].map((id) => analysis.type(id).shape)
  const k = analysis.type(rounded.floats).shape.at(-1)
  const [m] = matrix as [number]
  if (matrix!.length !== 2 || integers!.join() !== `${m},${k}` || of!.join() !== `${m},1`) return null
  return { floats: rounded.floats, rows: rounded.rows, weight, scales: null }
}

/** The bytes and the matrix of a product; what is added to bytes for kernels that take them without a sign, and taken from sums again, is left out. */
function sumsOf(node: OperatorNode | undefined, analysis: Analysis): [bytes: ValueId, matrix: ValueId] | null {
  if (node?.op === 'aten::_int_mm') {
    const [bytes, matrix] = node.args.map(valueArg)
    return bytes === undefined || matrix === undefined || analysis.type(bytes).dtype !== DType.int8 ? null : [bytes, matrix]
  }
  if (node?.op !== 'aten::sub.Tensor' || numberArg(node.args[2]) !== 1) return null
  const [product, rest] = node.args.map((arg) => madeBy(arg, analysis))
  if (product?.op !== 'aten::_int_mm' || rest?.op !== 'aten::mul.Scalar' || numberArg(rest.args[1]) !== UP) return null
  const moved = convertedTo(product.args[0], DType.uint8, analysis)
  if (moved?.op !== 'aten::add.Scalar' || numberArg(moved.args[1]) !== UP || numberArg(moved.args[2]) !== 1) return null
  const widened = madeBy(moved.args[0], analysis)
  const bytes = widened === undefined || convertedTo(moved.args[0], DType.int32, analysis) === null ? undefined : inputOf(widened)
  const sum = madeBy(rest.args[0], analysis)
  const matrix = valueArg(product.args[1])
  const isOfRows =
    sum?.op === 'aten::sum.dim_IntList' &&
    valueArg(sum.args[0]) === matrix &&
    integersArg(sum.args[1])?.join() === '0' &&
    isFlag(sum.args[2]!, true) &&
    numberArg(sum.args[3]) === DType.int32
  if (bytes === undefined || matrix === undefined || !isOfRows || analysis.type(bytes).dtype !== DType.int8) return null
  return [bytes, matrix]
}

/** What is added to bytes that have no sign. */
const UP = 128

/** What a conversion to a dtype converts; undefined for what nothing makes, null for other nodes. */
function convertedTo(arg: Arg | undefined, dtype: DType, analysis: Analysis): OperatorNode | undefined | null {
  const node = madeBy(arg, analysis)
  if (node?.op !== 'aten::to.dtype' && node?.op !== 'aten::_to_copy') return null
  return analysis.type(onlyResult(node)!).dtype === dtype ? madeBy(node.args[0], analysis) : null
}

function factorsOf(node: OperatorNode | undefined): (ValueId | undefined)[] {
  return node?.op === 'aten::mul.Tensor' ? node.args.map(valueArg) : []
}
