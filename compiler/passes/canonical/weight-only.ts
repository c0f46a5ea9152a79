import { readTensor, writeTensor } from '../../../runtime/tensor/data.js'
import { DType, isFloat8, itemSize } from '../../../runtime/tensor/dtype.js'
import { isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { empty, type Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { callApart, derived } from '../../graph/evaluate.js'
import { NO_CLAMP } from '../../graph/fields.js'
import { type Arg, constant, type GraphNode, NONE, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import type { PackedWeight, RowRounding } from '../../graph/packed-weight.js'
import { type Analysis, analysisOf, integersArg, inputOf, isNone, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy } from '../expression.js'
import type { Pass } from '../pass.js'
import { byteProduct, roundedRows } from './row-rounding.js'
import { areBytes, floatsOfSteps, numbersOf } from './row-steps.js'
import { conversionOf, shownBy, turnedBy } from './rounded.js'

/** Above so many rows a product with float32 weights is faster, where there is memory for them. */
const MAX_ROWS = 16
/** Bytes that the weights of a graph may take as floats for that. */
const MAX_BYTES = 64 << 20

/**
 * Has products with weights of integers that become floats, as torchao leaves them, read the integers: of 8 bits, or of 4 where they are no larger, with a
 * scale and a zero point for each row or each group of one. Sums are taken in another order, as of all products. Rows that become bytes by their own range,
 * and floats again, are multiplied as bytes, exactly. Dequantization may be written step by step. Of 16 bits, rows are widened, and results rounded once; bytes
 * and integers that become numbers of 16 bits are rounded to these, by half a step of theirs at most, which products of them leave out.
 *
 *     %3 = torchao::dequantize_affine(%q, [1, 32], %scales, %zeros, int8, -8, 7, float32)
 *     %4 = aten::linear(%0, %3, %bias)          →    %4 = linear(input=%0, weight=(%q, "i4", %scales, %zeros, 32), bias=%bias)
 */
export const weightOnly: Pass = {
  name: 'weights of integers',
  run(graph) {
    const analysis = analysisOf(graph)
    const found = operatorsOf(graph).flatMap((node) => {
      const product = productOf(node, analysis)
      return product === null ? [] : [product]
    })
    const bytes = found.reduce((sum, { input, integers }) => sum + itemSize(analysis.type(input).dtype) * integers.numel, 0)
    const chosen = found.filter(({ count, rows }) => rows !== null || count <= MAX_ROWS || bytes > MAX_BYTES)
    if (chosen.length === 0) return graph
    const editor = new Editor(graph)
    const inputs: Inputs = new Map()
    let changed = false
    for (const product of chosen) {
      const layer = layerOf(product, inputs, analysis, editor)
      if (layer === null) continue
      changed = true
      editor.replaceNode(product.node, layer)
    }
    return changed ? editor.finish() : graph
  },
}

/** Whether a node makes floats of a constant of fewer bits, which a plan keeps where nothing reads the bits themselves. */
export function isDequantization(node: OperatorNode, analysis: Analysis): boolean {
  if (node.op === 'torchao::dequantize_affine') return true
  const id = node.op === 'aten::to.dtype' || node.op === 'aten::_to_copy' ? inputOf(node) : undefined
  const type = id === undefined ? undefined : analysis.type(id).dtype
  return type !== undefined && (type === DType.int8 || isFloat8(type))
}

/** A product of rows of floats with the transposition of a matrix of integers. */
interface Product {
  readonly node: OperatorNode
  readonly result: ValueId
  readonly input: ValueId
  /** How many rows there are. */
  readonly count: number
  /** How they become bytes; null where they stay floats. */
  readonly rows: RowRounding | null
  readonly integers: Tensor
  readonly source: ValueId
  readonly bias: Arg | null
  /** Of the groups of a row; null for 1 each. */
  readonly scales: ValueId | null
  /** Null for 0 each. */
  readonly zeros: ValueId | null
  readonly group: number
}

/** The largest finite number of each dtype that rows may have. */
const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  [DType.float32]: (2 - 2 ** -23) * 2 ** 127,
  [DType.bfloat16]: (2 - 2 ** -7) * 2 ** 127,
  [DType.float16]: (2 - 2 ** -10) * 2 ** 15,
}

function productOf(node: OperatorNode, analysis: Analysis): Product | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node)) return null
  const found = node.op === 'aten::mul.Tensor' ? ofBytes(node, analysis) : ofFloats(node, result, analysis)
  if (found === null || found.integers.dim !== 2 || !found.integers.isContiguous || found.integers.numel === 0) return null
  const { dtype, shape } = analysis.type(found.input)
  if (LARGEST[dtype] === undefined || shape.length === 0 || shape.includes(0)) return null
  return { node, result, count: numelOf(shape) / shape.at(-1)!, ...found }
}

type Operands = Omit<Product, 'node' | 'result' | 'count'>

function ofFloats(node: OperatorNode, result: ValueId, analysis: Analysis): Operands | null {
  const factors = factorsOf(node, analysis)
  if (factors === null) return null
  const { input, bias } = factors
  const { dtype } = analysis.type(input)
  if (analysis.type(result).dtype !== dtype) return null
  const rounded = roundedRows(input, analysis)
  const weight = factors.weight === undefined ? null : weightOf(factors.weight, rounded !== null, dtype, analysis)
  const found = weight ?? (factors.turned === undefined ? null : plainWeight(factors.turned, dtype, analysis))
  return found === null ? null : { input: rounded?.floats ?? input, rows: rounded?.rows ?? null, bias, ...found }
}

interface Factors {
  readonly input: ValueId
  /** The matrix [n, k]. */
  readonly weight: ValueId | undefined
  /** Its transposition, where the product takes that. */
  readonly turned: ValueId | undefined
  readonly bias: Arg | null
}

function factorsOf({ op, args }: OperatorNode, analysis: Analysis): Factors | null {
  const isSum = op === 'aten::addmm'
  if (op !== 'aten::linear' && op !== 'aten::mm' && !isSum) return null
  if (isSum && !(numberArg(args[3]) === 1 && numberArg(args[4]) === 1)) return null
  const [input, matrix] = args.slice(isSum ? 1 : 0).map(valueArg)
  if (input === undefined || matrix === undefined) return null
  if (op === 'aten::linear') return { input, weight: matrix, turned: undefined, bias: isNone(args[2]) ? null : args[2]! }
  return { input, weight: turnedBy(matrix, analysis), turned: matrix, bias: isSum ? args[0]! : null }
}

function ofBytes(node: OperatorNode, analysis: Analysis): Operands | null {
  const product = byteProduct(node, analysis)
  const integers = product === null ? undefined : analysis.tensor(product.weight)
  if (product === null || integers?.type !== DType.int8) return null
  const { floats: input, rows, weight: source, scales } = product
  if (scales !== null && analysis.type(scales).dtype !== DType.float32) return null
  // columns of the product
  if (integers.dim !== 2 || integers.shape[0] !== analysis.type(onlyResult(node)!).shape[1]) return null
  return { input, rows, bias: null, integers, source, scales, zeros: null, group: integers.shape[1]! }
}

type Weight = Pick<Product, 'integers' | 'source' | 'scales' | 'zeros' | 'group'>

/** A matrix of int8 that becomes floats of this dtype. Those of 16 bits are rounded, by as much as a result is; what would be infinite there stays as it is. */
function weightOf(id: ValueId, hasBytes: boolean, dtype: DType, analysis: Analysis): Weight | null {
  const weight =
    affineWeight(id, dtype, analysis) ??
    (dtype === DType.float32 ? decomposedWeight(id, hasBytes, analysis) : null) ??
    weightOfSteps(id, dtype, analysis)
  const scales = weight?.scales ?? null
  return dtype === DType.float32 || scales === null || staysFinite(analysis.tensor(scales)!, dtype) ? weight : null
}

/** Whether integers of 8 bits, less a zero point of as many, are finite numbers of a dtype with these scales. */
function staysFinite(scales: Tensor, dtype: DType): boolean {
  const most = LARGEST[dtype]! / MOST_MOVED
  return numbersOf(scales).every((scale) => Math.abs(scale) <= most)
}

/** The largest difference of two integers of 8 bits. */
const MOST_MOVED = 255

/** In groups of a row, as torchao's operator has it. */
function affineWeight(id: ValueId, dtype: DType, analysis: Analysis): Weight | null {
  const node = madeBy(value(id), analysis)
  if (node?.op !== 'torchao::dequantize_affine') return null
  const source = inputOf(node)
  const constantAt = (name: string): ValueId | undefined => {
    const at = valueArg(named(node, name))
    return at === undefined || analysis.tensor(at) === undefined ? undefined : at
  }
  const integers = source === undefined ? undefined : analysis.tensor(source)
  const scales = constantAt('scale')
  const zeros = isNone(named(node, 'zero_point')) ? null : constantAt('zero_point')
  const block = integersArg(named(node, 'block_size'))
  const isPlain = numberArg(named(node, 'output_dtype')) === dtype && isText(named(node, 'zero_point_domain'), 'INT')
  if (
    source === undefined ||
    integers?.type !== DType.int8 ||
    scales === undefined ||
    !isScale(analysis.type(scales).dtype, dtype) ||
    zeros === undefined ||
    !isPlain
  )
    return null
  if (block?.length !== 2 || block[0] !== 1 || integers.dim !== 2) return null
  return { integers, source, scales, zeros, group: block[1]! }
}

/** Whether scales of a dtype make numbers of another one: these are rounded once. */
function isScale(scales: DType, numbers: DType): boolean {
  return scales === numbers || scales === DType.float32
}

/** The same step by step. */
function weightOfSteps(id: ValueId, dtype: DType, analysis: Analysis): Weight | null {
  const floats = floatsOfSteps(id, analysis)
  if (floats === null || analysis.type(id).dtype !== dtype) return null
  const { scales, zeros, width: group } = floats
  const source = shownBy(floats.bytes, analysis)
  const integers = analysis.tensor(source)
  const isConstant = analysis.tensor(scales)?.type === dtype && (zeros === null || analysis.tensor(zeros) !== undefined)
  if (
    !isConstant ||
    integers?.type !== DType.int8 ||
    integers.dim !== 2 ||
    group < 2 ||
    !sameShape(integers.shape, analysis.type(id).shape)
  )
    return null
  return { integers, source, scales, zeros, group }
}

/**
 * The same as quantized_decomposed writes it: in groups of a row, or, where what it is multiplied with becomes bytes, too, by rows; with other inputs, these
 * are for the passes on integers.
 */
function decomposedWeight(id: ValueId, isByRows: boolean, analysis: Analysis): Weight | null {
  const node = madeBy(value(id), analysis)
  const isGrouped = node?.op === 'quantized_decomposed::dequantize_per_channel_group'
  if (node === undefined || (!isGrouped && !(isByRows && node.op === 'quantized_decomposed::dequantize_per_channel'))) return null
  const shownAt = (name: string): ValueId | undefined => {
    const id = valueArg(named(node, name))
    return id === undefined ? undefined : shownBy(id, analysis)
  }
  const [source, scales] = [inputOf(node), shownAt('scales')]
  const zeros = isNone(named(node, 'zero_points')) ? null : shownAt('zero_points')
  const integers = source === undefined ? undefined : analysis.tensor(source)
  if (source === undefined || integers?.type !== DType.int8 || integers.dim !== 2 || analysis.type(id).dtype !== DType.float32) return null
  if (scales === undefined || analysis.tensor(scales)?.type !== DType.float32 || zeros === undefined) return null
  if (zeros !== null && analysis.tensor(zeros) === undefined) return null
  const k = integers.shape[1]!
  if (!isGrouped) return numberArg(named(node, 'axis')) === 0 ? { integers, source, scales, zeros, group: k } : null
  const size = numberArg(named(node, 'group_size'))
  if (size === undefined || size < 2) return null
  // one scale for each row where groups are longer
  return { integers, source, scales, zeros, group: size > k && analysis.type(scales).shape.at(-1) === 1 ? k : size }
}

function isText(arg: Arg, text: string): boolean {
  return arg.kind === 'constant' && arg.value === text
}

/** The transposition of a matrix of int8 that was converted: all of these numbers are of either dtype. */
function plainWeight(id: ValueId, dtype: DType, analysis: Analysis): Weight | null {
  const turned = analysis.type(id).dtype === dtype ? conversionOf(id, analysis) : undefined
  const source = turned === undefined ? undefined : turnedBy(turned, analysis)
  const integers = source === undefined ? undefined : analysis.tensor(source)
  if (source === undefined || integers?.type !== DType.int8 || integers.dim !== 2) return null
  return { integers, source, scales: null, zeros: null, group: integers.shape[1]! }
}

/** Rows as layers take them, by the value and the shape that they are of. */
type Inputs = Map<string, ValueId>

/** A linear layer with the integers as its weight; null where no kernel reads such integers. */
function layerOf(product: Product, inputs: Inputs, analysis: Analysis, editor: Editor): GraphNode[] | null {
  const { node, result, input, rows, integers, source, bias, scales, zeros, group } = product
  const [n, k] = integers.shape as [number, number]
  const { shape, strides } = analysis.type(input)
  if (shape.at(-1) !== k) return null
  const count = n * (k / group)
  const isRow = group === k
  if (k % group !== 0 || (!isRow && group % 32 !== 0)) return null
  const fits = (id: ValueId): boolean => {
    const { shape, strides } = analysis.type(id)
    return numelOf(shape) === count && isContiguous(shape, strides)
  }
  if ((scales !== null && !fits(scales)) || (zeros !== null && !fits(zeros))) return null
  const added = bias === null ? null : valueArg(bias)
  if (added === undefined || (added !== null && !isBias(added, n, analysis))) return null
  const points = zeros === null ? null : pointsOf(zeros, analysis, editor)
  if (points === 'too large') return null
  const type = analysis.type(result)
  const wanted = [...type.shape.slice(0, -1), k]
  if (type.shape.at(-1) !== n || numelOf(wanted) !== numelOf(shape) || (!sameShape(wanted, shape) && !isContiguous(shape, strides)))
    return null
  const before: GraphNode[] = []
  const weight: PackedWeight = {
    values: source,
    format: isBetween(integers, -8, 7) ? 'i4' : 'i8',
    scales: scales ?? editor.addConstant(ones(integers, n), 'scales'),
    zeros: points,
    group: isRow ? 0 : group,
    rows,
  }
  const layer = {
    ...baseOf(node),
    kind: 'linear',
    input: inputOfLayer(product, wanted, inputs, before, analysis, editor),
    weight,
    bias: added === null || analysis.type(added).dtype === DType.float32 ? added : converted(added, DType.float32, node, before, editor),
    form: 'dense',
    clamp: NO_CLAMP,
    post: null,
  } as const
  if (type.dtype === DType.float32) return [...before, layer]
  const sums = editor.newValue({ ...type, dtype: DType.float32 })
  return [...before, { ...layer, results: [{ kind: 'value', id: sums }] }, conversion(sums, type.dtype, result, node)]
}

/** The rows in float32, in the dimensions of the product. */
function inputOfLayer(
  { node, input }: Product,
  wanted: readonly number[],
  inputs: Inputs,
  before: GraphNode[],
  analysis: Analysis,
  editor: Editor,
): ValueId {
  const key = `${input}:${wanted.join()}`
  const known = inputs.get(key)
  if (known !== undefined) return known
  let at = input
  const type = analysis.type(input)
  if (!sameShape(wanted, type.shape)) {
    const strides = wanted.map((_, d) => numelOf(wanted.slice(d + 1)))
    at = editor.newValue({ ...type, shape: wanted, strides }, editor.storageOf(input))
    before.push({
      ...baseOf(node),
      kind: 'operator',
      op: 'aten::reshape',
      args: [value(input), constant([...wanted])],
      results: [{ kind: 'value', id: at }],
    })
  }
  if (type.dtype !== DType.float32) at = converted(at, DType.float32, node, before, editor)
  inputs.set(key, at)
  return at
}

/** A value of another dtype, made before a node. */
function converted(id: ValueId, dtype: DType, node: OperatorNode, before: GraphNode[], editor: Editor): ValueId {
  const made = editor.newValue({ ...editor.typeOf(id), dtype })
  before.push(conversion(id, dtype, made, node))
  return made
}

function conversion(from: ValueId, dtype: DType, to: ValueId, node: OperatorNode): OperatorNode {
  const args = [value(from), constant(dtype), constant(false), constant(false), NONE]
  return { ...baseOf(node), kind: 'operator', op: 'aten::to.dtype', args, results: [{ kind: 'value', id: to }] }
}

function isBias(id: ValueId, n: number, analysis: Analysis): boolean {
  const { dtype, shape, strides } = analysis.type(id)
  return LARGEST[dtype] !== undefined && shape.length === 1 && shape[0] === n && isContiguous(shape, strides)
}

/** Zero points as kernels take them; null where all of them are 0. */
function pointsOf(id: ValueId, analysis: Analysis, editor: Editor): ValueId | 'too large' | null {
  const zeros = analysis.tensor(id)!
  const numbers = numbersOf(zeros)
  if (numbers.every((zero) => zero === 0)) return null
  if (!areBytes(numbers)) return 'too large'
  if (zeros.type === DType.int8) return id
  return editor.addConstant(
    shared('zero points of 8 bits', zeros, () => filled(zeros.shape, DType.int8, Int8Array.from(numbers))),
    'zero points',
  )
}

function ones(integers: Tensor, n: number): Tensor {
  return shared('scales of 1', integers, () => filled([n], DType.float32, new Float32Array(n).fill(1)))
}

/** What is made of a constant, which plans of several forms share. */
function shared(name: string, constant: Tensor, make: () => Tensor): Tensor {
  return (derived(name, [constant], () => [make()]) as [Tensor])[0]
}

function filled(shape: readonly number[], type: DType, data: Int8Array | Float32Array): Tensor {
  const made = empty([...shape], type)
  writeTensor(made, data)
  made.pinned = true
  return made
}

function isBetween(integers: Tensor, least: number, greatest: number): boolean {
  const [low] = callApart('aten::amin', [integers, [], false]) as [Tensor]
  const [high] = callApart('aten::amax', [integers, [], false]) as [Tensor]
  const isInside = Number(readTensor(low)[0]) >= least && Number(readTensor(high)[0]) <= greatest
  low.release()
  high.release()
  return isInside
}
