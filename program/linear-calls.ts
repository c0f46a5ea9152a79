import { DType } from '../runtime/tensor/dtype.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { Opcode } from './generated/opcodes.js'
import type { LinkedFunction } from './linked.js'
import { reachable } from './reach.js'
import { stackEffect } from './stack-effect.js'
import { modulesOf } from './training.js'
import { argumentCount } from './verifier.js'

/** A call of `aten::linear` that has the same float32 matrix of the module as its weight whenever it runs. */
export interface LinearCall {
  readonly fn: LinkedFunction
  readonly pc: number
  readonly weight: Tensor
  readonly hasBias: boolean
}

/** Instructions that are looked at, in all functions and for all objects that they are called on. */
const MAX_STEPS = 1 << 21
const STATE_METHOD = /^__[gs]etstate__$/

/** What is known of a value before anything runs; undefined for most. */
type Known =
  | { readonly kind: 'object'; readonly object: ScriptObject }
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  | { readonly kind: 'none' }
  | undefined

interface State {
  readonly registers: Map<number, Known>
  readonly stack: Known[]
}

/**
 * The linear layers of a program whose matrices nothing else reads, as its code says; nothing runs. Empty for a program whose code is too large to follow.
 */
export function linearCalls(functions: readonly LinkedFunction[], root: ScriptObject): LinearCall[] {
  return new Search(functions, root).calls()
}

class Search {
  /** By function and instruction; null where the weight is not always the same. */
  private readonly found = new Map<LinkedFunction, Map<number, LinearCall | null>>()
  /** What something else than a linear layer reads, or may. */
  private readonly read = new Set<Storage>()
  private readonly byName: ReadonlyMap<string, LinkedFunction>
  /** Objects that functions are called on. */
  private readonly called = new Map<LinkedFunction, Set<ScriptObject | null>>()
  private readonly pending: { readonly fn: LinkedFunction; readonly self: ScriptObject | null }[] = []
  private readonly objects: readonly ScriptObject[]
  /** Numbers of the slots that some function sets, of whatever class. */
  private readonly changing = new Set<number>()
  private left = MAX_STEPS

  constructor(
    private readonly functions: readonly LinkedFunction[],
    private readonly root: ScriptObject,
  ) {
    this.byName = new Map(functions.map((fn) => [fn.source.name, fn]))
    this.objects = [...modulesOf(root)]
    for (const { source } of functions)
      for (let at = 0; at < source.code.length; at += 3) if (source.code[at] === Opcode.SET_ATTR) this.changing.add(source.code[at + 1]!)
  }

  calls(): LinearCall[] {
    const { functions, root } = this
    const others = functions.filter(({ source }) => !STATE_METHOD.test(source.method))
    for (const fn of others) if (fn.source.className === root.typeName) this.enter(fn, root)
    this.followAll()
    // of what nobody is seen to call it is not known what it is called on
    for (const fn of others) if (!this.called.has(fn)) this.enter(fn, null)
    this.followAll()
    if (this.left <= 0) return []
    const calls = [...this.found.values()].flatMap((byPc) => [...byPc.values()]).filter((call) => call !== null)
    return calls.filter(({ weight }) => !this.read.has(weight.storage))
  }

  private followAll(): void {
    for (let next = this.pending.pop(); next !== undefined; next = this.pending.pop()) this.follow(next.fn, next.self)
  }

  private enter(fn: LinkedFunction | undefined, self: ScriptObject | null): void {
    if (fn === undefined) return
    const objects = this.called.get(fn) ?? new Set()
    if (objects.has(self)) return
    this.called.set(fn, objects.add(self))
    this.pending.push({ fn, self })
  }

  /** Notes that values go where it is not known what reads them. */
  private use(...values: readonly Known[]): void {
    for (const value of values) if (value?.kind === 'tensor') this.read.add(value.tensor.storage)
  }

  /**
   * Goes once through the code in its order. A register that a loop may fill again, and what is on the stack where paths meet that do not agree, is not
   * known.
   */
  private follow(fn: LinkedFunction, self: ScriptObject | null): void {
    const { source, operators } = fn
    const { code, constants } = source
    const { stores, repeated } = survey(code)
    const later = new Map<number, State>()
    /** What was stored in registers, and those that were read where nothing had been. */
    const stored = new Map<number, Known[]>()
    const early = new Set<number>()
    let state: State | undefined = {
      registers: new Map(),
      stack: Array.from({ length: argumentCount(source) }, (_, i) =>
        i === 0 && self !== null ? { kind: 'object', object: self } : undefined,
      ),
    }
    for (let pc = 0; 3 * pc < code.length && --this.left > 0; pc++) {
      state = this.meet(state, later.get(pc))
      later.delete(pc)
      if (state === undefined) continue
      const { registers, stack }: State = state
      if (repeated.has(pc)) this.use(...stack.splice(0, stack.length, ...stack.map(() => undefined)))
      const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
      const popMany = (count: number): Known[] => {
        const values = stack.splice(Math.max(0, stack.length - count))
        return [...Array.from<Known>({ length: count - values.length }), ...values]
      }
      const store = (register: number, value: Known): void => {
        const isSure = repeated.size === 0 || (stores.get(register) === 1 && !early.has(register))
        if (!isSure) this.use(value)
        stored.set(register, [...(stored.get(register) ?? []), value])
        registers.set(register, isSure ? value : undefined)
      }
      const jump = (to: number, copy: State): void => {
        if (to > pc) later.set(to, this.meet(later.get(to), copy)!)
        else this.use(...copy.stack)
      }
      switch (opcode) {
        case Opcode.LOAD:
        case Opcode.MOVE:
          if (!registers.has(x)) {
            early.add(x)
            this.use(...(stored.get(x) ?? []))
          }
          stack.push(registers.get(x))
          break
        case Opcode.STORE:
          store(x, popMany(1)[0])
          break
        case Opcode.STOREN:
          popMany(n).forEach((value, i) => store(x + i, value))
          break
        case Opcode.DROP:
          popMany(1)
          break
        case Opcode.DROPR:
          break
        case Opcode.LOADC:
          stack.push(this.known(constants[x]))
          break
        case Opcode.GET_ATTR:
          stack.push(this.attribute(popMany(1)[0], x))
          break
        case Opcode.JF:
          this.use(...popMany(1))
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
          this.use(...stack)
          state = undefined
          break
        case Opcode.UNCHECKED_CAST:
          break
        default: {
          const operator = opcode <= Opcode.OPN ? operators[x] : undefined
          const { pops, pushes } = stackEffect(fn, pc, this.functions)
          const values = popMany(pops)
          const callees =
            opcode === Opcode.CALL ? [this.functions[x]] : opcode === Opcode.INTERFACE_CALL ? this.methodsOf(values[0], constants[x]) : []
          for (const callee of callees) this.enter(callee, values[0]?.kind === 'object' ? values[0].object : null)
          if (operator?.qualifiedName === 'aten::linear') this.linear(fn, pc, values)
          else this.use(...values)
          stack.push(...Array.from<Known>({ length: pushes }))
          if (operator?.ends === true) state = undefined
        }
      }
    }
  }

  private linear(fn: LinkedFunction, pc: number, values: readonly Known[]): void {
    const [input, weight] = values
    // None where it is left out
    const bias: Known = values.length === 2 ? { kind: 'none' } : values[2]
    this.use(input, bias)
    const byPc = this.found.get(fn) ?? new Map<number, LinearCall | null>()
    this.found.set(fn, byPc)
    const before = byPc.get(pc)
    const isKnown = bias?.kind === 'none' || bias?.kind === 'tensor'
    const isMatrix = weight?.kind === 'tensor' && weight.tensor.type === DType.float32 && weight.tensor.dim === 2
    const call = isMatrix && isKnown ? { fn, pc, weight: weight.tensor, hasBias: bias.kind === 'tensor' } : null
    const isSame = before === undefined || (before !== null && before.weight === call?.weight && before.hasBias === call.hasBias)
    byPc.set(pc, isSame ? call : null)
    if (isSame && call !== null) return
    this.use(weight, before === undefined || before === null ? undefined : { kind: 'tensor', tensor: before.weight })
  }

  private methodsOf(self: Known, method: Value | undefined): readonly (LinkedFunction | undefined)[] {
    if (self?.kind === 'object') return [this.byName.get(`${self.object.typeName}.${String(method)}`)]
    return this.functions.filter(({ source }) => source.method === method)
  }

  private known(value: Value | undefined): Known {
    if (value === null) return { kind: 'none' }
    if (value instanceof ScriptObject) return { kind: 'object', object: value }
    if (value instanceof Tensor) return { kind: 'tensor', tensor: value }
    if (typeof value === 'object') for (const tensor of reachable([value])) this.read.add(tensor.storage)
    return undefined
  }

  private attribute(of: Known, slot: number): Known {
    if (of?.kind === 'object') {
      const value = this.known(of.object.slots[slot])
      if (!this.changing.has(slot)) return value
      this.use(value)
      return undefined
    }
    // it may be that of any object, and whatever is in it
    for (const { slots } of this.objects)
      for (const tensor of reachable(slots[slot] === undefined ? [] : [slots[slot]])) this.read.add(tensor.storage)
    return undefined
  }

  /** What two paths agree on. */
  private meet(a: State | undefined, b: State | undefined): State | undefined {
    if (a === undefined || b === undefined) return a ?? b
    const both = (x: Known, y: Known): Known => {
      if (isSame(x, y)) return x
      this.use(x, y)
      return undefined
    }
    for (const register of new Set([...a.registers.keys(), ...b.registers.keys()])) {
      // what is not set on one path is not read behind it
      const [x, y] = [a.registers.get(register), b.registers.get(register)]
      a.registers.set(register, !b.registers.has(register) ? x : !a.registers.has(register) ? y : both(x, y))
    }
    for (const [i, value] of a.stack.entries()) a.stack[i] = both(value, b.stack[i])
    return a
  }
}

/** How many instructions store into each register, and the places that are jumped back to. */
function survey(code: Int32Array): { readonly stores: ReadonlyMap<number, number>; readonly repeated: ReadonlySet<number> } {
  const stores = new Map<number, number>()
  const repeated = new Set<number>()
  for (let at = 0; at < code.length; at += 3) {
    const [opcode, x] = [code[at]!, code[at + 1]!]
    if (opcode >= Opcode.JF && opcode <= Opcode.LOOP && x <= 0) repeated.add(at / 3 + x)
    const stored = opcode === Opcode.STORE ? 1 : opcode === Opcode.STOREN ? code[at + 2]! : 0
    for (let i = 0; i < stored; i++) stores.set(x + i, (stores.get(x + i) ?? 0) + 1)
  }
  return { stores, repeated }
}

function isSame(a: Known, b: Known): boolean {
  if (a === undefined || b === undefined || a.kind !== b.kind) return a === b
  if (a.kind === 'object') return b.kind === 'object' && a.object === b.object
  return a.kind === 'none' || (b.kind === 'tensor' && a.tensor === b.tensor)
}
