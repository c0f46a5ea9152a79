import { enterScope, type Scope } from '../../runtime/tensor/scope.js'
import { CustomObject, newStack, Tuple, type Value } from '../../runtime/tensor/value.js'
import { type Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { callOf } from './compiled.js'
import { operatorOf, valueOf } from './execute.js'
import type { Graph, GraphNode, Result, ValueId } from './graph.js'
import { usesOf } from './node.js'
import { sharedConstants } from './shared-constants.js'

/** Runs one node on known tensors and returns what it defines; the tensors belong to the caller. */
export function evaluateNode(node: GraphNode, graph: Graph, tensorOf: (id: ValueId) => Tensor): Map<ValueId, Tensor> {
  const env = new Map(usesOf(node).map((id) => [id, tensorOf(id)]))
  const { op, args } = callOf(node)
  const results = callOnce(
    op,
    args.map((arg) => valueOf(arg, graph, env)),
  )
  const found = new Map<ValueId, Tensor>()
  const given = new Set(env.values())
  node.results.forEach((result, i) => collect(result, results[i]!, given, found))
  return found
}

/**
 * Calls an operator, which has to give the same for the same arguments, outside of any run. Tensors that it made and does not
 * return are released; those that it returns may share memory with other graphs, which nobody may write to.
 */
export function callOnce(op: string, args: readonly Value[]): Value[] {
  return derived(op, args, () => callApart(op, args))
}

/** What `make` derives from constants alone, found again by `name` and these where graphs of one module share such. */
export function derived(name: string, args: readonly Value[], make: () => Value[]): Value[] {
  return sharedConstants()?.derive(name, args, make) ?? make()
}

/** Calls an operator outside of any run, and keeps what it returns alone. */
export function callApart(op: string, args: readonly Value[]): Value[] {
  const stack = newStack()
  const scope: Scope = { created: [] }
  const before = enterScope(scope)
  const kept = new Set<Value>()
  try {
    for (const arg of args) stack.values[stack.top++] = arg
    operatorOf(op).call(stack)
    const results = stack.values.slice(0, stack.top)
    results.forEach((result) => keep(result, kept))
    return results
  } finally {
    enterScope(before)
    for (const t of scope.created) {
      if (kept.has(t)) t.pinned = true
      else if (!t.pinned) t.release()
    }
  }
}

function keep(value: Value, into: Set<Value>): void {
  into.add(value)
  if (Array.isArray(value)) for (const item of value) keep(item, into)
  else if (value instanceof Tuple) for (const item of value.items) keep(item, into)
  else if (value instanceof CustomObject) keep(value.state, into)
}

function collect(result: Result, value: Value, given: ReadonlySet<Tensor>, into: Map<ValueId, Tensor>): void {
  if (result.kind === 'value') into.set(result.id, given.has(value as Tensor) ? alias(value as Tensor) : (value as Tensor))
  else if (result.kind === 'list') {
    const items = value instanceof Tuple ? value.items : (value as Value[])
    result.items.forEach((item, i) => collect(item, items[i]!, given, into))
  }
}

/** Another tensor on the same memory, which can be released on its own. */
function alias(t: Tensor): Tensor {
  const view = viewOf(t, t.shape, t.strides)
  view.pinned = true
  return view
}
