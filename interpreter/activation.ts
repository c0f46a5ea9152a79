import { enterElementBudget } from '../runtime/tensor/element-budget.js'
import { enterScope } from '../runtime/tensor/scope.js'
import { newStack, type Stack, Tuple, type Value } from '../runtime/tensor/value.js'
import { execute } from './execute.js'
import { drop, retain } from './lifetime.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ProgramInstance, Run } from './run-state.js'
import { LEFT, type RunRecorder } from './run-state.js'
import { abandonRun, beginRun, type RunOptions, takeResult } from './run.js'
import { finishRun } from './finish-run.js'

/** A function that has been called and has not returned. */
export interface Frame {
  readonly fn: LinkedFunction
  /** Of the innermost function the next instruction, of all others the one that made the call that is under way. */
  readonly pc: number
  /** Number 0 is unused. */
  readonly registers: Value[]
}

/**
 * A call from outside that can be left before an operator and goes on later, where something else may have moved it forward meanwhile. It
 * ends with `finish` or with an error of `proceed`.
 */
export class Activation {
  readonly run: Run
  readonly stack: Stack = newStack()
  /** Outermost first; none once the method has returned. */
  frames: readonly Frame[]

  /** `args` come with `self`. */
  constructor(
    fn: LinkedFunction,
    private readonly args: readonly Value[],
    program: ProgramInstance,
    options: RunOptions,
  ) {
    this.run = beginRun(args, program, this.stack, options)
    this.frames = [{ fn, pc: 0, registers: new Array<Value>(fn.source.registerSize + 1).fill(null) }]
  }

  /**
   * Interprets until the method returns, which gives true, or until `recorder` leaves the run. Throws as the interpreter does; nothing is
   * left of the run then.
   */
  proceed(recorder: RunRecorder | null): boolean {
    const { run, stack, frames } = this
    let depth = frames.length - 1
    run.recorder = recorder
    run.frames.length = run.trace.length = 0
    for (let i = 0; i < depth; i++) run.frames.push(frames[i]!.registers)
    const before = enterScope(run.scope)
    const outer = enterElementBudget(run.elementBudget)
    try {
      for (; depth >= 0; depth--) {
        const { fn, pc, registers } = frames[depth]!
        const innermost = depth === frames.length - 1
        if (!innermost) {
          run.frames.pop()
          recorder?.returned()
        }
        execute(fn, stack, run, registers, innermost ? pc : pc + 3)
      }
      this.frames = []
      return true
    } catch (error) {
      if (error !== LEFT) {
        for (let i = depth - 1; i >= 0; i--) run.trace.push({ fn: frames[i]!.fn, pc: frames[i]!.pc / 3 })
        const failure = abandonRun(error, run, stack)
        enterScope(before)
        finishRun(run, null, this.args)
        throw failure
      }
      const inner = run.trace.map(({ fn, pc }, i): Frame => ({ fn, pc: 3 * pc, registers: run.frames[run.frames.length - 1 - i]! }))
      this.frames = [...frames.slice(0, depth), ...inner.reverse()]
      return false
    } finally {
      enterScope(before)
      enterElementBudget(outer)
    }
  }

  /** Everything that the rest of the run can see of what it has done: registers, outermost first, and the stack. */
  values(): Value[] {
    const { frames, stack } = this
    const values: Value[] = []
    for (const { registers } of frames) for (let i = 1; i < registers.length; i++) values.push(registers[i]!)
    for (let i = 0; i < stack.top; i++) values.push(stack.values[i]!)
    return values
  }

  /** Replaces plain values, which are the last `values.length` ones that `values()` gives. */
  replace(values: readonly Value[], by: (value: Value, i: number) => Value): void {
    const { frames, stack } = this
    let i = values.length - stack.top
    for (let at = 0; at < stack.top; at++) stack.values[at] = by(stack.values[at]!, i + at)
    for (const { registers } of [...frames].reverse()) {
      if (i === 0) return
      for (let at = registers.length - 1; at > 0; at--) registers[at] = by(registers[at]!, --i)
    }
  }

  /** Puts another state of the run in the place of the one there is. */
  move(frames: readonly Frame[], stack: readonly Value[]): void {
    const { run } = this
    run.lifetimes.unsettle()
    for (const { registers } of frames) {
      for (const v of registers) {
        if (typeof v !== 'object' || v === null) continue
        retain(v, run.lifetimes)
        if (Array.isArray(v) || v instanceof Tuple || v instanceof Map) run.lifetimes.pin(v)
      }
    }
    for (const v of stack) retain(v, run.lifetimes)
    this.letGo()
    this.frames = frames
    stack.forEach((v, i) => {
      this.stack.values[i] = v
    })
    this.stack.top = stack.length
  }

  /** What the method has returned. */
  get result(): Value {
    return this.stack.top > 0 ? this.stack.values[this.stack.top - 1]! : null
  }

  /** Ends a run whose method has returned. */
  finish(): Value {
    const result = takeResult(this.stack, this.run)
    finishRun(this.run, result, this.args)
    return result
  }

  /** Ends the run with a result that was had in another way. */
  finishWith(result: Value): Value {
    const { run } = this
    run.lifetimes.pin(result)
    this.letGo()
    finishRun(run, result, this.args)
    return result
  }

  /** Ends the run without a result. */
  abandon(): void {
    this.letGo()
    finishRun(this.run, null, this.args)
  }

  private letGo(): void {
    const { stack, run } = this
    for (const { registers } of this.frames) for (const v of registers) drop(v, run.lifetimes)
    for (let i = 0; i < stack.top; i++) drop(stack.values[i]!, run.lifetimes)
    stack.top = 0
  }
}
