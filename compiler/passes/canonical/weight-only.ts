import { readTensor, writeTensor } from '../../../runtime/tensor/data.js'
import { DType, isFloat8 } from '../../../runtime/tensor/dtype.js'
import { isContiguous, numelOf } from '../../../runtime/tensor/shape.js'
import { empty, type Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { callApart, derived } from '../../graph/evaluate.js'
import { type Arg, constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { Analysis, integersArg, inputOf, isNone, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy } from '../expression.js'
import { Builder } from '../integers/builder.js'
import type { Pass } from '../pass.js'

/** Above so many rows a product with float32 weights is faster, where there is memory for them. */
const MAX_ROWS = 16
/** Bytes that the weights of a graph may take in float32 for that. */
const MAX_BYTES = 64 << 20
/** Elements of a row that kernels of 4 bits have a scale for. */
const GROUPS = [32, 64, 128, 256]

/**
 * Has products with weights of integers that become floats, as torchao leaves them, read the integers: of 8 bits with a scale for each row, and of 4 bits
 * with a scale and a zero point for each group of a row. Sums are taken in another order, as of all products.
 *
 *     %3 = torchao::dequantize_affine(%q, [1, 32], %scales, None, int8, -8, 7, float32)
 *     %4 = aten::linear(%0, %3, %bias)          →    %5 = aten::_weight_int4pack_mm_for_cpu(%0, %packed, 32, %scales)
 *                                                    %4 = aten::add.Tensor(%5, %bias, 1)
 */
export const weightOnly: Pass = {
  name: 'weights of integers',
  run(graph) {
    const analysis = new Analysis(graph)
    const found = operatorsOf(graph).flatMap((node) => {
      const product = productOf(node, analysis)
      return product === null ? [] : [product]
    })
    const bytes = found.reduce((sum, { integers }) => sum + 4 * integers.numel, 0)
    const chosen = found.filter(({ rows }) => rows <= MAX_ROWS || bytes > MAX_BYTES)
    if (chosen.length === 0) return graph
    const editor = new Editor(graph)
    const builder = new Builder(analysis, editor)
    let changed = false
    for (const product of chosen) {
      builder.begin(product.node)
      const result = rewritten(product, builder)
      if (result === null) continue
      changed = true
      editor.replaceValue(product.result, result)
      editor.replaceNode(product.node, builder.take())
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

/** A product of rows of float32 with the transposition of a matrix of integers. */
interface Product {
  readonly node: OperatorNode
  readonly result: ValueId
  readonly input: ValueId
  readonly rows: number
  readonly integers: Tensor
  readonly source: ValueId
  readonly bias: Arg | null
  /** Of the groups of a row; null for 1 each. */
  readonly scales: Tensor | null
  readonly zeros: Tensor | null
  readonly group: number
}

function productOf(node: OperatorNode, analysis: Analysis): Product | null {
  if ((node.op !== 'aten::linear' && node.op !== 'aten::mm') || !analysis.isPure(node)) return null
  const [input, matrix] = node.args.map(valueArg)
  const result = onlyResult(node)
  if (input === undefined || matrix === undefined || result === undefined) return null
  const { dtype, shape } = analysis.type(input)
  if (dtype !== DType.float32 || shape.length === 0 || shape.includes(0)) return null
  const weight = node.op === 'aten::linear' ? affineWeight(matrix, analysis) : plainWeight(matrix, analysis)
  if (weight === null || weight.integers.dim !== 2 || !weight.integers.isContiguous || weight.integers.numel === 0) return null
  const bias = node.op === 'aten::linear' && !isNone(node.args[2]) ? node.args[2]! : null
  return { node, result, input, rows: numelOf(shape) / shape.at(-1)!, bias, ...weight }
}

type Weight = Pick<Product, 'integers' | 'source' | 'scales' | 'zeros' | 'group'>

/** A matrix of int8, in groups of a row. */
function affineWeight(id: ValueId, analysis: Analysis): Weight | null {
  const node = madeBy(value(id), analysis)
  if (node?.op !== 'torchao::dequantize_affine') return null
  const source = inputOf(node)
  const constantOf = (name: string): Tensor | undefined => {
    const at = valueArg(named(node, name))
    return at === undefined ? undefined : analysis.tensor(at)
  }
  const integers = source === undefined ? undefined : analysis.tensor(source)
  const scales = constantOf('scale')
  const zeros = isNone(named(node, 'zero_point')) ? null : constantOf('zero_point')
  const block = integersArg(named(node, 'block_size'))
  const isPlain = numberArg(named(node, 'output_dtype')) === DType.float32 && isText(named(node, 'zero_point_domain'), 'INT')
  if (source === undefined || integers?.type !== DType.int8 || scales?.type !== DType.float32 || zeros === undefined || !isPlain)
    return null
  if (block?.length !== 2 || block[0] !== 1 || integers.dim !== 2) return null
  return { integers, source, scales, zeros, group: block[1]! }
}

function isText(arg: Arg, text: string): boolean {
  return arg.kind === 'constant' && arg.value === text
}

/** The transposition of a matrix of int8 that was converted. */
function plainWeight(id: ValueId, analysis: Analysis): Weight | null {
  const conversion = madeBy(value(id), analysis)
  if (conversion?.op !== 'aten::to.dtype' && conversion?.op !== 'aten::_to_copy') return null
  if (analysis.type(id).dtype !== DType.float32) return null
  const turned = madeBy(conversion.args[0], analysis)
  if (turned?.op !== 'aten::t') return null
  const source = inputOf(turned)
  const integers = source === undefined ? undefined : analysis.tensor(source)
  if (source === undefined || integers?.type !== DType.int8 || integers.dim !== 2) return null
  return { integers, source, scales: null, zeros: null, group: integers.shape[1]! }
}

/** The result of the product in the builder's nodes; null where no kernel reads such integers. */
function rewritten(product: Product, builder: Builder): ValueId | null {
  const { input, rows, integers, bias, result } = product
  const { analysis, editor } = builder
  const k = integers.shape[1]!
  const { shape, strides } = analysis.type(input)
  let x: ValueId | null = input
  if (shape.length !== 2) x = builder.add('aten::reshape', [value(x), constant([rows, k])])
  else if (!isContiguous(shape, strides)) x = builder.add('aten::contiguous', [value(x), constant(0)])
  if (x === null) return null
  let y = product.group === k ? ofBytes(product, x, builder) : null
  y ??= ofHalves(product, x, builder)
  if (y !== null && bias !== null) y = builder.add('aten::add.Tensor', [value(y), bias, constant(1)])
  const type = editor.typeOf(result)
  if (y !== null && type.shape.length !== 2) y = builder.add('aten::reshape', [value(y), constant([...type.shape])])
  return y
}

/** The product with rows of int8, one scale each. */
function ofBytes({ integers, source, scales, zeros }: Product, x: ValueId, builder: Builder): ValueId | null {
  const n = integers.shape[0]!
  if (zeros !== null && !Array.from<number | bigint>(readTensor(zeros)).every((zero) => Number(zero) === 0)) return null
  if (scales !== null && scales.numel !== n) return null
  const numbers = scales === null ? new Float32Array(n).fill(1) : (readTensor(scales) as Float32Array)
  const column = empty([n], DType.float32)
  writeTensor(column, numbers)
  return builder.add('aten::_weight_int8pack_mm', [value(x), value(source), value(builder.editor.addConstant(column, 'scales'))])
}

/** The product with integers of 4 bits. */
function ofHalves({ integers, scales, zeros, group }: Product, x: ValueId, builder: Builder): ValueId | null {
  const [n, k] = integers.shape as [number, number]
  const count = k / group
  const parts = GROUPS.find((size) => size === group)
  if (parts === undefined || k % group !== 0 || n % 16 !== 0 || scales === null || scales.numel !== n * count) return null
  if (zeros !== null && zeros.numel !== n * count) return null
  if (!isBetween(integers, -8, 7)) return null
  const factors = readTensor(scales) as Float32Array
  const offsets = zeros === null ? null : readTensor(zeros)
  const both = new Float32Array(2 * n * count)
  for (let row = 0; row < n; row++)
    for (let g = 0; g < count; g++) {
      const scale = factors[row * count + g]!
      both[2 * (g * n + row)] = scale
      both[2 * (g * n + row) + 1] = offsets === null ? 0 : -Number(offsets[row * count + g]) * scale
    }
  const table = empty([count, n, 2], DType.float32)
  writeTensor(table, both)
  const { editor } = builder
  const [weight, pairs] = [editor.addConstant(packedHalves(integers), 'packed weight'), editor.addConstant(table, 'scales')]
  return builder.add('aten::_weight_int4pack_mm_for_cpu', [value(x), value(weight), constant(group), value(pairs)])
}

function isBetween(integers: Tensor, least: number, greatest: number): boolean {
  const [low] = callApart('aten::amin', [integers, [], false]) as [Tensor]
  const [high] = callApart('aten::amax', [integers, [], false]) as [Tensor]
  const isInside = Number(readTensor(low)[0]) >= least && Number(readTensor(high)[0]) <= greatest
  low.release()
  high.release()
  return isInside
}

/** Plans of several forms share it. */
function packedHalves(integers: Tensor): Tensor {
  const [packed] = derived('integers of 4 bits, packed', [integers], () => {
    const [wide] = callApart('aten::to.dtype', [integers, DType.int32, false, false, null]) as [Tensor]
    const [moved] = callApart('aten::add.Scalar', [wide, 8, 1]) as [Tensor]
    const made = callApart('aten::_convert_weight_to_int4pack_for_cpu', [moved, 1]) as [Tensor]
    wide.release()
    moved.release()
    // what kernels make of it stays with it
    made[0].storage.watch()
    return made
  }) as [Tensor]
  return packed
}
