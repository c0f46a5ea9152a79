import { contiguousStrides, isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { constant, type GraphNode, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, onlyResult } from '../analysis.js'
import { Editor } from '../editor.js'
import { viewedBy } from '../expression.js'
import type { Pass } from '../pass.js'

/**
 * Gives a linear layer the dimensions that its result is viewed under next, so that what follows finds the layer itself.
 *
 *     %1: float32[48, 256] @0 = aten::reshape(%0, [48, 256])
 *     %2: float32[48, 64] @1 = aten::linear(%1, %weight, None)
 *     %3: float32[1, 48, 64] @1 = aten::reshape(%2, [1, 48, 64])     →   %3: float32[1, 48, 64] @1 = aten::linear(%0, %weight, None)
 *
 * Where the input was not viewed from tensors of these dimensions, it is now.
 */
export const linearRows: Pass = {
  name: 'rows of linear layers',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    /** Results under the dimensions that they had. */
    const replaced = new Set<ValueId>()
    for (const node of graph.nodes) {
      const input = rowsOf(node)
      const view = input === undefined ? null : viewOfRows(node, input, analysis)
      if (input === undefined || view === null) continue
      const { shape } = analysis.type(onlyResult(view)!)
      const found = asRows(input, shape, replaced, analysis, editor)
      editor.replaceNode(node, [])
      editor.replaceNode(view, [
        ...(found.node === null ? [] : [{ ...found.node, origin: node.origin }]),
        { ...withRows(node, found.id), results: view.results },
      ])
      replaced.add(onlyResult(node)!)
    }
    return replaced.size > 0 ? editor.finish() : graph
  },
}

/** The input of a linear layer, whose weight may be of integers; undefined for other nodes. */
function rowsOf(node: GraphNode): ValueId | undefined {
  if (node.kind === 'linear') return node.form === 'dense' && node.post === null ? node.input : undefined
  return node.kind === 'operator' && node.op === 'aten::linear' ? inputOf(node) : undefined
}

function withRows(node: GraphNode, input: ValueId): GraphNode {
  if (node.kind === 'linear') return { ...node, input }
  return node.kind === 'operator' ? { ...node, args: [value(input), ...node.args.slice(1)] } : node
}

/** The view that splits the rows of a layer's result in other dimensions, if it alone reads them. */
function viewOfRows(node: GraphNode, input: ValueId, analysis: Analysis): OperatorNode | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node)) return null
  const next = analysis.onlyReader(result)
  if (next?.op !== 'aten::reshape') return null
  const seen = onlyResult(next)
  if (seen === undefined || analysis.storage(seen) !== analysis.storage(result) || !analysis.isPure(next)) return null
  const [x, from, to] = [input, result, seen].map((id) => analysis.type(id)) as [TensorType, TensorType, TensorType]
  const dense = [x, from, to].every(({ shape, strides }) => shape.length > 0 && !shape.includes(0) && isContiguous(shape, strides))
  // a layer of one row has a result without other dimensions
  return dense && from.shape.length > 1 && to.shape.length > 1 && from.shape.at(-1) === to.shape.at(-1) ? next : null
}

/** The rows of the input under the dimensions of a result of this shape. */
function asRows(
  id: ValueId,
  shape: readonly number[],
  replaced: ReadonlySet<ValueId>,
  analysis: Analysis,
  editor: Editor,
): { id: ValueId; node: Omit<OperatorNode, 'origin'> | null } {
  const type = analysis.type(id)
  const wanted = [...shape.slice(0, -1), type.shape.at(-1)!]
  const known = viewedBy(id, analysis).find((other) => {
    const found = analysis.type(other)
    return (
      !replaced.has(other) &&
      found.dtype === type.dtype &&
      found.offset === type.offset &&
      sameShape(found.shape, wanted) &&
      isContiguous(found.shape, found.strides)
    )
  })
  if (known !== undefined) return { id: known, node: null }
  const view = editor.newValue({ ...type, shape: wanted, strides: contiguousStrides(wanted) }, analysis.storage(id))
  return {
    id: view,
    node: {
      kind: 'operator',
      op: 'aten::reshape',
      args: [value(id), constant(wanted)],
      results: [{ kind: 'value', id: view }],
      writes: [],
    },
  }
}
