import type { DTypeName } from '../runtime/tensor/dtype.js'
import type { FunctionSchema } from './code.js'

/** A size of a tensor: a number, or an expression of symbols that holds for every call, such as `s0` or `2*s0`. */
export interface Dimension {
  /** The number, or the expression. */
  readonly text: string
  /** What it may be; both ends are included. */
  readonly min: number
  /** null where there is no limit. */
  readonly max: number | null
}

/** A value that a model takes or gives, as its file describes it. */
export interface ArgumentInfo {
  /** `x`, or its place in a structure: `batch['ids']`, `states[0]`. */
  readonly name: string
  /** As TorchScript writes it: `Tensor`, `int`, `Optional[List[Tensor]]`. */
  readonly type: string
  /** Of tensors whose dtype the file says. */
  readonly dtype?: DTypeName
  /** Of tensors whose sizes the file says. */
  readonly shape?: readonly Dimension[]
  /** The only value that the program was exported for. */
  readonly constant?: number | bigint | boolean | string | null
}

/** What a method takes, as far as its schema says. */
export function inputsOf(args: FunctionSchema['args']): ArgumentInfo[] {
  return args.map(({ name, type }) => ({ name, type }))
}

/** What a method gives: schemas have no names of results. */
export function outputsOf(returns: FunctionSchema['returns']): ArgumentInfo[] {
  return returns.map(({ type }, i) => ({ name: `output ${i}`, type }))
}
