import type { Value } from '../runtime/tensor/value.js'

/** The sizes that a file says of a tensor. */
export interface ResultSizes {
  readonly sizes: readonly number[]
  /** They are bounds: a tensor of as many dimensions, with no more elements, will do. */
  readonly areBounds: boolean
}

/** What a file says of the results of a call. */
export interface ResultBounds {
  /** What it calls, by the name that it has there. */
  readonly of: string
  /** Of each tensor that the call gives, those in a list included, in order; null where nothing is said of it. */
  readonly results: readonly (ResultSizes | null)[]
  /** Bytes that no tensor which is made meanwhile may exceed: Infinity for any. */
  readonly bytes: number
}

/** An operator as a function's table names it. */
export interface OperatorName {
  /** With namespace: `aten::add`. */
  readonly name: string
  /** `Tensor`, or '' for the default overload. */
  readonly overload: string
  /** Arguments on the stack at every call, `out` arguments included; -1 for all of the schema's. */
  readonly argCount: number
  /** What calls of it may give, where the file says so. */
  readonly bounds?: ResultBounds
}

export interface FunctionArgument {
  readonly name: string
  readonly type: string
  /** undefined where the argument has to be given. */
  readonly default: Value | undefined
}

export interface FunctionSchema {
  readonly args: readonly FunctionArgument[]
  /** `described`: the type that the file says of what the code has as `Any`. */
  readonly returns: readonly { readonly type: string; readonly described?: string }[]
}

/** One function of a module as the file has it, before operators are resolved. */
export interface FunctionCode {
  /** Qualified: `__torch__.Net.forward`. */
  readonly name: string
  /** Last part of the name. */
  readonly method: string
  /** What stands before it: the class, `__torch__.Net`. */
  readonly className: string
  /** Triples (opcode, X, N). */
  readonly code: Int32Array
  readonly operators: readonly OperatorName[]
  readonly constants: readonly Value[]
  /** Type texts. */
  readonly types: readonly string[]
  readonly registerSize: number
  readonly schema: FunctionSchema | null
  /** One handle per instruction, where the file has debug information. */
  readonly debugHandles?: Int32Array | undefined
  /** Of code that `withLastRow` has made: what it was told. */
  readonly lastRowOf?: number
}
