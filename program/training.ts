import { ScriptObject } from '../runtime/tensor/value.js'

/** The attribute of a module that says whether it is being trained. */
export const TRAINING = 'training'

/** A module below a root, by its dotted name, which is empty for the root itself. */
export interface NamedModule {
  readonly name: string
  readonly object: ScriptObject
}

/**
 * The root and the modules below it, each once. Objects of classes among `plain` are no modules, and neither is what they hold; where a file does
 * not tell classes apart all objects count, as in PyTorch's lite interpreter.
 */
export function* modulesOf(root: ScriptObject, plain?: ReadonlySet<string>): Iterable<ScriptObject> {
  const seen = new Set([root])
  for (const object of seen) {
    yield object
    for (const value of object.slots) if (value instanceof ScriptObject && plain?.has(value.typeName) !== true) seen.add(value)
  }
}

/** `training` of the root and of the modules below it, one letter for each that has it: what plans are told apart by. */
export function trainingModes(root: ScriptObject, plain?: ReadonlySet<string>): string {
  let modes = ''
  for (const object of modulesOf(root, plain)) {
    const value = object.slots[object.names.indexOf(TRAINING)]
    if (typeof value === 'boolean') modes += value ? 't' : 'e'
  }
  return modes
}

/** Sets `training` of the root and of the modules below it that have it. True where that has changed one. */
export function setTraining(root: ScriptObject, mode: boolean, plain?: ReadonlySet<string>): boolean {
  let changed = false
  for (const { names, slots } of modulesOf(root, plain)) {
    const slot = names.indexOf(TRAINING)
    const value = slots[slot]
    // a file may use the name for something else
    if (typeof value !== 'boolean' || value === mode) continue
    slots[slot] = mode
    changed = true
  }
  return changed
}
