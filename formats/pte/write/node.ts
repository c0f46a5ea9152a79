import { findOperator } from '../../../runtime/operators/table/registry.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { unsupported } from '../../../program/file-error.js'
import type { AlignedArg, AlignedNode, AlignedValue, Sampled } from './aligned.js'
import type { Lowering } from './lowering.js'
import { isFixed } from './plan-writer.js'

/** The arguments of a node by the names that its schema has for them. */
export class NodeArguments {
  constructor(
    readonly node: AlignedNode,
    private readonly lowering: Lowering,
  ) {}

  arg(name: string): AlignedArg {
    const place = findOperator(this.node.op)!.schema.arguments.findIndex((argument) => argument.name === name)
    return this.lowering.arg(this.node.args[place] ?? { kind: 'plain', value: null })
  }

  has(name: string): boolean {
    const arg = this.arg(name)
    return arg.kind !== 'plain' || arg.value !== null
  }

  tensor(name: string): AlignedValue {
    const arg = this.arg(name)
    if (arg.kind !== 'value') throw unsupported(`${this.node.op} with a number as ${name}`)
    return arg.value
  }

  optionalTensor(name: string): AlignedValue | null {
    return this.has(name) ? this.tensor(name) : null
  }

  int(name: string): number {
    const arg = this.arg(name)
    if (arg.kind !== 'int' || !isFixed(arg.at)) throw unsupported(`${this.node.op} with ${name} that depends on the sizes of inputs`)
    return Number(arg.at[0])
  }

  /** A dimension, counted from the first. */
  dim(name: string, rank: number): number {
    const dim = this.int(name)
    return dim < 0 ? dim + rank : dim
  }

  number(name: string): number {
    const arg = this.arg(name)
    if (arg.kind === 'int' && isFixed(arg.at)) return Number(arg.at[0])
    if (arg.kind === 'plain' && arg.value instanceof Float) return arg.value.value
    if (arg.kind === 'plain' && typeof arg.value === 'boolean') return Number(arg.value)
    throw unsupported(`${this.node.op} with ${name} that is no number`)
  }

  flag(name: string): boolean {
    const arg = this.arg(name)
    return arg.kind === 'plain' && arg.value === true
  }

  text(name: string): string | null {
    const arg = this.arg(name)
    return arg.kind === 'plain' && typeof arg.value === 'string' ? arg.value : null
  }

  /** Ints that are the same in every call; one stands for `count`. */
  ints(name: string, count = 1): number[] {
    const arg = this.arg(name)
    const items = arg.kind === 'list' || arg.kind === 'tuple' ? arg.items : [arg]
    const ints = items.map((item) => {
      if (item.kind !== 'int' || !isFixed(item.at)) throw unsupported(`${this.node.op} with ${name} that depends on the sizes of inputs`)
      return Number(item.at[0])
    })
    return ints.length === 1 && count > 1 ? Array<number>(count).fill(ints[0]!) : ints
  }

  /** Its only result, or its first one. */
  get result(): AlignedValue {
    return this.resultAt(0)
  }

  resultAt(index: number): AlignedValue {
    const result = this.node.results[index]
    if (result === undefined || result === null || Array.isArray(result)) throw unsupported(`${this.node.op} without its result ${index}`)
    return result as AlignedValue
  }

  /** A result that nobody may need. */
  resultOr(index: number, form: () => AlignedValue): AlignedValue {
    const result = this.node.results[index]
    return result === undefined || result === null || Array.isArray(result) ? form() : (result as AlignedValue)
  }
}

/** Writes a node that no single operator of ExecuTorch is. */
export type Rule = (args: NodeArguments, lowering: Lowering) => void

/** The product of sizes in each recording. */
export function productOf(shape: readonly Sampled[]): Sampled {
  const count = Math.max(1, ...shape.map(({ length }) => length))
  return Array.from({ length: count }, (_, i) => shape.reduce((product, at) => product * Number(at[at.length === 1 ? 0 : i]), 1))
}
