import { PtliteError } from '../../runtime/error.js'
import { calledOperator, type OperatorEntry } from '../../runtime/operators/table/registry.js'
import { enterScope, type Scope } from '../../runtime/tensor/scope.js'
import { sameShape } from '../../runtime/tensor/shape.js'
import { newStack, type Stack, Tuple, type Value } from '../../runtime/tensor/value.js'
import { type Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { callOf } from './compiled.js'
import { type Arg, definitionsOf, type Graph, type GraphNode, type Result, type ValueId, visitArg } from './graph.js'
import { nameOf, usesOf } from './node.js'

interface Step {
  readonly node: GraphNode
  readonly entry: OperatorEntry
  readonly args: readonly Arg[]
  /** Values that nothing after this step reads. */
  readonly last: readonly ValueId[]
}

/** A node as the graph's text names it: `%3 = aten::relu`. */
export function labelOf(node: GraphNode): string {
  const values = definitionsOf(node).map((id) => `%${id}`)
  return `${values.join(', ')}${values.length === 0 ? '' : ' = '}${nameOf(node)}`
}

/** A graph made ready to be run operator by operator, as often as wanted. */
export class GraphRunner {
  private readonly steps: readonly Step[]
  /** The node that is being run; null between runs. */
  private current: GraphNode | null = null

  constructor(private readonly graph: Graph) {
    const seen = new Set<ValueId>([...graph.inputs, ...graph.constants.map((c) => c.id)])
    visitArg(graph.output, (id) => seen.add(id))
    const steps: Step[] = []
    for (const node of [...graph.nodes].reverse()) {
      const last = [...new Set([...usesOf(node), ...definitionsOf(node)])].filter((id) => !seen.has(id))
      for (const id of last) seen.add(id)
      const { op, args } = callOf(node)
      steps.push({ node, entry: operatorOf(op), args, last })
    }
    this.steps = steps.reverse()
  }

  /** The node that is being run, as the graph's text names it: `%3 = aten::relu`. */
  label(): string | undefined {
    return this.current === null ? undefined : labelOf(this.current)
  }

  /**
   * Calls the operators in order and returns what the graph returns. Intermediate tensors are released after their
   * last use. With `check` every value is compared with its type in the graph, and INTERNAL is thrown for a difference. `outside`: see `Plan.run`.
   */
  run(inputs: readonly Tensor[], check = false, outside = true): Value {
    const { graph } = this
    const env = new Map<ValueId, Tensor>()
    graph.inputs.forEach((id, i) => {
      if (!env.has(id)) hold(env, id, inputs[i]!)
    })
    for (const c of graph.constants) hold(env, c.id, c.tensor)
    const stack = newStack()
    const scope: Scope = { created: [] }
    const before = enterScope(scope)
    try {
      for (const { node, entry, args, last } of this.steps) {
        this.current = node
        for (const arg of args) stack.values[stack.top++] = valueOf(arg, graph, env)
        entry.call(stack)
        takeResults(node, stack, env)
        if (check) for (const id of definitionsOf(node)) checkType(graph, node, id, env.get(id)!)
        for (const id of last) drop(env, id)
        releaseTemporaries(scope)
      }
      visitArg(graph.output, (id) => {
        const t = withStrides(id, graph, env)
        if (!outside) return
        t.pinned = true
        t.storage.watch()
      })
      return valueOf(graph.output, graph, env)
    } catch (error) {
      for (const id of [...env.keys()]) drop(env, id)
      releaseTemporaries(scope)
      throw error
    } finally {
      this.current = null
      for (const t of env.values()) t.uses--
      enterScope(before)
    }
  }
}

/** Runs a graph once. */
export function runGraph(graph: Graph, inputs: readonly Tensor[], check = false): Value {
  return new GraphRunner(graph).run(inputs, check)
}

/** An operator may hand an argument back: a tensor is counted once for each value it stands for. */
function hold(env: Map<ValueId, Tensor>, id: ValueId, tensor: Tensor): void {
  tensor.uses++
  env.set(id, tensor)
}

function drop(env: Map<ValueId, Tensor>, id: ValueId): void {
  const t = env.get(id)!
  env.delete(id)
  if (--t.uses === 0 && !t.pinned) t.release()
}

export function operatorOf(name: string): OperatorEntry {
  const entry = calledOperator(name)
  if (entry === undefined) throw new PtliteError('INTERNAL', `a graph calls ${name}, which this build does not have`)
  return entry
}

/** The value of an argument under these tensors. */
export function valueOf(arg: Arg, graph: Pick<Graph, 'objects'>, env: ReadonlyMap<ValueId, Tensor>): Value {
  switch (arg.kind) {
    case 'value':
      return env.get(arg.id)!
    case 'constant':
      // operators may keep or change a list
      return Array.isArray(arg.value) ? arg.value.slice() : arg.value
    case 'object':
      return graph.objects[arg.index]!
    case 'list':
      return arg.items.map((item) => valueOf(item, graph, env))
    case 'tuple':
      return new Tuple(
        arg.items.map((item) => valueOf(item, graph, env)),
        arg.fields,
      )
    case 'dict':
      return new Map(arg.entries.map(([key, item]) => [key, valueOf(item, graph, env)]))
  }
}

function takeResults(node: GraphNode, stack: Stack, env: Map<ValueId, Tensor>): void {
  const { results } = node
  if (stack.top !== results.length)
    throw new PtliteError('INTERNAL', `${nameOf(node)} left ${stack.top} results, expected ${results.length}`)
  results.forEach((result, i) => bind(result, stack.values[i]!, env))
  stack.top = 0
}

function bind(result: Result, found: Value, env: Map<ValueId, Tensor>): void {
  if (result.kind === 'value') hold(env, result.id, found as Tensor)
  else if (result.kind === 'list') {
    const items = found instanceof Tuple ? found.items : (found as Value[])
    result.items.forEach((item, i) => bind(item, items[i]!, env))
  }
}

/** A value as it was recorded: what passes put in an operator's place may have other strides where a dimension has one element or none, which tell nothing but are seen. */
function withStrides(id: ValueId, graph: Graph, env: Map<ValueId, Tensor>): Tensor {
  const { type } = graph.values.get(id)!
  const found = env.get(id)!
  if (!sameShape(found.shape, type.shape) || sameShape(found.strides, type.strides)) return found
  const view = viewOf(found, found.shape, type.strides)
  found.uses--
  hold(env, id, view)
  return view
}

function releaseTemporaries(scope: Scope): void {
  const { created } = scope
  while (created.length > 0) {
    const t = created.pop()!
    if (t.uses === 0 && !t.pinned) t.release()
  }
}

function checkType(graph: Graph, node: GraphNode, id: ValueId, found: Tensor): void {
  const { type } = graph.values.get(id)!
  const same =
    found.type === type.dtype &&
    sameShape(found.shape, type.shape) &&
    found.shape.every((size, d) => size <= 1 || found.strides[d] === type.strides[d])
  if (!same) {
    throw new PtliteError(
      'INTERNAL',
      `%${id} of ${nameOf(node)}: the graph says ${typeName(type.shape, type.strides)}, found ${typeName(found.shape, found.strides)}`,
    )
  }
}

function typeName(shape: readonly number[], strides: readonly number[]): string {
  return `[${shape.join(', ')}] with strides [${strides.join(', ')}]`
}
