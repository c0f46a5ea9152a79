import { check, PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { Tuple, type Value } from '../../tensor/value.js'
import { sequenceIndex } from './support/sequence.js'

function itemsOf(tup: Value): readonly Value[] {
  check(tup instanceof Tuple, () => 'expected a tuple')
  return tup.items
}

/** Throws MODEL_ERROR outside the tuple. */
export function tuple_index(tup: Value, i: Int): Value {
  const items = itemsOf(tup)
  return items[sequenceIndex(i, items.length, 'tuple')]!
}

export function tuple_unpack(tup: Value): Value[] {
  return itemsOf(tup).slice()
}

/** Throws MODEL_ERROR for None. */
export function unwrap_optional(optional: Value): Value {
  if (optional === null) throw new PtliteError('MODEL_ERROR', 'Unwrapping null optional')
  return optional
}

/** A cast that only the compiler sees. */
export function same(x: Value): Value {
  return x
}
