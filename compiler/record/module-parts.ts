import type { ProgramInstance } from '../../interpreter/run-state.js'
import { reachable } from '../../program/reach.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { type Container, CustomObject, ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { insideOf } from './state-signature.js'

/** An attribute of an object. */
export interface Place {
  readonly object: ScriptObject
  readonly slot: number
}

/**
 * What belongs to a module, and which of its attributes are state: some run gives them other values, or writes to their tensors. State
 * is an input of what is compiled; everything else is the same each time.
 */
export class ModuleParts {
  private readonly tensors = new Set<Tensor>()
  private readonly fixed = new Set<Tensor>()
  private readonly objects = new Set<ScriptObject | CustomObject>()
  private readonly state = new Map<ScriptObject, Set<number>>()
  private lookedAt = -1

  constructor(private readonly program: ProgramInstance) {}

  /** True for objects of the module and for its tensors, but for those that are state. */
  belongs(value: Tensor | ScriptObject | CustomObject): boolean {
    this.look()
    return value instanceof Tensor ? this.tensors.has(value) : this.objects.has(value)
  }

  /** True for constants, and for attributes that are no state, even where their memory is that of state. */
  isFixed(tensor: Tensor): boolean {
    this.look()
    return this.fixed.has(tensor)
  }

  get haveState(): boolean {
    return this.state.size > 0
  }

  /** Attributes that are state, as far as runs have shown. */
  places(): Place[] {
    return [...this.state].flatMap(([object, slots]) => [...slots].map((slot) => ({ object, slot })))
  }

  isState(object: ScriptObject, slot: number): boolean {
    return this.state.get(object)?.has(slot) === true
  }

  /** False where it was known. */
  addState(object: ScriptObject, slot: number): boolean {
    if (this.isState(object, slot)) return false
    const slots = this.state.get(object)
    if (slots === undefined) this.state.set(object, new Set([slot]))
    else slots.add(slot)
    this.lookedAt = -1
    return true
  }

  /** The attributes that hold tensors over this memory become state. False where all were known, or there are none. */
  addStateIn(storage: Storage): boolean {
    let added = false
    this.walk((value, object, slot) => {
      if (value instanceof Tensor && value.storage === storage && this.addState(object, slot)) added = true
    })
    return added
  }

  /** The attributes that hold this list or dict become state. False where all were known, or there are none. */
  addStateHolding(container: Container): boolean {
    let added = false
    this.walk((value, object, slot) => {
      if (insideOf(value).has(container) && this.addState(object, slot)) added = true
    })
    return added
  }

  private look(): void {
    const { program, tensors, objects, fixed } = this
    if (this.lookedAt === program.attributeWrites) return
    this.lookedAt = program.attributeWrites
    tensors.clear()
    objects.clear()
    fixed.clear()
    if (program.root !== undefined) objects.add(program.root)
    const stateful = new Set<Storage>()
    this.walk((value, object, slot) => {
      if (value instanceof Tensor) {
        tensors.add(value)
        if (this.isState(object, slot)) stateful.add(value.storage)
        else fixed.add(value)
      } else if (value instanceof ScriptObject || value instanceof CustomObject) objects.add(value)
    })
    for (const fn of program.functions) for (const t of reachable(fn.source.constants)) fixed.add(t)
    for (const t of fixed) tensors.add(t)
    for (const t of tensors) if (stateful.has(t.storage)) tensors.delete(t)
  }

  /** Visits the attributes of the module and its submodules. */
  private walk(visit: (value: Value, object: ScriptObject, slot: number) => void): void {
    const { root } = this.program
    const pending = root === undefined ? [] : [root]
    const seen = new Set<ScriptObject>(pending)
    for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
      for (let slot = 0; slot < object.slots.length; slot++) {
        const value = object.slots[slot]!
        visit(value, object, slot)
        if (value instanceof ScriptObject && !seen.has(value)) {
          seen.add(value)
          pending.push(value)
        }
      }
    }
  }
}
