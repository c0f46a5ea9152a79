import { Tuple, type Value } from '../../runtime/tensor/value.js'

/** True for lists, tuples and dicts. */
export function isContainer(value: Value): boolean {
  return Array.isArray(value) || value instanceof Tuple || value instanceof Map
}
