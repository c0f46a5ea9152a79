import type { LoadOptions } from '../index.js'
import { parseCount, UsageError } from './usage.js'

export type WeightOptions = Pick<LoadOptions, 'weights' | 'group' | 'activations'>
type Weights = NonNullable<LoadOptions['weights']>

/** What weights of linear layers and embeddings are rounded to, for commands that load models. */
export const WEIGHTS_OPTION = { weights: { type: 'string' }, group: { type: 'string' }, activations: { type: 'string' } } as const
export const WEIGHTS_USAGE = '[--weights int8|int4|bfloat16|float16 [--group N] [--activations float]]'
export const WEIGHTS_HELP = `      --weights FORMAT  rounds the weights of linear layers and embeddings: int8, int4, bfloat16 or float16 (docs/weights.md)
      --group N       of int8 and int4: 32, 64, 128 or 256 numbers of a row share a scale; 32 of int4, whole rows of int8 without it
      --activations float  of int8 and int4: what they are multiplied with stays float32; it is rounded to 8 bits without it`

const FORMATS: readonly string[] = ['int8', 'int4', 'bfloat16', 'float16'] satisfies readonly Weights[]

interface WeightValues {
  readonly weights?: string | undefined
  readonly group?: string | undefined
  readonly activations?: string | undefined
}

/** Throws UsageError for unknown formats. */
export function weightsOf({ weights, group, activations }: WeightValues): WeightOptions {
  if (weights === undefined) {
    if (group !== undefined || activations !== undefined) throw new UsageError('--group and --activations go with --weights')
    return {}
  }
  if (!FORMATS.includes(weights)) throw new UsageError(`--weights: expected ${FORMATS.join(', ')}, found ${weights}`)
  if (activations !== undefined && activations !== 'float') throw new UsageError(`--activations: expected float, found ${activations}`)
  return {
    weights: weights as Weights,
    ...(group === undefined ? {} : { group: parseCount(group, '--group', 32) }),
    ...(activations === undefined ? {} : { activations: 'float' }),
  }
}
