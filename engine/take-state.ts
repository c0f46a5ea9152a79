import { fitsTensor, type TensorShape } from '../compiler/record/signature.js'
import type { AheadState } from '../formats/ptlc/module.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject } from '../runtime/tensor/value.js'
import { placeAt } from './state-places.js'

/** A tensor of a file as it was read: its caller may have given it another form and other memory since. */
export interface TakenState extends AheadState {
  readonly form: TensorShape
  readonly storage: Storage
}

/**
 * Puts tensors of a file that was compiled from a module in the place of its own, and views on their memory in the place of those on the module's. Returns what it has put
 * there; null, and the module as it was, where it has no such attributes.
 */
export function takeState(root: ScriptObject, states: readonly TakenState[]): Tensor[] | null {
  const tensors = new Map<Tensor, Tensor>()
  const memories = new Map<Storage, Storage>()
  for (const { slots, tensor, form, storage } of states) {
    const place = placeAt(root, slots)
    const own = place?.object.slots[place.slot]
    if (!(own instanceof Tensor) || !fitsTensor(own, form) || own.storage.byteLength !== storage.byteLength) return null
    tensors.set(own, tensor)
    memories.set(own.storage, storage)
  }
  const taken: Tensor[] = [...tensors.values()]
  const objects = new Set([root])
  for (const object of objects)
    for (const [slot, value] of object.slots.entries()) {
      if (value instanceof ScriptObject) objects.add(value)
      const memory = value instanceof Tensor ? memories.get(value.storage) : undefined
      if (!(value instanceof Tensor) || memory === undefined) continue
      let other = tensors.get(value)
      if (other === undefined) {
        other = new Tensor(memory, value.offset, value.shape, value.strides, value.type, value.quant)
        other.pinned = true
        tensors.set(value, other)
        taken.push(other)
      }
      object.slots[slot] = other
    }
  for (const own of tensors.keys()) own.release()
  return taken
}
