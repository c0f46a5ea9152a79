import { type Batching, batchingOf, ConfigError, type ModelConfig } from '../repository/config.js'
import type { Loaded } from '../workers/messages.js'
import type { ServedModel } from './served-model.js'
import { hasFreeRows, mostRows } from './signature.js'

/** How requests of a model are put into batches; null where they are not. Throws ConfigError where its config wants what the model cannot do. */
export function batchingFor(
  config: ModelConfig,
  { inputs, outputs }: Pick<Loaded, 'inputs' | 'outputs'>,
): ServedModel['facts']['batching'] {
  const { batching, stateful } = config
  if (batching === false || stateful !== null) {
    if (batching !== false && batching !== null) throw new ConfigError('batching: the requests of a stateful model cannot be in one batch')
    return null
  }
  const isFixed = inputs?.some(({ shape }) => shape !== undefined && (shape.length === 0 || shape[0]!.min === shape[0]!.max)) === true
  if (batching !== null && isFixed)
    throw new ConfigError('batching: the model was exported for one number of rows; export it with a dynamic batch dimension')
  if (batching !== null) return batching
  return hasFreeRows(inputs, outputs) ? batchingOf(Math.min(8, mostRows(inputs) ?? 8), 0) : null
}

/** Batches of `rows` rows at most, which is one of the preferred sizes; null for one. */
export function withoutLarge(batching: Batching, rows: number): Batching | null {
  if (rows === 1) return null
  return { ...batching, maxSize: Math.min(batching.maxSize, rows), preferred: batching.preferred.filter((size) => size <= rows) }
}
