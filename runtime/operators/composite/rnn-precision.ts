import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'

/** Runs a recurrent network or cell, a bfloat16 one in float32 and rounded at the end. `others`: states and parameters. */
export function widened<T extends Tensor | Tensor[]>(input: Tensor, others: Tensor[], run: (input: Tensor, others: Tensor[]) => T): T {
  if (input.type !== DType.bfloat16) return run(input, others)
  for (const t of others) check(t.type === input.type, () => `expected one dtype, found ${input.dtype} and ${t.dtype}`)
  const wide = (t: Tensor): Tensor => castTo(t, DType.float32)
  const narrow = (t: Tensor): Tensor => castTo(t, DType.bfloat16)
  const result = run(wide(input), others.map(wide))
  return (Array.isArray(result) ? result.map(narrow) : narrow(result)) as T
}
