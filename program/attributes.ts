import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject } from '../runtime/tensor/value.js'
import { damaged } from './file-error.js'

/** Characters in the names of all tensors of a module, and in any one of them: no module that somebody wrote has more. */
const MAX_CHARACTERS = 2 ** 26
export const LONGEST_NAME = 2 ** 16

/**
 * Tensors among the attributes of a module and its submodules by dotted name, in their order. A submodule with several names has its first one.
 * Throws INVALID_FILE where the names are too long: a file can put much into few bytes by the same name at every level.
 */
export function* tensorAttributes(root: ScriptObject): Iterable<readonly [name: string, tensor: Tensor]> {
  const seen = new Set<ScriptObject>([root])
  const open = [{ object: root, prefix: '', next: 0 }]
  let characters = 0
  while (open.length > 0) {
    const top = open.at(-1)!
    const { object, prefix, next } = top
    if (next >= object.slots.length) {
      open.pop()
      continue
    }
    top.next++
    const value = object.slots[next]!
    const own = object.names[next] ?? `slot${next}`
    if (prefix.length + own.length > LONGEST_NAME || characters > MAX_CHARACTERS) throw damaged('the names of its attributes are too long')
    const name = prefix + own
    if (value instanceof Tensor) {
      characters += name.length
      yield [name, value]
    }
    if (value instanceof ScriptObject && !seen.has(value)) {
      seen.add(value)
      open.push({ object: value, prefix: `${name}.`, next: 0 })
    }
  }
}
