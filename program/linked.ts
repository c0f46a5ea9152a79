import type { OperatorEntry } from '../runtime/operators/table/registry.js'
import type { Stack, Value } from '../runtime/tensor/value.js'
import type { FunctionCode } from './code.js'
import type { TypeNode } from './types.js'

/** Methods that pickling calls, and nothing else. */
export const STATE_METHOD = /^__[gs]etstate__$/

/** How the interpreter treats the arguments of an operator when it returns. */
export const ArgumentUse = {
  /** Reads them: their counts go down by one. */
  read: 0,
  /** May keep or hand out what is inside containers: pins what it was given. */
  keep: 1,
  /** Hands its arguments on as results (`prim::TupleUnpack`): counts move along. */
  move: 2,
} as const
export type ArgumentUse = (typeof ArgumentUse)[keyof typeof ArgumentUse]

/** An operator of a function, resolved. */
export interface LinkedOperator {
  readonly qualifiedName: string
  /** Its entry in the table; null for what stands in for an operator: of an older version, or of an instruction. */
  readonly entry: OperatorEntry | null
  readonly call: (stack: Stack) => void
  /**
   * Of an operator with an older meaning: rewrites its arguments on top of the stack into those of one of today's operators, and returns that
   * one; `call` does this and calls it.
   */
  readonly upgrade?: (stack: Stack) => LinkedOperator
  /** Arguments on the stack before defaults are filled in; -1 for vararg operators, where the instruction says. */
  readonly given: number
  /** Values to insert for omitted arguments, before the last `outs` ones; null if none is omitted. */
  readonly defaults: readonly Value[] | null
  readonly outs: number
  readonly use: ArgumentUse
  /** Takes the number of arguments from the instruction. */
  readonly vararg: boolean
  readonly returns: number
  /** No call of it returns: the path ends there, and what it would leave on the stack is not known. */
  readonly ends?: true
  /** The build lacks it: calls throw MISSING_OPERATOR. */
  readonly isMissing?: true
}

/** What is called in an operator's place. */
export function standIn(
  qualifiedName: string,
  given: number,
  call: LinkedOperator['call'],
  returns: number,
  defaults: LinkedOperator['defaults'] = null,
): LinkedOperator {
  return { qualifiedName, entry: null, call, given, defaults, outs: 0, use: ArgumentUse.read, vararg: false, returns }
}

/** A function ready to run. */
export interface LinkedFunction {
  readonly source: FunctionCode
  readonly operators: readonly LinkedOperator[]
  readonly types: readonly TypeNode[]
  /** By opcode: the operator that an instruction stands for (FORMAT, TO_LIST, NUM_TO_TENSOR). */
  readonly promoted: ReadonlyMap<number, LinkedOperator>
}
