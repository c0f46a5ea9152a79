import { Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject } from '../../runtime/tensor/value.js'

/** Dotted paths of the tensors among the attributes of `root` and its submodules. */
export function attributeNames(root: ScriptObject): Map<Tensor, string> {
  const names = new Map<Tensor, string>()
  const seen = new Set<ScriptObject>()
  const visit = (object: ScriptObject, prefix: string): void => {
    if (seen.has(object)) return
    seen.add(object)
    object.slots.forEach((value, i) => {
      const name = prefix + (object.names[i] ?? `slot${i}`)
      if (value instanceof Tensor) {
        if (!names.has(value)) names.set(value, name)
      } else if (value instanceof ScriptObject) visit(value, `${name}.`)
    })
  }
  visit(root, '')
  return names
}
