import { sameLayout } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type GraphNode, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Writes parts of a tensor where they belong, in place of a copy of the whole with these parts that is then copied back: as exported programs update a cache.
 *
 *     %3: float32[1, 2, 40, 8] @3 = aten::index_copy(%0, 2, %1, %2)
 *     %4: float32[1, 2, 40, 8] @0 = aten::copy_(%0!, %3, False)          →   %3: float32[1, 2, 40, 8] @0 = aten::index_copy_(%0!, 2, %1, %2)
 *
 * Nothing in between may read what was there, and nothing may write to it behind, as the copy is a tensor of its own.
 */
export const updates: Pass = {
  name: 'updates',
  run(graph) {
    const results = operatorsOf(graph).flatMap((node) => (node.op === 'aten::copy_' ? (onlyResult(node) ?? []) : []))
    if (results.length === 0) return graph
    let analysis = analysisOf(graph)
    for (const result of results) {
      const write = analysis.producer(result)
      const found = write?.kind === 'operator' ? updateOf(write, analysis) : null
      if (found === null) continue
      const editor = new Editor(analysis.graph)
      replace(found, analysis, editor)
      analysis = analysisOf(editor.finish())
    }
    return analysis.graph
  },
}

interface Update {
  /** Makes a copy of `target` with other parts. */
  readonly update: OperatorNode
  readonly made: ValueId
  readonly write: OperatorNode
  readonly target: ValueId
}

const IN_PLACE: ReadonlyMap<string, string> = new Map([
  ['aten::index_copy', 'aten::index_copy_'],
  ['aten::index_put', 'aten::index_put_'],
  ['aten::scatter.src', 'aten::scatter_.src'],
  ['aten::scatter.value', 'aten::scatter_.value'],
])
const OF_SLICES = new Set(['aten::slice_scatter', 'aten::select_scatter'])

function updateOf(write: OperatorNode, analysis: Analysis): Update | null {
  const [target, made] = write.args.map(valueArg)
  const update = made === undefined ? undefined : analysis.producer(made)
  if (target === undefined || made === undefined || update?.kind !== 'operator' || update.writes.length > 0) return null
  if (!IN_PLACE.has(update.op) && !OF_SLICES.has(update.op)) return null
  if (valueArg(update.args[0]) !== target || onlyResult(update) !== made || !isSame(analysis.type(made), analysis.type(target))) return null
  const [memory, copy] = [analysis.storage(target), analysis.storage(made)]
  if (memory === copy || analysis.written.has(copy) || analysis.outputs.has(copy)) return null
  if (OF_SLICES.has(update.op) && analysis.type(valueArg(named(update, 'src'))!).dtype !== analysis.type(target).dtype) return null
  const { nodes } = analysis.graph
  const [first, last] = [analysis.placeOf(update), analysis.placeOf(write)]
  const inMemory = (id: ValueId): boolean => analysis.storage(id) === memory
  if (usesOf(update).filter(inMemory).length > 1) return null
  if (nodes.slice(first + 1, last).some((node) => usesOf(node).some(inMemory))) return null
  return nodes.slice(last + 1).some((node) => node.writes.some(inMemory)) ? null : { update, made, write, target }
}

function isSame(a: TensorType, b: TensorType): boolean {
  return a.dtype === b.dtype && a.quant === null && sameLayout(a, b)
}

function replace({ update, made, write, target }: Update, analysis: Analysis, editor: Editor): void {
  const [memory, copy] = [analysis.storage(target), analysis.storage(made)]
  for (const id of analysis.valuesIn(copy)) editor.setType(id, analysis.type(id), memory)
  editor.replaceNode(write, [])
  const inPlace = IN_PLACE.get(update.op)
  if (inPlace !== undefined) {
    editor.replaceValue(onlyResult(write)!, made)
    editor.replaceNode(update, [{ ...update, op: inPlace, writes: [target] }])
    return
  }
  editor.replaceValue(onlyResult(write)!, target)
  editor.replaceValue(made, target)
  editor.replaceNode(update, intoSlice(update, target, editor))
}

/** A copy into a slice, or a row, of the target. */
function intoSlice(update: OperatorNode, target: ValueId, editor: Editor): GraphNode[] {
  const type = editor.typeOf(target)
  const rank = type.shape.length
  const dim = (numberArg(named(update, 'dim'))! + rank) % rank
  const isRow = update.op === 'aten::select_scatter'
  const start = placeOf(isRow ? named(update, 'index') : named(update, 'start'), type.shape[dim]!)
  const step = isRow ? 1 : numberArg(named(update, 'step'))!
  const source = valueArg(named(update, 'src'))!
  const { shape } = editor.typeOf(source)
  const strides = isRow ? type.strides.toSpliced(dim, 1) : type.strides.with(dim, type.strides[dim]! * step)
  const part: TensorType = { ...type, shape, strides, offset: type.offset + start * type.strides[dim]! }
  const memory = editor.storageOf(target)
  const [view, after] = [editor.newValue(part, memory), editor.newValue(part, memory)]
  const [op, args]: [string, Arg[]] = isRow
    ? ['aten::select.int', [constant(dim), constant(start)]]
    : ['aten::slice.Tensor', [constant(dim), named(update, 'start'), named(update, 'end'), constant(step)]]
  const { origin } = update
  return [
    { kind: 'operator', op, args: [value(target), ...args], results: [{ kind: 'value', id: view }], writes: [], origin },
    {
      kind: 'operator',
      op: 'aten::copy_',
      args: [value(view), value(source), constant(false)],
      results: [{ kind: 'value', id: after }],
      writes: [view],
      origin,
    },
  ]
}

/** Where a slice of a dimension begins. */
function placeOf(arg: Arg, size: number): number {
  const given = numberArg(arg) ?? 0
  return Math.min(Math.max(given < 0 ? given + size : given, 0), size)
}
