import { LONGEST_NAME } from '../../program/attributes.js'
import { damaged } from '../../program/file-error.js'
import type { Program } from '../../program/program.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { Tensor } from '../../runtime/tensor/tensor.js'

/** A tensor that a model file holds. */
export interface Parameter {
  /** Dotted attribute name; weights of packed objects carry their place in it (`conv.packed[0]`), constants of code their function's. */
  readonly name: string
  readonly tensor: Tensor
  /** Classes of the modules that have it as an attribute; more than one where modules share it. */
  readonly owners: readonly string[]
}

/** All tensors of a file in its order: attributes of the modules, packed weights, constants of the code. */
export function listParameters(file: Pick<Program, 'root' | 'functions'>): Parameter[] {
  const found = new Map<Tensor, Parameter & { readonly owners: string[] }>()
  const seen = new Set<object>()
  const visit = (value: Value, name: string, owner?: string): void => {
    if (value instanceof Tensor) {
      const parameter = found.get(value) ?? { name, tensor: value, owners: [] }
      if (owner !== undefined) parameter.owners.push(owner)
      found.set(value, parameter)
      return
    }
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    if (name.length > LONGEST_NAME) throw damaged('the names of its attributes are too long')
    seen.add(value)
    if (value instanceof ScriptObject) {
      const { typeName } = value
      value.slots.forEach((slot, i) => visit(slot, `${name === '' ? '' : `${name}.`}${value.names[i] ?? `slot${i}`}`, typeName))
    } else if (value instanceof CustomObject) visit(value.state, name)
    else if (value instanceof Tuple) value.items.forEach((item, i) => visit(item, `${name}[${i}]`))
    else if (Array.isArray(value)) value.forEach((item, i) => visit(item, `${name}[${i}]`))
    else if (value instanceof Map) for (const [key, item] of value) visit(item, `${name}[${String(key)}]`)
  }
  visit(file.root, '')
  for (const fn of file.functions) fn.constants.forEach((constant, i) => visit(constant, `${fn.method} constant ${i}`))
  return [...found.values()]
}

export function byteSize(t: Tensor): number {
  return t.numel * t.itemSize
}
