import { Float } from '../runtime/tensor/scalar.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { LONGEST_NAME } from './attributes.js'
import { Opcode } from './generated/opcodes.js'
import { stackEffect } from './stack-effect.js'
import type { LinkedFunction, LinkedOperator } from './linked.js'
import { modulesOf, TRAINING } from './training.js'
import { argumentCount } from './verifier.js'
import * as features from '../runtime/features.js'

/** A module that is in training mode and goes by it. */
export interface TrainingLayer {
  /** Dotted name; empty for the root. */
  readonly name: string
  /** Its class, without what stands before it: `Dropout`. */
  readonly type: string
}

/** Instructions that are looked at, in all functions and for all objects that they are called on. */
const MAX_STEPS = 1 << 21
/** Arguments without which a call computes the same in both modes: how much is dropped. */
const SHARES: ReadonlySet<string> = new Set(['p', 'dropout', 'dropout_p'])

/** What is known of a value before anything runs; undefined for most. */
type Known =
  | { readonly kind: 'object'; readonly object: ScriptObject; readonly name: string }
  /** `training` of a module that is in training mode. */
  | { readonly kind: 'mode'; readonly object: ScriptObject; readonly name: string }
  | { readonly kind: 'constant'; readonly value: Value }
  | undefined

interface State {
  readonly registers: Map<number, Known>
  readonly stack: Known[]
}

/**
 * The modules in training mode whose `training` the methods of `root` read and go by, as their code says; nothing runs. Dropout of nothing is not
 * counted. Empty, after a look at the attributes, for a model that is not in training mode.
 */
export function layersInTraining(functions: readonly LinkedFunction[], root: ScriptObject, plain?: ReadonlySet<string>): TrainingLayer[] {
  if (!features.advice) return []
  const inTraining = new Set<ScriptObject>()
  for (const object of modulesOf(root, plain)) if (object.slots[object.names.indexOf(TRAINING)] === true) inTraining.add(object)
  return inTraining.size === 0 ? [] : new Search(functions, root, inTraining).layers()
}

/** What says so to people: `model.pt is in training mode, …`. */
export function trainingText(label: string, layers: readonly TrainingLayer[], advice = LEAVE): string {
  const shown = layers.slice(0, SHOWN).map(({ name, type }) => (name === '' ? type : `${name.slice(0, 100)} (${type.slice(0, 100)})`))
  const more = layers.length > SHOWN ? ` and ${layers.length - SHOWN} more` : ''
  return `${label} is in training mode, which changes what it computes: ${shown.join(', ')}${more}; ${advice}`
}

const SHOWN = 5
const LEAVE = 'load it with { eval: true } (--eval on the command line), or call module.eval()'

class Search {
  private readonly found = new Map<ScriptObject, TrainingLayer>()
  private readonly byName: ReadonlyMap<string, LinkedFunction>
  /** Objects that functions are called on. */
  private readonly called = new Map<LinkedFunction, Set<ScriptObject>>()
  private readonly pending: { readonly fn: LinkedFunction; readonly self: Known }[] = []
  private left = MAX_STEPS

  constructor(
    private readonly functions: readonly LinkedFunction[],
    private readonly root: ScriptObject,
    private readonly inTraining: ReadonlySet<ScriptObject>,
  ) {
    this.byName = new Map(functions.map((fn) => [fn.source.name, fn]))
  }

  layers(): TrainingLayer[] {
    const { functions, root, pending } = this
    for (const fn of functions)
      if (fn.source.className === root.typeName && !/^__[gs]etstate__$/.test(fn.source.method))
        this.enter(fn, { kind: 'object', object: root, name: '' })
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) this.follow(next.fn, next.self)
    return [...this.found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  private enter(fn: LinkedFunction | undefined, self: Known): void {
    if (fn === undefined || self?.kind !== 'object') return
    const objects = this.called.get(fn) ?? new Set()
    if (objects.has(self.object)) return
    this.called.set(fn, objects.add(self.object))
    this.pending.push({ fn, self })
  }

  /** Notes that the code goes by values. */
  private use(...values: readonly Known[]): void {
    for (const value of values) {
      if (value?.kind !== 'mode' || this.found.has(value.object)) continue
      const { typeName } = value.object
      this.found.set(value.object, { name: value.name, type: typeName.slice(typeName.lastIndexOf('.') + 1) })
    }
  }

  /**
   * Goes once through the code in its order. What is known of objects and modes does not change from one turn of a loop to the next; where paths meet,
   * what they agree on is known.
   */
  private follow(fn: LinkedFunction, self: Known): void {
    const { source, operators } = fn
    const { code, constants } = source
    const later = new Map<number, State>()
    let state: State | undefined = {
      registers: new Map(),
      stack: Array.from({ length: argumentCount(source) }, (_, i) => (i === 0 ? self : undefined)),
    }
    for (let pc = 0; 3 * pc < code.length && --this.left > 0; pc++) {
      state = meet(state, later.get(pc))
      later.delete(pc)
      if (state === undefined) continue
      const { registers, stack }: State = state
      const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
      const popMany = (count: number): Known[] => {
        const values = stack.splice(Math.max(0, stack.length - count))
        return [...Array.from<Known>({ length: count - values.length }), ...values]
      }
      const jump = (to: number, copy: State): void => void (to > pc && later.set(to, meet(later.get(to), copy)!))
      switch (opcode) {
        case Opcode.LOAD:
        case Opcode.MOVE:
          stack.push(registers.get(x))
          break
        case Opcode.STORE:
          registers.set(x, stack.pop())
          break
        case Opcode.STOREN:
          popMany(n).forEach((value, i) => registers.set(x + i, value))
          break
        case Opcode.LOADC: {
          const value = constants[x]
          stack.push(value === undefined ? undefined : { kind: 'constant', value })
          break
        }
        case Opcode.GET_ATTR:
          stack.push(this.attribute(stack.pop(), x))
          break
        case Opcode.JF:
          this.use(stack.pop())
          jump(pc + x, { registers: new Map(registers), stack: [...stack] })
          break
        case Opcode.JMP:
          jump(pc + x, state)
          state = undefined
          break
        case Opcode.LOOP:
          this.use(...popMany(n + 1))
          jump(pc + x, { registers: new Map(registers), stack: [...stack, ...Array.from<Known>({ length: Math.max(0, n - 2) })] })
          stack.push(...Array.from<Known>({ length: n + 1 }))
          break
        case Opcode.RET:
        case Opcode.RAISE_EXCEPTION:
          this.use(...popMany(opcode === Opcode.RET ? 1 : 0))
          state = undefined
          break
        case Opcode.UNCHECKED_CAST:
        // the opposite of a mode is decided by it, too
        case Opcode.__NOT__:
          break
        default: {
          const operator = opcode <= Opcode.OPN ? operators[x] : undefined
          const { pops, pushes } = stackEffect(fn, pc, this.functions)
          const values = popMany(pops)
          if (opcode === Opcode.CALL) this.enter(this.functions[x], values[0])
          else if (opcode === Opcode.INTERFACE_CALL) this.enter(this.methodOf(values[0], constants[x]), values[0])
          if (operator === undefined || !dropsNothing(operator, values)) this.use(...values)
          stack.push(...Array.from<Known>({ length: pushes }))
          if (operator?.ends === true) state = undefined
        }
      }
    }
  }

  private methodOf(self: Known, method: Value | undefined): LinkedFunction | undefined {
    return self?.kind === 'object' && typeof method === 'string' ? this.byName.get(`${self.object.typeName}.${method}`) : undefined
  }

  private attribute(of: Known, slot: number): Known {
    if (of?.kind !== 'object') return undefined
    const { object } = of
    const value = object.slots[slot]
    if (object.names[slot] === TRAINING) return this.inTraining.has(object) ? { ...of, kind: 'mode' } : undefined
    const name = `${of.name === '' ? '' : `${of.name}.`}${object.names[slot] ?? `slot${slot}`}`
    if (value instanceof ScriptObject && name.length < LONGEST_NAME) return { kind: 'object', object: value, name }
    return value instanceof Float ? { kind: 'constant', value } : undefined
  }
}

/** Whether the share that an operator drops is known to be 0. */
function dropsNothing({ entry }: LinkedOperator, values: readonly Known[]): boolean {
  return values.some((value, i) => {
    if (value?.kind !== 'constant' || !SHARES.has(entry?.schema.arguments[i]?.name ?? '')) return false
    return value.value instanceof Float ? value.value.value === 0 : value.value === 0
  })
}

/** What two paths agree on. */
function meet(a: State | undefined, b: State | undefined): State | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const both = (x: Known, y: Known): Known => (x === y || (x?.kind === y?.kind && sameKnown(x, y)) ? x : undefined)
  for (const [register, value] of a.registers) a.registers.set(register, both(value, b.registers.get(register)))
  for (const [i, value] of a.stack.entries()) a.stack[i] = both(value, b.stack[i])
  return a
}

function sameKnown(a: Known, b: Known): boolean {
  if (a?.kind === 'constant') return b?.kind === 'constant' && Object.is(a.value, b.value)
  return a !== undefined && b !== undefined && b.kind !== 'constant' && a.object === b.object
}
