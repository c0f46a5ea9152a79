import { DType } from '../../runtime/tensor/dtype.js'
import { isContiguous } from '../../runtime/tensor/shape.js'
import { constant, type GraphNode, type TensorType, value, type ValueId } from '../graph/graph.js'
import { Analysis, isNone, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/**
 * Makes `einsum` over two operands that is a batched matrix product into one, so that other passes see what it is and no operand is
 * copied.
 *
 *     %2 = aten::einsum('bhqd,bhkd->bhqk', [%0, %1], None)   →   %3 = aten::permute(%1, [0, 1, 3, 2])
 *                                                                %2 = aten::matmul(%0, %3)
 */
export const einsum: Pass = {
  name: 'einsum',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const product = productOf(node, analysis)
      if (product === null) continue
      const before: GraphNode[] = []
      const args = product.map((operand) => value(permuted(operand, node, analysis, editor, before)))
      editor.replaceNode(node, [...before, { ...node, op: 'aten::matmul', args }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** An operand, and which of its dimensions comes where. */
interface Operand {
  readonly id: ValueId
  readonly order: readonly number[]
}

function productOf(node: GraphNode, analysis: Analysis): readonly [Operand, Operand] | null {
  const [equation, list, path] = node.args
  const result = onlyResult(node)
  if (node.op !== 'aten::einsum' || equation?.kind !== 'constant' || list?.kind !== 'list' || !isNone(path)) return null
  const ids = list.items.map(valueArg)
  const text = typeof equation.value === 'string' ? equation.value.replaceAll(' ', '') : ''
  const found = /^([A-Za-z]+),([A-Za-z]+)->([A-Za-z]+)$/.exec(text)
  if (found === null || ids.length !== 2 || ids.includes(undefined) || result === undefined || !analysis.isPure(node)) return null
  const [, first, second, out] = found as unknown as [string, string, string, string]
  const terms = [first, second].map((labels, i) => ({ labels, id: ids[i]!, type: analysis.type(ids[i]!) }))
  const types = [...terms.map(({ type }) => type), analysis.type(result)]
  if (types.some(({ dtype, shape }) => dtype !== DType.float32 || shape.includes(0))) return null
  if (!isContiguous(types[2]!.shape, types[2]!.strides) || [first, second, out].some((labels) => new Set(labels).size < labels.length))
    return null
  // batch..., row, column: the operand that has the rows comes first
  const [row, column] = out.slice(-2) as unknown as [string, string]
  const batch = out.slice(0, -2)
  const [left, right] = first.includes(row) ? terms : [...terms].reverse()
  const summed = [...left!.labels].filter((label) => !out.includes(label))
  if (out.length < 2 || summed.length !== 1) return null
  const orderOf = ({ labels, id }: { labels: string; id: ValueId }, wanted: string): Operand | null =>
    labels.length === wanted.length && [...wanted].every((label) => labels.includes(label))
      ? { id, order: [...wanted].map((label) => labels.indexOf(label)) }
      : null
  const a = orderOf(left!, `${batch}${row}${summed[0]!}`)
  const b = orderOf(right!, `${batch}${summed[0]!}${column}`)
  return a !== null && b !== null && sameSizes(left!, right!) ? [a, b] : null
}

/** True where labels that both have name as many elements: none is broadcast. */
function sameSizes(a: { labels: string; type: TensorType }, b: { labels: string; type: TensorType }): boolean {
  return [...a.labels].every((label, d) => {
    const other = b.labels.indexOf(label)
    return other < 0 || a.type.shape[d] === b.type.shape[other]
  })
}

function permuted({ id, order }: Operand, { origin }: GraphNode, analysis: Analysis, editor: Editor, before: GraphNode[]): ValueId {
  if (order.every((dim, i) => dim === i)) return id
  const type = analysis.type(id)
  const [shape, strides] = [type.shape, type.strides].map((list) => order.map((dim) => list[dim]!)) as [number[], number[]]
  const turned = editor.newValue({ ...type, shape, strides }, analysis.storage(id))
  const args = [value(id), constant([...order])]
  before.push({ op: 'aten::permute', args, results: [{ kind: 'value', id: turned }], writes: [], origin })
  return turned
}
