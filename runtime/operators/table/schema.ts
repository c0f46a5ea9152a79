import type { Stack, Value } from '../../tensor/value.js'

/** Runs an operator on the stack: takes its arguments, leaves its results. */
export type BoxedFunction = (stack: Stack) => void

/** What serves an operator, with its arguments as schema types say. */
export type UnboxedFunction = (...args: never[]) => unknown

/** Unboxes the arguments on the stack, calls an unboxed function and leaves its results: the boxed form of operators of one kind. */
export type Wrapper = (stack: Stack, f: never) => void

/** An argument of an operator. */
export interface SchemaArgument {
  readonly name: string
  /** As PyTorch writes it, without alias annotation: `Tensor?[]`, `int[2]`, `Dict(str, t)`. */
  readonly type: string
  /** Alias annotation without parentheses: `a!`, `a -> *`; null for none. */
  readonly alias: string | null
  /** The type with its alias annotation: `Tensor(a!)[]`, `t[](a!)`. */
  readonly annotatedType: string
  readonly kwargOnly: boolean
  /** An `out=` argument. */
  readonly isOut: boolean
  /** undefined where the argument has none. Lists must be copied before use. */
  readonly defaultValue: Value | undefined
}

/** Whether an operator may write to the argument, as its schema says. */
export function isWritten(argument: SchemaArgument | undefined): boolean {
  return argument?.alias?.includes('!') === true
}

/** A result of an operator; its fields are those of an argument. */
export interface SchemaReturn {
  readonly name: string | null
  readonly type: string
  readonly alias: string | null
  readonly annotatedType: string
}

/** A schema as data; nothing is parsed to make one. */
export interface OperatorSchema {
  readonly arguments: readonly SchemaArgument[]
  /** Takes any number of further values. */
  readonly isVararg: boolean
  readonly returns: readonly SchemaReturn[]
  readonly isVarret: boolean
}
