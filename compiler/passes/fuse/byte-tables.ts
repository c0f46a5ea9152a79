import { DType } from '../../../runtime/tensor/dtype.js'
import { writeTensor } from '../../../runtime/tensor/data.js'
import { isDense } from '../../../runtime/tensor/view-strides.js'
import { isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { empty, isPerChannel, type Tensor } from '../../../runtime/tensor/tensor.js'
import { POINTWISE_OF_ONE } from '../../generated/pointwise.js'
import { runGraph } from '../../graph/execute.js'
import { named } from '../../graph/arguments.js'
import { constant, type Graph, type GraphNode, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { baseOf, usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, numberArg, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'
import { type ByteFunction, clampedConvolution } from './clamped-convolution.js'

/** Operators whose operands are elements of the same place. */
const BINARY = new Set(['add', 'sub', 'mul', 'div'].map((name) => `aten::${name}.Tensor`).concat('aten::minimum', 'aten::maximum'))

/**
 * Whatever makes 8-bit integers of the 8-bit integers of one tensor, element by element, is a table of 256 bytes: computed once, by the
 * operators themselves, and looked up in one pass over memory.
 *
 *     %2: float32[1, 8, 9, 9] @2 = aten::dequantize.self(%1)
 *     %3: float32[1, 8, 9, 9] @3 = aten::silu(%2)
 *     %4: quint8[1, 8, 9, 9] @4 = aten::quantize_per_tensor(%3, 0.02, 14, 13)   →   %4 = lookup(input=%1, table=%5, scale=0.02, zeroPoint=14, ...)
 *
 * A table that clamps what a convolution alone gives it becomes bounds of the convolution. Results have the same bits.
 */
export const byteTables: Pass = {
  name: 'byte tables',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const found = functionOf(node, analysis)
      if (found === null) continue
      const { strides, dtype } = analysis.type(onlyResult(node)!)
      const [scale, zeroPoint] = [numberArg(named(node, 'scale')), numberArg(named(node, 'zero_point'))]
      if (scale === undefined || zeroPoint === undefined) continue
      const entries = tableOf(found, onlyResult(node)!, analysis)
      const convolution = clampedConvolution(node, found, entries, analysis)
      if (convolution !== null) {
        entries.release()
        editor.replaceNode(node, [convolution])
        changed = true
        continue
      }
      const table = editor.addConstant(entries, 'table')
      const { input, before } = inOrder(found, node, analysis, editor)
      editor.replaceNode(node, [...before, { ...baseOf(node), kind: 'lookup', input, table, strides, scale, zeroPoint, dtype }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function functionOf(last: OperatorNode, analysis: Analysis): ByteFunction | null {
  const result = onlyResult(last)
  if (last.op !== 'aten::quantize_per_tensor' || result === undefined || !isBytes(result, analysis)) return null
  const { shape, strides } = analysis.type(result)
  const nodes = new Set<GraphNode>()
  const leaves = new Set<ValueId>()
  const pending: GraphNode[] = [last]
  while (pending.length > 0) {
    const node = pending.pop()!
    if (nodes.has(node)) continue
    if (!analysis.isPure(node) || onlyResult(node) === undefined) return null
    nodes.add(node)
    for (const id of usesOf(node)) {
      const producer = analysis.producer(id)
      const type = analysis.type(id)
      if (isNumber(id, analysis)) continue
      if (!sameShape(type.shape, shape)) return null
      if (isBytes(id, analysis)) leaves.add(id)
      else if (producer !== undefined && isElementwise(producer)) pending.push(producer)
      else return null
    }
  }
  const [from] = leaves
  if (leaves.size !== 1 || !analysis.isSteady(from!)) return null
  const input = analysis.type(from!)
  const canBeCopied = !isDense(input.shape, input.strides) && isContiguous(shape, strides)
  if (!(liesAs(from!, result, analysis) || canBeCopied) || !isDense(shape, strides) || shape.includes(0)) return null
  return { from: from!, nodes: analysis.graph.nodes.filter((node) => nodes.has(node)) }
}

function liesAs(a: ValueId, b: ValueId, analysis: Analysis): boolean {
  const [{ shape, strides }, other] = [analysis.type(a), analysis.type(b)]
  return shape.every((size, d) => size === 1 || strides[d] === other.strides[d])
}

/** The bytes in the order of the result, copied where they lie otherwise. */
function inOrder(
  { from }: ByteFunction,
  last: OperatorNode,
  analysis: Analysis,
  editor: Editor,
): { input: ValueId; before: OperatorNode[] } {
  const result = onlyResult(last)!
  if (liesAs(from, result, analysis)) return { input: from, before: [] }
  const { strides } = analysis.type(result)
  const input = editor.newValue({ ...analysis.type(from), strides, offset: 0 })
  const copy: OperatorNode = {
    kind: 'operator',
    op: 'aten::contiguous',
    args: [value(from), constant(0)],
    results: [{ kind: 'value', id: input }],
    writes: [],
    origin: last.origin,
  }
  return { input, before: [copy] }
}

function isElementwise({ op }: GraphNode): boolean {
  if (op === undefined) return false
  return op === 'aten::dequantize.self' || POINTWISE_OF_ONE.has(op) || BINARY.has(op)
}

/** A constant of one element, which is not what gives a result its dimensions. */
function isNumber(id: ValueId, analysis: Analysis): boolean {
  const tensor = analysis.tensor(id)
  return tensor?.numel === 1 && tensor.dim < 2 && tensor.quant === null
}

function isBytes(id: ValueId, analysis: Analysis): boolean {
  const { dtype, quant } = analysis.type(id)
  return (dtype === DType.quint8 || dtype === DType.qint8) && quant !== null && !isPerChannel(quant)
}

/** The bytes that the nodes make of each byte, by its bits. */
function tableOf({ from, nodes }: ByteFunction, result: ValueId, analysis: Analysis): Tensor {
  const { dtype, quant } = analysis.type(from)
  const all = empty([256], dtype, quant)
  writeTensor(
    all,
    Uint8Array.from({ length: 256 }, (_, bits) => bits),
  )
  const used = new Set(nodes.flatMap(usesOf))
  const { graph } = analysis
  const part: Graph = { ...graph, inputs: [from], nodes, constants: graph.constants.filter((c) => used.has(c.id)), output: value(result) }
  const made = runGraph(part, [all]) as Tensor
  const table = empty([256], DType.uint8)
  writeTensor(table, made.data())
  made.release()
  all.release()
  return table
}
