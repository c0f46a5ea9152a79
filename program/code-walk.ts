import type { ScriptObject, Value } from '../runtime/tensor/value.js'
import { Opcode } from './generated/opcodes.js'
import type { LinkedFunction } from './linked.js'
import { stackEffect } from './stack-effect.js'
import { argumentCount } from './verifier.js'

/** Instructions that are looked at, in all functions and for all objects that they are called on. */
const MAX_STEPS = 1 << 21

/** What is known of values at one place of the code, undefined for most. */
interface State<Known> {
  readonly registers: Map<number, Known | undefined>
  readonly stack: (Known | undefined)[]
}

/**
 * Goes forward once through the code of functions, with what is known of values before anything runs: abstract interpretation without a fixed point.
 * What is known, and what becomes of it, is the subclass's.
 */
export abstract class CodeWalk<Known> {
  private readonly byName: ReadonlyMap<string, LinkedFunction>
  /** Objects that functions are called on; null is one that is not known. */
  private readonly called = new Map<LinkedFunction, Set<ScriptObject | null>>()
  private readonly pending: { readonly fn: LinkedFunction; readonly self: Known | undefined }[] = []
  private left = MAX_STEPS

  protected constructor(protected readonly functions: readonly LinkedFunction[]) {
    this.byName = new Map(functions.map((fn) => [fn.source.name, fn]))
  }

  /** Notes that values go where it is not known what reads them. */
  protected abstract use(...values: readonly (Known | undefined)[]): void
  protected abstract constant(value: Value | undefined): Known | undefined
  protected abstract attribute(of: Known | undefined, slot: number): Known | undefined
  /** Whether values of two paths are the same. */
  protected abstract isSame(a: Known, b: Known): boolean
  /** Whatever takes `values` and is no move, load or jump; what it pushes, if anything of that is known. */
  protected abstract apply(
    fn: LinkedFunction,
    pc: number,
    values: readonly (Known | undefined)[],
  ): readonly (Known | undefined)[] | undefined

  /** Begins with a function's code. */
  protected begin(_code: Int32Array): void {}
  /** Comes to an instruction with what is on the stack. */
  protected arrive(_pc: number, _stack: (Known | undefined)[]): void {}
  protected load(registers: State<Known>['registers'], register: number): Known | undefined {
    return registers.get(register)
  }
  protected store(registers: State<Known>['registers'], register: number, value: Known | undefined): void {
    registers.set(register, value)
  }
  /** Jumps back, which is not followed: the next turn of a loop. */
  protected turn(_stack: readonly (Known | undefined)[]): void {}

  /** Has a function followed later, once for each object that it is called on. */
  protected enter(fn: LinkedFunction | undefined, object: ScriptObject | null, self: Known | undefined): void {
    if (fn === undefined) return
    const objects = this.called.get(fn) ?? new Set()
    if (objects.has(object)) return
    this.called.set(fn, objects.add(object))
    this.pending.push({ fn, self })
  }

  protected wasEntered(fn: LinkedFunction): boolean {
    return this.called.has(fn)
  }

  protected methodOf(object: ScriptObject, method: Value | undefined): LinkedFunction | undefined {
    return typeof method === 'string' ? this.byName.get(`${object.typeName}.${method}`) : undefined
  }

  /** Follows what was entered, and what that enters. False where the code is too much to follow. */
  protected followAll(): boolean {
    for (let next = this.pending.pop(); next !== undefined; next = this.pending.pop()) this.follow(next.fn, next.self)
    return this.left > 0
  }

  private follow(fn: LinkedFunction, self: Known | undefined): void {
    const { source, operators } = fn
    const { code, constants } = source
    const later = new Map<number, State<Known>>()
    let state: State<Known> | undefined = {
      registers: new Map(),
      stack: Array.from({ length: argumentCount(source) }, (_, i) => (i === 0 ? self : undefined)),
    }
    this.begin(code)
    for (let pc = 0; 3 * pc < code.length && --this.left > 0; pc++) {
      state = this.meet(state, later.get(pc))
      later.delete(pc)
      if (state === undefined) continue
      const { registers, stack }: State<Known> = state
      this.arrive(pc, stack)
      const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
      const jump = (copy: State<Known>): void => {
        if (x > 0) later.set(pc + x, this.meet(later.get(pc + x), copy)!)
        else this.turn(copy.stack)
      }
      switch (opcode) {
        case Opcode.LOAD:
        case Opcode.MOVE:
          stack.push(this.load(registers, x))
          break
        case Opcode.STORE:
          this.store(registers, x, popMany(stack, 1)[0])
          break
        case Opcode.STOREN:
          popMany(stack, n).forEach((value, i) => this.store(registers, x + i, value))
          break
        case Opcode.DROP:
          popMany(stack, 1)
          break
        case Opcode.DROPR:
        case Opcode.UNCHECKED_CAST:
          break
        case Opcode.LOADC:
          stack.push(this.constant(constants[x]))
          break
        case Opcode.GET_ATTR:
          stack.push(this.attribute(popMany(stack, 1)[0], x))
          break
        case Opcode.JF:
          this.use(...popMany(stack, 1))
          jump({ registers: new Map(registers), stack: [...stack] })
          break
        case Opcode.JMP:
          jump(state)
          state = undefined
          break
        case Opcode.LOOP:
          this.use(...popMany(stack, n + 1))
          jump({ registers: new Map(registers), stack: [...stack, ...unknown<Known>(n - 2)] })
          stack.push(...unknown<Known>(n + 1))
          break
        case Opcode.RET:
          this.use(...stack)
          state = undefined
          break
        case Opcode.RAISE_EXCEPTION:
          state = undefined
          break
        default: {
          const { pops, pushes } = stackEffect(fn, pc, this.functions)
          const values = popMany(stack, pops)
          stack.push(...(this.apply(fn, pc, values) ?? unknown<Known>(pushes)))
          if (opcode <= Opcode.OPN && operators[x]?.ends === true) state = undefined
        }
      }
    }
  }

  /** What two paths agree on. A register that one of them does not fill is not read behind the place where they meet. */
  private meet(a: State<Known> | undefined, b: State<Known> | undefined): State<Known> | undefined {
    if (a === undefined || b === undefined) return a ?? b
    const both = (x: Known | undefined, y: Known | undefined): Known | undefined => {
      if (x === y || (x !== undefined && y !== undefined && this.isSame(x, y))) return x
      this.part(x, y)
      return undefined
    }
    for (const [register, y] of b.registers) a.registers.set(register, a.registers.has(register) ? both(a.registers.get(register), y) : y)
    for (const [i, value] of a.stack.entries()) a.stack[i] = both(value, b.stack[i])
    return a
  }

  /** Paths meet that have different values at one place, either of which is read behind it. */
  protected part(..._values: readonly (Known | undefined)[]): void {}
}

function popMany<Known>(stack: (Known | undefined)[], count: number): (Known | undefined)[] {
  const values = stack.splice(Math.max(0, stack.length - count))
  return [...unknown<Known>(count - values.length), ...values]
}

function unknown<Known>(count: number): (Known | undefined)[] {
  return Array.from({ length: Math.max(0, count) })
}
