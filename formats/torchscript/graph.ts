import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import type { Value as Constant } from '../../runtime/tensor/value.js'
import type { FunctionUnit } from './library.js'
import type { SourceFile } from './source.js'
import type { Type } from './types.js'

/*
 * A function as a graph in static single assignment form, as PyTorch's compiler makes of source: nodes in order, blocks in `if` and `loop` nodes.
 */

/** Where a node comes from: a place in code, and the call that it was inlined by. */
export interface Site {
  readonly source: SourceFile
  readonly at: number
  /** The function that the place is in. */
  readonly unit: FunctionUnit
  readonly caller: Site | null
}

/** A value: a constant, an argument, or what a node or block gives. */
export class Value {
  constructor(
    public type: Type,
    /** The node that gives it; null for constants and what a block is entered with. */
    public node: Node | null = null,
    /** undefined for values that are no constants. */
    readonly constant?: Constant,
  ) {}
}

/** What a node does. Instructions have the names of their opcodes. */
export type Action =
  | { readonly kind: 'operator'; readonly entry: OperatorEntry }
  | { readonly kind: 'missing'; readonly name: string } // an operator that the build lacks: no path goes on behind it
  | { readonly kind: 'if' }
  | { readonly kind: 'loop' } // inputs: most iterations, condition, carried values; its block gives condition and carried values
  | { readonly kind: 'call'; readonly unit: FunctionUnit }
  | { readonly kind: 'method'; readonly name: string } // of an interface
  | { readonly kind: 'GET_ATTR' | 'SET_ATTR'; readonly slot: number }
  | { readonly kind: 'drop' } // of values that are not used any more
  | { readonly kind: 'LIST_UNPACK' | 'TUPLE_CONSTRUCT' | 'RAISE_EXCEPTION' | 'UN_INITIALIZED' | 'WARN' | 'TO_LIST' }
  | { readonly kind: 'NAMED_TUPLE_CONSTRUCT' | 'LIST_CONSTRUCT' | 'DICT_CONSTRUCT' | 'CREATE_OBJECT'; readonly type: string }
  | { readonly kind: 'ISINSTANCE'; readonly types: readonly string[] }
  | { readonly kind: 'TUPLE_SLICE'; readonly start: number; readonly count: number }
  | { readonly kind: 'TUPLE_INDEX'; readonly index: number | null } // null where it is no constant

export class Node {
  readonly outputs: Value[] = []
  readonly blocks: Block[] = []

  constructor(
    readonly action: Action,
    readonly inputs: Value[],
    readonly site: Site,
  ) {}

  output(type: Type): Value {
    const value = new Value(type, this)
    this.outputs.push(value)
    return value
  }
}

export class Block {
  readonly params: Value[] = []
  readonly nodes: Node[] = []
  readonly results: Value[] = []
  /** How many nodes there are where all paths have ended in operators that the build lacks; null where they go on. What follows never runs. */
  lostAt: number | null = null
}
