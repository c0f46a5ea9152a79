import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, NONE } from '../../graph/graph.js'
import { isFlag, isNone } from '../analysis.js'
import type { Canonical } from './form.js'

/* Normalizations and the statistics that they are spelled out with. */

/** (input, weight, bias, mean, variance, ..., momentum, eps), the last two from `momentum` on. */
export function batchNorm(node: OperatorNode, momentum: number): Canonical | null {
  const { args } = node
  if (isNone(named(node, 'running_mean')) || isNone(named(node, 'running_var'))) return null
  return { op: 'aten::batch_norm', args: [...args.slice(0, 5), constant(false), args[momentum]!, args[momentum + 1]!, constant(true)] }
}

/** (input, shape, weight, bias, eps). */
export function layerNorm({ args }: OperatorNode): Canonical {
  return { op: 'aten::layer_norm', args: [...args, constant(true)] }
}

/** (input, weight, bias, batch, channels, pixels, groups, eps). */
export function groupNorm({ args }: OperatorNode): Canonical {
  const [input, weight, bias, , , , groups, eps] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg, Arg, Arg]
  return { op: 'aten::group_norm', args: [input, groups, weight, bias, eps, constant(true)] }
}

/** (input, dimensions, with Bessel's correction or not, keep dimensions). */
export function variance({ op, args }: OperatorNode): Canonical | null {
  const [input, dims, unbiased, keep] = args as readonly [Arg, Arg, Arg, Arg]
  if (unbiased.kind !== 'constant') return null
  return { op: op.replace('.dim', '.correction'), args: [input, dims, constant(isFlag(unbiased, false) ? 0 : 1), keep] }
}

/** Maximum or minimum along a dimension, without its place. */
export function extreme({ op, args }: OperatorNode): Canonical | null {
  const [input, dim, keep] = args as readonly [Arg, Arg, Arg]
  if (dim.kind !== 'constant' || typeof dim.value !== 'number') return null
  return { op: op === 'aten::max.dim' ? 'aten::amax' : 'aten::amin', args: [input, constant([dim.value]), keep] }
}

/** Softmax or its logarithm without a cast. */
export function softmax({ op, args }: OperatorNode): Canonical | null {
  const [input, dim, cast] = args as readonly [Arg, Arg, Arg]
  return isFlag(cast, false) ? { op: `${op.replace('::_', '::')}.int`, args: [input, dim, NONE] } : null
}
