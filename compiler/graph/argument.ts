import type { DictKey, Value } from '../../runtime/tensor/value.js'

/** Number of a value; each is defined once. */
export type ValueId = number

/** An argument of a node, or a part of what the graph returns. */
export type Arg =
  | { readonly kind: 'value'; readonly id: ValueId }
  /** None, bool, number, string, dtype, device: anything without tensors in it, lists and tuples included. */
  | { readonly kind: 'constant'; readonly value: Value }
  /** Entry of `Graph.objects`: packed weights and the like. */
  | { readonly kind: 'object'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly Arg[] }
  | { readonly kind: 'tuple'; readonly items: readonly Arg[]; readonly fields: readonly string[] | undefined }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [DictKey, Arg])[] }

/** One result on the stack after a node has run. */
export type Result =
  | { readonly kind: 'value'; readonly id: ValueId }
  | { readonly kind: 'list'; readonly items: readonly Result[] }
  /** Nobody needs it, or it is an argument handed back. */
  | { readonly kind: 'ignored' }

/** Where in the model a node comes from. */
export interface Origin {
  readonly functionName: string
  /** Number of the instruction. */
  readonly pc: number
}

/** What all nodes have. They run in the order of `Graph.nodes`. */
export interface NodeBase {
  readonly results: readonly Result[]
  /** Values whose memory it writes to; empty for all but in-place and `out=` operators. */
  readonly writes: readonly ValueId[]
  readonly origin: Origin | null
  /** It draws random numbers: it stays, and in its place among others that do. */
  readonly draws?: true
  /** Why a pass chose this node, for people. */
  readonly note?: string
}

/** One call of an operator of the table. */
export interface OperatorNode extends NodeBase {
  readonly kind: 'operator'
  /** Qualified name: `aten::conv2d`. */
  readonly op: string
  /** One per argument of the schema. */
  readonly args: readonly Arg[]
}

/** Calls `visit` for each value in an argument. */
export function visitArg(arg: Arg, visit: (id: ValueId) => void): void {
  switch (arg.kind) {
    case 'value':
      visit(arg.id)
      break
    case 'list':
    case 'tuple':
      for (const item of arg.items) visitArg(item, visit)
      break
    case 'dict':
      for (const [, item] of arg.entries) visitArg(item, visit)
  }
}

export function visitResult(result: Result, visit: (id: ValueId) => void): void {
  if (result.kind === 'value') visit(result.id)
  else if (result.kind === 'list') for (const item of result.items) visitResult(item, visit)
}

/** The argument with other values in place of its own. */
export function mapArg(arg: Arg, replace: (id: ValueId) => ValueId): Arg {
  switch (arg.kind) {
    case 'value': {
      const id = replace(arg.id)
      return id === arg.id ? arg : { kind: 'value', id }
    }
    case 'list':
      return { kind: 'list', items: arg.items.map((item) => mapArg(item, replace)) }
    case 'tuple':
      return { kind: 'tuple', items: arg.items.map((item) => mapArg(item, replace)), fields: arg.fields }
    case 'dict':
      return { kind: 'dict', entries: arg.entries.map(([key, item]) => [key, mapArg(item, replace)] as const) }
    default:
      return arg
  }
}

export const value = (id: ValueId): Arg => ({ kind: 'value', id })
export const constant = (of: Value): Arg => ({ kind: 'constant', value: of })
export const NONE: Arg = { kind: 'constant', value: null }
