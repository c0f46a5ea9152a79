import { Tuple, type Value } from '../../runtime/tensor/value.js'
import * as features from '../../runtime/features.js'

/** True for lists, tuples and dicts. */
export function isContainer(value: Value): boolean {
  return features.containers && (Array.isArray(value) || value instanceof Tuple || value instanceof Map)
}
