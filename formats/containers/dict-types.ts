import type { DictKey, Value } from '../../runtime/tensor/value.js'

const types = new WeakMap<object, string>()

/** Remembers the type that a file gives to a dict: `Dict[str, int]`. */
export function setDictType(dict: Map<DictKey, Value>, text: string): void {
  types.set(dict, text)
}

export function dictType(dict: ReadonlyMap<DictKey, Value>): string | undefined {
  return types.get(dict)
}
