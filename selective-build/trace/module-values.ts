import type { ScriptModule } from '../../interpreter/script-module.js'
import { isQuantized } from '../../runtime/tensor/dtype.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'

/** Classes in C++ of which the module has instances (`__torch__.torch.classes.*`). */
export function customClassesOf(module: ScriptModule): Set<string> {
  const names = new Set<string>()
  visit(module, (value) => {
    if (value instanceof CustomObject) names.add(value.className)
  })
  return names
}

export function hasQuantizedTensor(module: ScriptModule): boolean {
  let found = false
  visit(module, (value) => {
    found ||= value instanceof Tensor && isQuantized(value.type)
  })
  return found
}

/** Shows each value that attributes and constants of a module hold, once. */
function visit(module: ScriptModule, see: (value: Value) => void): void {
  const seen = new Set<Value>()
  const pending: Value[] = [module.root, ...module.functions.flatMap((fn) => fn.source.constants)]
  while (pending.length > 0) {
    const value = pending.pop()!
    if (typeof value === 'object' && value !== null) {
      if (seen.has(value)) continue
      seen.add(value)
      for (const part of partsOf(value)) pending.push(part)
    }
    see(value)
  }
}

function partsOf(value: object): readonly Value[] {
  if (value instanceof ScriptObject) return value.slots
  if (value instanceof CustomObject) return [value.state]
  if (value instanceof Tuple) return value.items
  if (Array.isArray(value)) return value as Value[]
  return value instanceof Map ? [...(value as Map<Value, Value>).values()] : []
}
