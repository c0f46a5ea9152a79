import { combine, promoteTypes } from '../../runtime/tensor/promote.js'
import { contiguousStrides, sameShape } from '../../runtime/tensor/shape.js'
import type { Value } from '../../runtime/tensor/value.js'
import {
  type Arg,
  constant,
  definitionsOf,
  type Graph,
  type GraphNode,
  mapArg,
  type OperatorNode,
  type TensorType,
  type ValueId,
} from '../graph/graph.js'
import { mapUses, usesOf } from '../graph/node.js'
import { inputOf, onlyResult } from './analysis.js'
import { functionalName } from './canonical/functionalize.js'
import { Editor } from './editor.js'

/** What puts a part back, of its arguments: the whole, the part, and where the part is. */
type Scatter = readonly [op: string, args: (whole: Arg, part: Arg, where: readonly Arg[]) => readonly Arg[]]

const inFront = (whole: Arg, part: Arg, where: readonly Arg[]): Arg[] => [whole, part, ...where]

/** Views that a part of a state is written through, with what puts the part back. Rows at an index that is computed are one, in a graph that has them in the state's memory. */
const SCATTERS: Readonly<Record<string, Scatter>> = {
  'aten::slice.Tensor': ['aten::slice_scatter', inFront],
  'aten::select.int': ['aten::select_scatter', inFront],
  'aten::index_select': ['aten::index_copy', (whole, part, where) => [whole, ...where, part]],
}

/** A graph that writes to no state, and by each state's input what it is at the end. */
export interface StateValues {
  readonly graph: Graph
  readonly last: ReadonlyMap<ValueId, ValueId>
}

interface State {
  readonly type: TensorType
  current: ValueId
}

/**
 * Replaces writes to inputs by new values of them.
 *
 *     %7: float32[4, 8] @1 = aten::copy_(%1!, %6)      →    %7: float32[4, 8] @9 = aten::clone(%6)
 *     %9: float32[8] @1 = aten::select.int(%1, 0, 2)   →    %9: float32[8] @9 = aten::select.int(%7, 0, 2)
 *
 * What `states` does not name may be written to as before. Returns the reason where a state is written to in another way, or a view of it is read again
 * after what it shows has changed.
 */
export function stateValues(graph: Graph, states: readonly ValueId[]): StateValues | string {
  try {
    return new Rewriter(graph, states).rewrite()
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

class Refused extends Error {}

/** Operators that put numbers, or add them, where indices or masks say, whose dtype does not matter. */
const PLACING = /^aten::(index|masked|scatter|put)/

/** Whether what is computed of tensors of these types has the dtype of the first one. */
function keepsDtype(type: TensorType, other: TensorType): boolean {
  const isNumber = other.shape.length === 0 && type.shape.length > 0
  return type.dtype === other.dtype || (isNumber ? combine : promoteTypes)(type.dtype, other.dtype) === type.dtype
}

class Rewriter {
  private readonly editor: Editor
  /** By the memory that they lie in. */
  private readonly states = new Map<number, State>()
  private readonly madeBy = new Map<ValueId, OperatorNode>()
  /** Views of a state, as values; undefined for those of what it was before it was written to. */
  private readonly views = new Map<ValueId, ValueId | undefined>()

  constructor(
    private readonly graph: Graph,
    private readonly inputs: readonly ValueId[],
  ) {
    this.editor = new Editor(graph)
    for (const id of inputs) {
      const { storage, type } = graph.values.get(id)!
      if (this.states.has(storage)) throw new Refused('two attributes of what it changes share memory')
      this.states.set(storage, { type, current: id })
    }
  }

  rewrite(): StateValues {
    const { graph, inputs, editor } = this
    for (const node of graph.nodes) editor.replaceNode(node, this.rewritten(node))
    const output = mapArg(graph.output, (id) => this.read(id))
    return { graph: { ...editor.finish(), output }, last: new Map(inputs.map((id) => [id, this.stateOf(id)!.current])) }
  }

  private stateOf(id: ValueId): State | undefined {
    const value = this.graph.values.get(id)
    return value === undefined ? undefined : this.states.get(value.storage)
  }

  private isWhole(id: ValueId, { type }: State): boolean {
    const own = this.graph.values.get(id)!.type
    return (
      own.offset === type.offset && own.dtype === type.dtype && sameShape(own.shape, type.shape) && sameShape(own.strides, type.strides)
    )
  }

  /** What stands for a value at this place of the code. */
  private read(id: ValueId): ValueId {
    const state = this.stateOf(id)
    if (state === undefined) return id
    if (this.isWhole(id, state)) return state.current
    const view = this.views.get(id)
    if (view === undefined) throw new Refused('it reads a view of an attribute again after it has written to it')
    return view
  }

  /** The nodes in the place of one. */
  private rewritten(node: GraphNode): GraphNode[] {
    const [target] = node.writes
    const state = target === undefined ? undefined : this.stateOf(target)
    if (state !== undefined && node.kind === 'operator') return this.withoutWrite(node, target!, state)
    if (node.writes.some((id) => this.stateOf(id) !== undefined)) throw new Refused('an operator writes to several attributes')
    const { editor } = this
    const read = mapUses(node, (id) => this.read(id))
    for (const id of definitionsOf(node)) {
      const view = this.stateOf(id)
      if (view === undefined) continue
      // of what the state is by now
      editor.setType(id, editor.typeOf(id), editor.storageOf(view.current))
      this.views.set(id, id)
      if (node.kind === 'operator') this.madeBy.set(id, node)
    }
    return [read]
  }

  private withoutWrite(node: OperatorNode, target: ValueId, state: State): GraphNode[] {
    if (node.writes.length > 1 || inputOf(node) !== target) throw new Refused(`${node.op} writes to an attribute`)
    const { type } = this.graph.values.get(target)!
    const given = node.op === 'aten::copy_' ? this.copied(node, type) : this.functional(node, type)
    const result = onlyResult(node)
    const made = this.define(type)
    const functional: GraphNode = { ...node, ...given, writes: [], results: [{ kind: 'value', id: made }] }
    const scatters = this.put(target, made, state, node)
    for (const id of this.views.keys()) if (this.stateOf(id) === state) this.views.set(id, undefined)
    this.views.set(target, made)
    if (result !== undefined) this.views.set(result, made)
    return [functional, ...scatters]
  }

  private functional(node: OperatorNode, type: TensorType): Pick<OperatorNode, 'op' | 'args'> {
    const op = functionalName(node.op, type.dtype)
    if (op === null) throw new Refused(`${node.op} writes to an attribute`)
    if (!PLACING.test(op) && !usesOf(node).every((id) => keepsDtype(type, this.graph.values.get(id)!.type)))
      throw new Refused(`${node.op} writes numbers of another dtype to an attribute`)
    return { op, args: node.args.map((arg) => mapArg(arg, (id) => this.read(id))) }
  }

  private copied(node: OperatorNode, type: TensorType): Pick<OperatorNode, 'op' | 'args'> {
    const source = usesOf(node)[1]
    const from = source === undefined ? undefined : this.graph.values.get(source)?.type
    if (from === undefined) throw new Refused('aten::copy_ of a number writes to an attribute')
    const [isDtype, isShape] = [from.dtype === type.dtype, sameShape(from.shape, type.shape)]
    if (!isDtype && !isShape) throw new Refused('aten::copy_ of another shape and dtype writes to an attribute')
    const args = (...rest: readonly Value[]): Arg[] => [{ kind: 'value', id: this.read(source!) }, ...rest.map(constant)]
    if (isShape)
      return isDtype ? { op: 'aten::clone', args: args(null) } : { op: 'aten::to.dtype', args: args(type.dtype, false, false, null) }
    return { op: 'aten::expand', args: args([...type.shape], false) }
  }

  /** A value in memory of its own. */
  private define(type: TensorType): ValueId {
    return this.editor.newValue({ ...type, strides: contiguousStrides(type.shape), offset: 0 })
  }

  /** Puts a value in the place of what a view of the state shows. Returns what does it. */
  private put(view: ValueId, value: ValueId, state: State, by: OperatorNode): GraphNode[] {
    const scatters: GraphNode[] = []
    let [part, at] = [value, view]
    while (!this.isWhole(at, state)) {
      const maker = this.madeBy.get(at)
      const base = inputOf(maker)
      const scatter = maker === undefined ? undefined : SCATTERS[maker.op]
      if (scatter === undefined || base === undefined || this.views.get(at) === undefined)
        throw new Refused(`${by.op} writes to a part of an attribute`)
      const whole = this.define(this.graph.values.get(base)!.type)
      const [, ...where] = maker!.args
      const [op, argsOf] = scatter
      scatters.push({
        kind: 'operator',
        op,
        args: argsOf({ kind: 'value', id: this.read(base) }, { kind: 'value', id: part }, where),
        results: [{ kind: 'value', id: whole }],
        writes: [],
        origin: by.origin,
      })
      part = whole
      at = base
    }
    state.current = part
    return scatters
  }
}
