import { Tensor } from '../tensor/tensor.js'
import { ScriptObject } from '../tensor/value.js'

/** Tensors among the attributes of a module and its submodules by dotted name, in their order. A submodule with several names has its first one. */
export function* tensorAttributes(root: ScriptObject): Iterable<readonly [name: string, tensor: Tensor]> {
  const seen = new Set<ScriptObject>([root])
  const open = [{ object: root, prefix: '', next: 0 }]
  while (open.length > 0) {
    const top = open.at(-1)!
    const { object, prefix, next } = top
    if (next >= object.slots.length) {
      open.pop()
      continue
    }
    top.next++
    const value = object.slots[next]!
    const name = prefix + (object.names[next] ?? `slot${next}`)
    if (value instanceof Tensor) yield [name, value]
    else if (value instanceof ScriptObject && !seen.has(value)) {
      seen.add(value)
      open.push({ object: value, prefix: `${name}.`, next: 0 })
    }
  }
}
