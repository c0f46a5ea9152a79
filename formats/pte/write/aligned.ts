import type { Arg, Graph, GraphNode, Result, TensorType, ValueId } from '../../../compiler/graph/graph.js'
import type { DType } from '../../../runtime/tensor/dtype.js'
import { areEqual } from '../../../runtime/bytes.js'
import { readTensor } from '../../../runtime/tensor/data.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { Tuple, type Value } from '../../../runtime/tensor/value.js'
import { unsupported } from '../../../program/file-error.js'

/** An int as it is in each of several recordings, for inputs of other sizes. */
export type Sampled = readonly (number | bigint)[]

/** A tensor of all recordings. */
export interface AlignedValue {
  readonly dtype: DType
  /** Sizes: one for each dimension. */
  readonly shape: readonly Sampled[]
  /** What it is in every call. */
  readonly tensor: Tensor | null
}

export type AlignedArg =
  | { readonly kind: 'value'; readonly value: AlignedValue }
  | { readonly kind: 'int'; readonly at: Sampled }
  /** None, bool, Float, string. */
  | { readonly kind: 'plain'; readonly value: Value }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly AlignedArg[] }
  | { readonly kind: 'dict'; readonly keys: readonly (string | number)[]; readonly items: readonly AlignedArg[] }

/** null for what nobody needs. */
export type AlignedResult = AlignedValue | null | readonly AlignedResult[]

export interface AlignedNode {
  readonly op: string
  readonly args: readonly AlignedArg[]
  readonly results: readonly AlignedResult[]
  /** It writes to arguments. */
  readonly isInPlace: boolean
}

/** Recordings of one method at several sizes, as one graph. */
export interface AlignedGraph {
  readonly inputs: readonly AlignedValue[]
  readonly nodes: readonly AlignedNode[]
  readonly output: AlignedArg
}

/** Throws UNSUPPORTED_FILE where they differ in more than sizes and ints. */
export function align(graphs: readonly Graph[]): AlignedGraph {
  return new Aligner(graphs).align()
}

class Aligner {
  /** Of each graph. */
  private readonly values: readonly Map<ValueId, AlignedValue>[]

  constructor(private readonly graphs: readonly Graph[]) {
    this.values = graphs.map(() => new Map())
  }

  align(): AlignedGraph {
    const { graphs } = this
    const [first] = graphs as [Graph, ...Graph[]]
    if (graphs.some(({ nodes }) => nodes.length !== first.nodes.length)) throw differs('calls other operators')
    const inputs = this.zip(graphs.map((graph) => graph.inputs)).map((ids) => this.define(ids, null))
    this.addConstants()
    const nodes = this.zip(graphs.map((graph) => graph.nodes)).map((group) => this.node(group))
    return { inputs, nodes, output: this.arg(graphs.map(({ output }) => output)) }
  }

  private zip<T>(lists: readonly (readonly T[])[]): T[][] {
    const [first] = lists as [readonly T[], ...(readonly T[])[]]
    if (lists.some((list) => list.length !== first.length)) throw differs('has other arguments')
    return first.map((_, i) => lists.map((list) => list[i]!))
  }

  /** Constants come in the order of the code, but may be others where they are made of sizes: those are refused, as values where their own sizes differ. */
  private addConstants(): void {
    for (const ids of this.zip(this.graphs.map(({ constants }) => constants))) {
      if (!ids.every(({ tensor }) => holdsSame(tensor, ids[0]!.tensor)))
        throw unsupported('numbers in a constant depend on the sizes of inputs; give --shape to write it for one size')
      this.define(
        ids.map(({ id }) => id),
        ids[0]!.tensor,
      )
    }
  }

  private define(ids: readonly ValueId[], tensor: Tensor | null): AlignedValue {
    const types = ids.map((id, i): TensorType => this.graphs[i]!.values.get(id)!.type)
    const [type] = types as [TensorType, ...TensorType[]]
    if (types.some(({ shape, dtype }) => shape.length !== type.shape.length || dtype !== type.dtype))
      throw differs('has tensors of other dimensions')
    if (type.quant !== null)
      throw unsupported(
        'quantized tensors have no form in ExecuTorch; lower what quantize_pt2e made, or convert the model before it was quantized',
      )
    const value: AlignedValue = { dtype: type.dtype, shape: type.shape.map((_, dim) => types.map(({ shape }) => shape[dim]!)), tensor }
    ids.forEach((id, i) => this.values[i]!.set(id, value))
    return value
  }

  private node(group: readonly GraphNode[]): AlignedNode {
    const [first] = group as [GraphNode, ...GraphNode[]]
    if (first.kind !== 'operator') throw unsupported(`'${first.kind}' has no form in ExecuTorch`)
    const args = this.zip(group.map((node) => (node.kind === 'operator' && node.op === first.op ? node.args : [])))
    if (group.some((node) => node.kind !== 'operator' || node.op !== first.op)) throw differs('calls other operators')
    return {
      op: first.op,
      args: args.map((arg) => this.arg(arg)),
      results: this.zip(group.map(({ results }) => results)).map((results) => this.result(results)),
      isInPlace: first.writes.length > 0,
    }
  }

  private result(results: readonly Result[]): AlignedResult {
    const [first] = results as [Result, ...Result[]]
    if (results.some(({ kind }) => kind !== first.kind)) throw differs('has other results')
    if (first.kind === 'ignored') return null
    if (first.kind === 'list') return this.zip(results.map((r) => (r as typeof first).items)).map((items) => this.result(items))
    return this.define(
      results.map((r) => (r as typeof first).id),
      null,
    )
  }

  private arg(args: readonly Arg[]): AlignedArg {
    const [first] = args as [Arg, ...Arg[]]
    if (args.some(({ kind }) => kind !== first.kind)) throw differs('has other arguments')
    switch (first.kind) {
      case 'value': {
        const found = args.map((arg, i) => this.values[i]!.get((arg as typeof first).id)!)
        if (found.some((value) => value !== found[0])) throw differs('has other arguments')
        return { kind: 'value', value: found[0]! }
      }
      case 'constant':
        return this.constant(args.map((arg) => (arg as typeof first).value))
      case 'object':
        throw unsupported('objects such as packed weights have no form in ExecuTorch')
      case 'list':
      case 'tuple':
        return { kind: first.kind, items: this.zip(args.map((arg) => (arg as typeof first).items)).map((items) => this.arg(items)) }
      case 'dict': {
        const keys = first.entries.map(([key]) => key)
        if (!keys.every((key) => typeof key === 'string' || typeof key === 'number'))
          throw unsupported('a dict whose keys are no texts or ints')
        const lists = args.map((arg) => (arg as typeof first).entries.map(([, item]) => item))
        return { kind: 'dict', keys: keys as (string | number)[], items: this.zip(lists).map((items) => this.arg(items)) }
      }
    }
  }

  private constant(values: readonly Value[]): AlignedArg {
    const [first] = values as [Value, ...Value[]]
    if (typeof first === 'number' || typeof first === 'bigint') {
      if (!values.every((value) => typeof value === 'number' || typeof value === 'bigint')) throw differs('has other arguments')
      return { kind: 'int', at: values as Sampled }
    }
    if (Array.isArray(first) || first instanceof Tuple) {
      const lists = values.map((value) => (Array.isArray(value) ? value : value instanceof Tuple ? value.items : []))
      return { kind: first instanceof Tuple ? 'tuple' : 'list', items: this.zip(lists).map((items) => this.constant(items)) }
    }
    if (first instanceof Float) {
      if (!values.every((value) => value instanceof Float && Object.is(value.value, first.value)))
        throw differs('computes with floats that depend on sizes')
      return { kind: 'plain', value: first }
    }
    if (typeof first !== 'object' || first === null) {
      if (values.some((value) => value !== first)) throw differs('has other arguments')
      return { kind: 'plain', value: first }
    }
    // a device says nothing: there is one
    return { kind: 'plain', value: null }
  }
}

/** False for tensors of the same sizes with other elements. */
function holdsSame(a: Tensor, b: Tensor): boolean {
  if ((a.storage === b.storage && a.offset === b.offset) || a.type !== b.type || !sameShape(a.shape, b.shape)) return true
  const [one, other] = [a, b].map((tensor) => {
    const { buffer, byteOffset, byteLength } = readTensor(tensor)
    return new Uint8Array(buffer, byteOffset, byteLength)
  }) as [Uint8Array, Uint8Array]
  return areEqual(one, other)
}

function differs(what: string): Error {
  return unsupported(`for inputs of other sizes it ${what}; give --shape to write it for one size`)
}
