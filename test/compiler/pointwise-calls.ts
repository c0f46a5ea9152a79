import { POINTWISE_OF_ONE } from '../../compiler/generated/pointwise.js'
import { callOperator, float, int, type Tensor } from '../../src/index.js'
import { findOperator } from '../../runtime/operators/table/registry.js'

/** Arguments behind the tensor that differ from what `numbersOf` gives. */
const NUMBERS: Readonly<Record<string, readonly (number | string)[]>> = {
  'aten::clamp': [-0.5, 0.7],
  'aten::clip': [-0.5, 0.7],
  'aten::elu': [1.1, 0.9, 0.8],
  'aten::gelu': ['none'],
  'aten::threshold': [0.2, 1.5],
  'aten::pow.Tensor_Scalar': [2],
  'aten::mvlgamma': [2],
}

/** Operators that are declared to compute each element of their first argument by itself, with the other arguments that they need. */
export function pointwiseCalls(): { readonly op: string; readonly args: readonly (number | string)[] }[] {
  return [...POINTWISE_OF_ONE].map((op) => ({ op, args: NUMBERS[op] ?? numbersOf(op) }))
}

function numbersOf(op: string): (number | string)[] {
  const [, ...rest] = findOperator(op)!.schema.arguments
  const needed = rest.filter(({ defaultValue }) => defaultValue === undefined)
  return needed.map(({ type }) => (type.startsWith('str') ? 'floor' : type === 'int' ? 2 : 0.5))
}

/** The result on a tensor; null where the operator takes none of its dtype. */
export function callPointwise(
  { op, args }: { readonly op: string; readonly args: readonly (number | string)[] },
  t: Tensor,
): Tensor | null {
  const numbers = args.map((a) => (typeof a === 'string' ? a : Number.isInteger(a) || t.dtype === 'int64' ? int(Math.ceil(a)) : float(a)))
  try {
    return callOperator(op, [t, ...numbers]) as Tensor
  } catch (error) {
    if (t.dtype === 'int64' || !/dtype|integ|bool/i.test((error as Error).message)) throw error
    return null
  }
}
