import type { Argument, Graph, GraphNode } from './graph.js'
import { damaged } from '../../program/file-error.js'
import type { ExportedProgram } from './program.js'
import type { InputSpec } from './signature.js'
import { isPickled, type Payload } from './weights.js'

const ACCESS = 'torch.ops.export.access_subclass_inner_tensor.default'

/** A tensor within one of a subclass. */
interface Inner {
  readonly target: string
  readonly record: string
  readonly path: readonly string[]
}

/**
 * The program with the tensors that it takes out of those of subclasses as state of its own: `a.weight`, of which nodes take `qdata`, becomes
 * `a.weight.qdata`, and these nodes go. `payloads` gets what they are. Throws INVALID_FILE for nodes that take something out of other tensors.
 */
export function withoutSubclasses(program: ExportedProgram, payloads: Map<string, Payload>): ExportedProgram {
  const { graph, signature } = program
  const inner = new Map<string, Inner>()
  for (const spec of signature.inputs) {
    const payload = spec.kind === 'state' ? payloads.get(spec.target) : undefined
    if (spec.kind === 'state' && payload !== undefined && isPickled(payload))
      inner.set(spec.name, { target: spec.target, record: payload.record, path: [] })
  }
  if (inner.size === 0) return program
  const nodes = graph.nodes.filter((node) => !isAccess(node, inner))
  const used = namesIn([...nodes.flatMap(({ inputs }) => inputs.map(({ argument }) => argument)), ...graph.outputs])
  const byTarget = new Map<string, [string, Inner][]>()
  for (const [name, one] of inner) if (used.has(name)) push(byTarget, one.target, [name, one])
  const inputs: Argument[] = []
  const specs: InputSpec[] = []
  signature.inputs.forEach((spec, i) => {
    if (spec.kind !== 'state' || !inner.has(spec.name)) {
      specs.push(spec)
      const input = graph.inputs[i]
      if (input !== undefined) inputs.push(input)
      return
    }
    for (const [name, { target, record, path }] of byTarget.get(spec.target) ?? []) {
      const own = [target, ...path].join('.')
      payloads.set(own, { kind: 'inner', record, path })
      specs.push({ kind: 'state', name, target: own })
      inputs.push({ kind: 'tensor', name })
    }
  })
  const flat: Graph = { ...graph, inputs, nodes }
  return { ...program, graph: flat, signature: { ...signature, inputs: specs } }
}

/** Whether a node takes a tensor out of one of a subclass; what it takes is put into `inner`. */
function isAccess({ target, inputs, outputs }: GraphNode, inner: Map<string, Inner>): boolean {
  if (target !== ACCESS) return false
  const [of, name] = inputs.map(({ argument }) => argument)
  const from = of?.kind === 'tensor' ? inner.get(of.name) : undefined
  const [output] = outputs
  if (from === undefined || output?.kind !== 'tensor' || name?.kind !== 'constant' || typeof name.value !== 'string')
    throw damaged('a node takes a tensor out of what is no parameter of a subclass')
  inner.set(output.name, { ...from, path: [...from.path, name.value] })
  return true
}

function namesIn(found: readonly Argument[]): Set<string> {
  const names = new Set<string>()
  const visit = (argument: Argument): void => {
    if (argument.kind === 'tensor') names.add(argument.name)
    else if (argument.kind === 'list') argument.items.forEach(visit)
    else if (argument.kind === 'dict') argument.entries.forEach(([, item]) => visit(item))
  }
  found.forEach(visit)
  return names
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
