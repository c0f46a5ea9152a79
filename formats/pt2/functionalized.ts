import { damaged, unsupported } from '../../program/file-error.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { isWritten, type OperatorSchema } from '../../runtime/operators/table/schema.js'
import type { Argument, Graph, GraphNode, NodeInput } from './graph.js'
import { operatorName } from './operators.js'
import { forEachName } from './scope.js'
import type { MetaOf, TensorMeta } from './tensor-meta.js'

const CONTIGUOUS: Argument = { kind: 'enum', type: 'MemoryFormat', value: 0 }

/**
 * The graph that `auto_functionalized` or `auto_functionalized_v2` stands for: an operator that writes to its arguments is called with copies of them, and the copies follow its
 * results. The first has the arguments under their names; the second has the tensors that are written to in `_all_bases`, and for each argument which of them it is a view of, and what
 * view. Inputs of the graph are called as they are outside of it. Throws INVALID_FILE for arguments that do not fit together.
 */
export function functionalized(node: GraphNode, isSecond: boolean, metaOf: MetaOf): Graph {
  const [operator, ...given] = node.inputs
  if (operator?.argument.kind !== 'operator') throw damaged('expected an operator as first argument')
  const target = operator.argument.name
  const calls = new Calls(node, target)
  const copies = isSecond ? calls.withBases(given, metaOf) : calls.withCopies(given)
  const outputs = node.outputs.flatMap((output) => (output.kind === 'list' ? output.items : [output]))
  const results = outputs.slice(0, Math.max(outputs.length - copies.length, 0))
  const inputs = new Map<string, Argument>()
  for (const { argument } of given) {
    for (const item of argument.kind === 'list' ? argument.items : [argument]) {
      if (item.kind === 'tensor' || item.kind === 'symbol') inputs.set(item.name, item)
      else forEachName(item, () => fail('lists in lists'))
    }
  }
  // an operator without results has None for one
  calls.add(target, calls.inputs, returnsNothing(target) ? [] : results)
  return { inputs: [...inputs.values()], nodes: calls.nodes, outputs: [...results, ...copies], tensors: null, symbols: null }
}

function returnsNothing(target: string): boolean {
  return schemaOf(target)?.returns.length === 0
}

/** The schema of a node's target; undefined where that is no operator of this build. */
function schemaOf(target: string): OperatorSchema | undefined {
  return findOperator(operatorName(target) ?? '')?.schema
}

function fail(what: string): never {
  throw unsupported(`${what} among the arguments of an operator that writes to them`)
}

/** Nodes that copy what an operator writes to, and the arguments that it is called with. */
class Calls {
  readonly nodes: GraphNode[] = []
  readonly inputs: NodeInput[] = []

  constructor(
    private readonly node: GraphNode,
    private readonly target: string,
  ) {}

  add(target: string, inputs: readonly NodeInput[], outputs: readonly Argument[]): void {
    this.nodes.push({ ...this.node, target, inputs, outputs })
  }

  /** The result of an operator that views or copies a tensor. */
  private made(target: string, args: Readonly<Record<string, Argument>>): Argument {
    // no name of a file begins so
    const result: Argument = { kind: 'tensor', name: `%${this.nodes.length}` }
    this.add(
      `torch.ops.aten.${target}`,
      Object.entries(args).map(([name, argument]) => ({ name, argument })),
      [result],
    )
    return result
  }

  /** Copies of the arguments that the operator's schema says it writes to. */
  withCopies(given: readonly NodeInput[]): Argument[] {
    const args = schemaOf(this.target)?.arguments ?? []
    const copies: Argument[] = []
    for (const { name, argument } of given) {
      const isCopied = args.some((arg) => arg.name === name && isWritten(arg))
      const copy = (item: Argument): Argument => {
        const made = item.kind === 'tensor' ? this.made('clone.default', { self: item }) : item
        copies.push(made)
        return made
      }
      if (!isCopied) this.inputs.push({ name, argument })
      else if (argument.kind === 'list') this.inputs.push({ name, argument: { kind: 'list', items: argument.items.map(copy) } })
      else this.inputs.push({ name, argument: copy(argument) })
    }
    return copies
  }

  /** Copies of the bases, in their order; arguments are views of them. */
  withBases(given: readonly NodeInput[], metaOf: MetaOf): Argument[] {
    const named = new Map(given.map(({ name, argument }) => [name, argument]))
    const all = named.get('_all_bases')
    if (all?.kind !== 'list') throw damaged('expected a list of tensors that are written to')
    const copies = all.items.map((base) => {
      if (base.kind !== 'tensor') throw damaged(`expected a tensor that is written to, found ${base.kind}`)
      const meta = metaOf(base.name)
      // views tell strides of the file, of which this runtime may have others
      const layout = meta !== undefined && isContiguous(meta) ? { memory_format: CONTIGUOUS } : {}
      return { copy: this.made('clone.default', { self: base, ...layout }), meta }
    })
    const taken = new Set(['_all_bases'])
    const part = (name: string): Argument | undefined => {
      taken.add(name)
      return named.get(name)
    }
    const viewOf = (name: string): Argument => {
      const index = part(`_${name}_base_index`)
      if (index === undefined || index.kind === 'none') return { kind: 'none' }
      const base = copies[numberOf(index)]
      if (base === undefined) throw damaged(`the argument '${name}' is of no tensor that is written to`)
      const [size, stride, offset] = [part(`_${name}_size`), part(`_${name}_stride`), part(`_${name}_storage_offset`)]
      const [dim, start, end] = [part(`_${name}_slice_dim`), part(`_${name}_slice_start`), part(`_${name}_slice_end`)]
      part(`_${name}_alias`)
      if (size !== undefined && stride !== undefined && offset !== undefined)
        return this.made('as_strided.default', { self: base.copy, size, stride, storage_offset: withinBase(offset, base.meta) })
      if (dim === undefined || start === undefined || end === undefined) return base.copy
      return this.made('slice.Tensor', { self: base.copy, dim, start, end })
    }
    // a list has its length, and a base for each of its tensors
    for (const [name, length] of named) {
      const list = /^_(.+)_length$/.exec(name)?.[1]
      if (list === undefined || named.has(`_${list}_base_index`)) continue
      taken.add(name)
      if (length.kind === 'none') this.inputs.push({ name: list, argument: length })
      else {
        const count = numberOf(length)
        if (count > named.size) throw damaged(`the list '${list}' says it has ${count} tensors`)
        this.inputs.push({ name: list, argument: { kind: 'list', items: Array.from({ length: count }, (_, i) => viewOf(`${list}_${i}`)) } })
      }
    }
    for (const name of named.keys()) {
      const argument = taken.has(name) ? undefined : /^_(.+)_base_index$/.exec(name)?.[1]
      if (argument !== undefined) this.inputs.push({ name: argument, argument: viewOf(argument) })
    }
    for (const { name, argument } of given) if (!taken.has(name)) this.inputs.push({ name, argument })
    return copies.map(({ copy }) => copy)
  }
}

function numberOf(argument: Argument): number {
  if (argument.kind === 'constant' && typeof argument.value === 'number' && argument.value >= 0) return argument.value
  throw damaged('expected a count or the number of a tensor that is written to')
}

/** The offset of a view in a copy, which begins where its base does. */
function withinBase(offset: Argument, meta: TensorMeta | undefined): Argument {
  const first = meta?.offset?.kind === 'int' ? meta.offset.value : 0
  if (first === 0) return offset
  return { kind: 'constant', type: 'int', value: numberOf(offset) - first }
}

/** Whether strides are those of rows, as far as sizes are numbers; the first size does not matter. */
function isContiguous({ sizes, strides }: TensorMeta): boolean {
  let expected = 1
  for (let i = sizes.length - 1; i >= 0; i--) {
    const [size, stride] = [sizes[i], strides[i]]
    if (stride?.kind !== 'int' || (stride.value !== expected && !(size?.kind === 'int' && size.value === 1))) return false
    if (i === 0) break
    if (size?.kind !== 'int') return false
    expected *= size.value
  }
  return true
}
