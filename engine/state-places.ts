import type { Place } from '../compiler/index.js'
import { ScriptObject } from '../runtime/tensor/value.js'

/** An attribute that calls change: its dotted name, and the slots that lead to it from the module itself. */
export interface StatePath {
  readonly name: string
  readonly slots: readonly number[]
}

/** The paths of attributes, in order. An object with several has its first one. */
export function pathsOf(root: ScriptObject, places: readonly Place[]): StatePath[] {
  const paths = new Map<ScriptObject, StatePath>([[root, { name: '', slots: [] }]])
  for (const [object, path] of paths)
    for (const [slot, value] of object.slots.entries())
      if (value instanceof ScriptObject && !paths.has(value)) paths.set(value, behind(path, object, slot))
  return places.flatMap(({ object, slot }) => {
    const path = paths.get(object)
    return path === undefined ? [] : [behind(path, object, slot)]
  })
}

function behind({ name, slots }: StatePath, object: ScriptObject, slot: number): StatePath {
  const own = object.names[slot] ?? `slot${slot}`
  return { name: name === '' ? own : `${name}.${own}`, slots: [...slots, slot] }
}

/** The attribute that slots lead to; null where there is none. */
export function placeAt(root: ScriptObject, slots: readonly number[]): Place | null {
  let object: ScriptObject = root
  for (const slot of slots.slice(0, -1)) {
    const value = object.slots[slot]
    if (!(value instanceof ScriptObject)) return null
    object = value
  }
  const slot = slots.at(-1)
  return slot === undefined || slot >= object.slots.length ? null : { object, slot }
}
