import { unexpected } from '../../program/file-error.js'
import type { PickleGlobal } from '../containers/pickle/global.js'
import { ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { sameIdentity } from '../../runtime/operators/builtin/support/equality.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { elementsOf } from '../../program/reach.js'
import { damaged } from '../../program/file-error.js'
import type { ClassUnit, Library } from './library.js'
import { isSubtype, NONE } from './types.js'

/** Puts the attributes of all objects below `root` where their classes have them: pickles may have them in any order. */
export function arrangeAttributes(root: Value, library: Library, budget: ValueBudget): void {
  const seen = new Set<object>()
  const pending: Value[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()!
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (value instanceof ScriptObject) arrange(value, library, budget)
    for (const item of elementsOf(value) ?? []) if (typeof item === 'object') pending.push(item)
  }
}

function arrange(object: ScriptObject, library: Library, budget: ValueBudget): void {
  const unit = library.findClass(object.typeName)
  if (unit === undefined) throw damaged(`the code has no class ${object.typeName}`)
  if (unit.type.kind === 'enum') return nameMember(object, unit, library)
  // objects that their class fills itself have none yet
  if (object.names.length === 0 && unit.methods.has('__setstate__')) return
  // those that the pickle leaves out, too
  budget.spend(unit.attributes.size)
  const values = new Map(object.names.map((name, i) => [name, object.slots[i]!]))
  object.names.length = 0
  object.slots.length = 0
  for (const [name, { type }] of unit.attributes) {
    const value = values.get(name)
    // attributes that later versions added may be missing
    if (value === undefined && !isSubtype(NONE, type)) throw unexpected(`the attribute ${name} of ${object.typeName}`, undefined)
    object.names.push(name)
    object.slots.push(value ?? null)
  }
}

/** Pickles have the values of members alone: their names are those that the class has for these values. */
function nameMember(member: ScriptObject, unit: ClassUnit, library: Library): void {
  if (member.names.includes('name')) return
  const value = member.slots[member.names.indexOf('value')] ?? null
  for (const [name, expr] of unit.constants) {
    if (!sameIdentity(library.constantOf(expr, unit.source), value)) continue
    member.names.push('name')
    member.slots.push(name)
    return
  }
}

/** What a member of an enum is, as the pickle of the module has it. */
export function enumMemberOf(lookUp: (name: string) => PickleGlobal | undefined): Library['enumMember'] {
  return (library, unit, value) => {
    const found = lookUp(unit.name)
    if (found === undefined) throw unexpected('the class of an enum', unit.name)
    const member = found.invoke([value])
    if (member instanceof ScriptObject) nameMember(member, unit, library)
    return member
  }
}
