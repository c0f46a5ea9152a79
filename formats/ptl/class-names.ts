import type { FunctionCode } from '../../program/code.js'

/** Names of classes of PyTorch's Python modules: `__torch__.torch.autograd.grad_mode.no_grad`, but not those of classes in C++. */
const OF_TORCH = /__torch__\.torch\.(?!classes\.)[\w.]+/g

/**
 * Names of classes as mobile files can have them, in any text. Those in the types of a program that begin as classes in C++ do are told from these: PyTorch's lite
 * interpreter takes a type `__torch__.torch...` for one of them.
 */
export function mobileNames(functions: readonly FunctionCode[]): (text: string) => string {
  const taken = new Set(functions.flatMap(({ types }) => types.flatMap((type) => type.match(OF_TORCH) ?? [])))
  if (taken.size === 0) return (text) => text
  return (text) => text.replaceAll(OF_TORCH, (name) => (taken.has(name) ? name.replace('.torch.', '._torch.') : name))
}
