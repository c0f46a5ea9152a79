import { PtliteError } from '../../error.js'
import { type Stack, Tuple, type Value } from '../../tensor/value.js'
import { Tensor } from '../../tensor/tensor.js'
import type { BoxedFunction, OperatorSchema } from './schema.js'

/** Calls of a function that is not the library's: it can change nothing of the tensors that it gets, and must give tensors. */
export function guarded(operator: string, schema: OperatorSchema): (stack: Stack, f: BoxedFunction) => void {
  const check = (value: Value): void => {
    if (value instanceof Tensor && !Tensor.isOne(value))
      throw new PtliteError('INVALID_ARGUMENT', `${operator} returned what only looks like a tensor`)
  }
  return (stack, f) => {
    const { values, top } = stack
    const count = schema.isVararg ? 1 + Number(values[top - 1]) : schema.arguments.length
    for (let i = Math.max(0, top - count); i < top; i++) visit(values[i]!, expose)
    f(stack)
    for (let i = Math.max(0, top - count); i < stack.top; i++) visit(values[i]!, check)
  }
}

function expose(value: Value): void {
  if (value instanceof Tensor && Tensor.isOne(value)) Tensor.expose(value)
}

/** Lists in themselves are no values of operators: at this depth nothing else is either. */
const MAX_NESTED = 100

function visit(value: Value, see: (value: Value) => void, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > MAX_NESTED) return
  see(value)
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : value instanceof Map ? [...value].flat() : []
  for (const item of items) if (typeof item === 'object') visit(item, see, depth + 1)
}
