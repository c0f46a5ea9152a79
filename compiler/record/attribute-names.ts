import { tensorAttributes } from '../../program/attributes.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { ScriptObject } from '../../runtime/tensor/value.js'

/** Dotted paths of the tensors among the attributes of `root` and its submodules; of a tensor with several the first. */
export function attributeNames(root: ScriptObject): Map<Tensor, string> {
  const names = new Map<Tensor, string>()
  for (const [name, tensor] of tensorAttributes(root)) if (!names.has(tensor)) names.set(tensor, name)
  return names
}
