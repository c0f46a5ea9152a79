import { contiguousStrides, isContiguous, sameLayout } from '../../../runtime/tensor/shape.js'
import { type Arg, constant, type Graph, type GraphNode, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, integersArg, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { type Pass, untilStable } from '../pass.js'
import { elementwiseSteps } from './elementwise-operators.js'

/**
 * Computes the rows that are read, of what is computed row by row: layers of a language model behind its last attention, whose last token alone is asked for.
 *
 *     %2: float32[1, 9, 8] @2 = aten::linear(%0, %1, None)                   %4: float32[1, 1, 4] strides [36, 4, 1] from 32 @0 = aten::slice.Tensor(%0, 1, 8, 9, 1)
 *     %3: float32[1, 1, 8] ... = aten::slice.Tensor(%2, 1, 8, 9, 1)     →    %5: float32[1, 1, 8] @5 = aten::linear(%4, %1, None)
 */
export const readRows: Pass = {
  name: 'rows that are read',
  run: untilStable(readOnce),
}

function readOnce(graph: Graph): Graph {
  const analysis = analysisOf(graph)
  const editor = new Editor(graph)
  // what reads these, or makes memory with new views, is looked at again the next time
  const gone = new Set<number>()
  const viewed = new Set<number>()
  for (const node of operatorsOf(graph)) {
    const found = partOf(node, analysis)
    if (found === null) continue
    const memory = analysis.storage(found.made)
    const operands = usesOf(found.maker).map((id) => analysis.storage(id))
    if (viewed.has(memory) || [memory, ...operands].some((storage) => gone.has(storage))) continue
    replace(found, analysis, editor)
    gone.add(memory)
    for (const storage of operands) viewed.add(storage)
  }
  return gone.size === 0 ? graph : editor.finish()
}

/** All that is read of what a node makes. */
interface Part {
  readonly maker: OperatorNode
  readonly made: ValueId
  readonly slices: readonly OperatorNode[]
  readonly dim: number
  readonly start: number
  readonly size: number
}

function partOf(node: OperatorNode, analysis: Analysis): Part | null {
  const made = node.op === 'aten::slice.Tensor' ? valueArg(node.args[0]) : undefined
  const part = onlyResult(node)
  const maker = made === undefined ? undefined : analysis.producer(made)
  if (made === undefined || part === undefined || maker?.kind !== 'operator' || onlyResult(maker) !== made) return null
  const [whole, read] = [analysis.type(made), analysis.type(part)]
  const dim = numberArg(node.args[1])! + (numberArg(node.args[1])! < 0 ? whole.shape.length : 0)
  const size = read.shape[dim]!
  if (size === whole.shape[dim] || size === 0 || numberArg(node.args[4]) !== 1 || dim >= whole.shape.length - 1) return null
  if (!isContiguous(whole.shape, whole.strides) || whole.offset !== 0 || !analysis.isPure(maker)) return null
  const memory = analysis.storage(made)
  if (analysis.outputs.has(memory)) return null
  const slices = analysis.readersOf(made)
  const parts = slices.map((reader) =>
    isSlice(reader, analysis) && sameLayout(analysis.type(onlyResult(reader)!), read) ? onlyResult(reader)! : -1,
  )
  // nothing else shows the memory
  if (parts.includes(-1)) return null
  if (analysis.valuesIn(memory).some((id) => id !== made && !parts.includes(id))) return null
  if (operandsByRow(maker, dim, analysis) === null) return null
  return { maker, made, slices: slices as OperatorNode[], dim, start: read.offset / whole.strides[dim]!, size }
}

function isSlice(node: GraphNode, analysis: Analysis): boolean {
  return node.kind === 'operator' && node.op === 'aten::slice.Tensor' && analysis.isPure(node)
}

/** Places of the arguments that have the rows of a result, which are along `dim`; null where a row depends on others. */
function operandsByRow(node: OperatorNode, dim: number, analysis: Analysis): readonly number[] | null {
  const { shape } = analysis.type(onlyResult(node)!)
  switch (node.op) {
    case 'aten::linear':
      return [0]
    case 'aten::layer_norm':
    case 'aten::rms_norm':
      return dim < shape.length - integersArg(node.args[1])!.length ? [0] : null
  }
  if (elementwiseSteps(node, analysis) === null) return null
  return node.args.flatMap((arg, i) => {
    const id = valueArg(arg)
    const own = id === undefined ? [] : analysis.type(id).shape
    const at = dim - (shape.length - own.length)
    return at >= 0 && own[at] === shape[dim] ? [i] : []
  })
}

function replace({ maker, made, slices, dim, start, size }: Part, analysis: Analysis, editor: Editor): void {
  const whole = analysis.type(made)
  const { origin } = maker
  const before: OperatorNode[] = []
  const rows = (id: ValueId): Arg => {
    const type = analysis.type(id)
    const at = dim - (whole.shape.length - type.shape.length)
    const part = editor.newValue(
      { ...type, shape: type.shape.with(at, size), offset: type.offset + start * type.strides[at]! },
      analysis.storage(id),
    )
    const args = [value(id), constant(at), constant(start), constant(start + size), constant(1)]
    before.push({ kind: 'operator', op: 'aten::slice.Tensor', args, results: [{ kind: 'value', id: part }], writes: [], origin })
    return value(part)
  }
  const places = new Set(operandsByRow(maker, dim, analysis))
  const args = maker.args.map((arg, i) => (places.has(i) ? rows(valueArg(arg)!) : arg))
  const shape = whole.shape.with(dim, size)
  const result = editor.newValue({ ...whole, shape, strides: contiguousStrides(shape) })
  for (const slice of slices) {
    editor.replaceValue(onlyResult(slice)!, result)
    editor.replaceNode(slice, [])
  }
  editor.replaceNode(maker, [...before, { ...maker, args, results: [{ kind: 'value', id: result }] }])
}
