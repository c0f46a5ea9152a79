import { check, PtliteError } from '../../error.js'
import { CONTAINER_ELEMENTS } from '../../limits.js'
import { grow, growBy } from '../../tensor/element-budget.js'
import { Complex, Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { type DictKey, keyIn, Tuple, type Value } from '../../tensor/value.js'

/*
 * Operators of every dict, in insertion order. One function serves all key types; where keys become values, float keys
 * have functions of their own, since a Map holds them as plain numbers.
 */

/** Elements of an entry, and of a list of what entries hold. */
const ENTRY = 2
const ITEM = 2 + CONTAINER_ELEMENTS

type Dict = Map<DictKey, Value>

const floatKey = (key: DictKey): Value => new Float(key as number)

function keyError(key: DictKey): PtliteError {
  return new PtliteError(
    'MODEL_ERROR',
    `KeyError: ${typeof key === 'string' ? `'${key}'` : typeof key === 'object' && !(key instanceof Complex) ? 'a tensor' : String(key)}`,
  )
}

export function dict_len(self: Dict): number {
  return self.size
}

export function dict_contains(dict: Dict, key: DictKey): boolean {
  return dict.has(keyIn(dict, key))
}

/** Throws MODEL_ERROR (a KeyError) where the dict lacks the key, as do delete and pop. */
export function dict_getitem(self: Dict, key: DictKey): Value {
  const value = self.get(keyIn(self, key))
  if (value === undefined) throw keyError(key)
  return value
}

/** None where the dict lacks the key. */
export function dict_get(self: Dict, key: DictKey): Value {
  return self.get(keyIn(self, key)) ?? null
}

export function dict_get_default(self: Dict, key: DictKey, default_value: Value): Value {
  const value = self.get(keyIn(self, key))
  return value === undefined ? default_value : value
}

/** The value of the key, which is `default_value` from now on if the dict lacked it. */
export function dict_setdefault(self: Dict, key: DictKey, default_value: Value): Value {
  const value = self.get(keyIn(self, key))
  if (value !== undefined) return value
  grow(ENTRY)
  self.set(key, default_value)
  return default_value
}

export function dict_set_item(l: Dict, idx: DictKey, v: Value): void {
  grow(ENTRY)
  l.set(keyIn(l, idx), v)
}

export function dict_delete(self: Dict, key: DictKey): void {
  if (!self.delete(keyIn(self, key))) throw keyError(key)
}

export function dict_pop(self: Dict, key: DictKey): Value {
  const value = dict_getitem(self, key)
  self.delete(keyIn(self, key))
  return value
}

export function dict_pop_default(self: Dict, key: DictKey, default_value: Value): Value {
  return dict_contains(self, key) ? dict_pop(self, key) : default_value
}

function popFirst(self: Dict, keyValue: (key: DictKey) => Value): Tuple {
  for (const [key, value] of self) {
    self.delete(key)
    return new Tuple([keyValue(key), value])
  }
  throw new PtliteError('MODEL_ERROR', 'KeyError: popitem(): dictionary is empty')
}

/** Takes the entry out that was inserted first (Python takes the last one). Throws MODEL_ERROR for an empty dict. */
export function dict_popitem(self: Dict): Tuple {
  return popFirst(self, (key) => key)
}

export function dict_popitem_float(self: Dict): Tuple {
  return popFirst(self, floatKey)
}

export function dict_clear(self: Dict): void {
  self.clear()
}

/** Values of `to_add` win. */
export function dict_update(self: Dict, to_add: Dict): void {
  for (const [key, value] of to_add) dict_set_item(self, key, value)
}

export function dict_keys(self: Dict): Value[] {
  growBy(self.size)
  return [...self.keys()]
}

export function dict_keys_float(self: Dict): Value[] {
  growBy(self.size)
  return Array.from(self.keys(), floatKey)
}

export function dict_keys_complex(self: Dict): Complex[] {
  growBy(self.size)
  return [...self.keys()] as Complex[]
}

export function dict_keys_tensor(self: Dict): Tensor[] {
  growBy(self.size)
  return [...self.keys()] as Tensor[]
}

export function dict_values(self: Dict): Value[] {
  growBy(self.size)
  return [...self.values()]
}

export function dict_items(self: Dict): Value[] {
  growBy(ITEM * self.size)
  return Array.from(self, ([key, value]) => new Tuple([key, value]))
}

export function dict_items_float(self: Dict): Value[] {
  growBy(ITEM * self.size)
  return Array.from(self, ([key, value]) => new Tuple([floatKey(key), value]))
}

/** A new dict with the same entries. */
export function dict_copy(self: Dict): Dict {
  growBy(ENTRY * self.size)
  return new Map(self)
}

export function dict_new(): Dict {
  growBy(0)
  return new Map()
}

/** A dict of (key, value) tuples; of equal keys the last one wins. */
export function dict_from_list(inputs: Value[]): Dict {
  const dict: Dict = dict_new()
  for (const entry of inputs) {
    check(entry instanceof Tuple && entry.items.length === 2, () => 'expected (key, value) tuples to make a dict of')
    const [key, value] = entry.items as [Value, Value]
    dict_set_item(dict, key instanceof Float ? key.value : (key as DictKey), value)
  }
  return dict
}
