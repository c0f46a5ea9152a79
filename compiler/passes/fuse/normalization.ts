import { isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import type { Arg, OperatorNode, ValueId } from '../../graph/graph.js'
import { type Analysis, inputArg, integersArg, numberArg, onlyResult, valueArg } from '../analysis.js'
import { madeBy } from '../expression.js'

/* What normalizations written out have in common. */

/** What a norm over the last dimensions is made of. */
export interface Norm {
  readonly input: ValueId
  /** Sizes of the dimensions that are normalized, the last ones. */
  readonly shape: readonly number[]
  readonly eps: number
}

/** What a root is taken of. */
export function rootArgument(arg: Arg | undefined, op: 'aten::sqrt' | 'aten::rsqrt', analysis: Analysis): Arg | undefined {
  const node = madeBy(arg, analysis)
  return node?.op === op ? inputArg(node) : undefined
}

/** Both factors of a square. */
export function squareOf(arg: Arg | undefined, analysis: Analysis): readonly [Arg, Arg] | null {
  const node = madeBy(arg, analysis)
  const [a, b] = (node?.args ?? []) as [Arg, Arg]
  if (node?.op === 'aten::square') return [a, a]
  return node?.op === 'aten::mul.Tensor' ? [a, b] : null
}

/** How many of the last dimensions a reduction goes over; 0 where it is over others, or drops them. */
export function lastDims(list: Arg | undefined, keep: Arg | undefined, rank: number): number {
  const dims = integersArg(list)?.map((d) => (d < 0 ? d + rank : d))
  if (dims === undefined || keep?.kind !== 'constant' || keep.value !== true) return 0
  return dims.length > 0 && dims.sort((a, b) => a - b).every((d, i) => d === rank - dims.length + i) ? dims.length : 0
}

/** The product or sum with a constant over the normalized dimensions that is all that becomes of a node. */
export function parameterStep(
  op: string,
  node: OperatorNode,
  shape: readonly number[],
  analysis: Analysis,
): { node: OperatorNode; operand: Arg } | null {
  const result = onlyResult(node)!
  const next = analysis.onlyReader(result)
  if (next?.op !== op || onlyResult(next) === undefined || !analysis.isPure(next)) return null
  if (op === 'aten::add.Tensor' && numberArg(named(next, 'alpha')) !== 1) return null
  const operand = next.args.slice(0, 2).find((arg) => valueArg(arg) !== result)
  const id = valueArg(operand)
  if (id === undefined || analysis.tensor(id) === undefined) return null
  const type = analysis.type(id)
  const fits = type.dtype === analysis.type(result).dtype && sameShape(type.shape, shape) && isContiguous(type.shape, type.strides)
  return fits ? { node: next, operand: operand! } : null
}
