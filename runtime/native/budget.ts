import { milliseconds } from '../platform.js'
import { PtliteError } from '../error.js'
import { DEFAULT_ELEMENTS, type Limited, limitError, type Limits, nanosecondsOf } from '../limits.js'
import { enterPace } from '../pace.js'
import * as kernels from './generated/kernels.js'
import { limitMemory, memoryStats } from './memory.js'

/** Words of an instruction: what is interpreted is counted in words. */
const WORDS = 3
/** Words between two looks at the clock where operators do not look at it. */
const QUANTUM = WORDS << 10
/** How much longer than a call its compilation may take. */
const COMPILATION = 10

/** How another thread ends what this one does. */
export interface Cancellation {
  /** Not 0 once the work is to end. */
  readonly flag: Int32Array
  /** An int32 in native memory that says the same to kernels. */
  readonly address: number
}

/**
 * What a call, or the code of a module that is loaded, may still take. The interpreter counts `fuel` down; kernels have the deadline in native memory and
 * look at it between blocks of their work. May be entered several times: what was used is used.
 */
export class Budget {
  /** Words of instructions before `refuel` has to be asked. */
  fuel = 0
  /** Operators have to look at the clock, or whether another thread ends the run. */
  clocked: boolean
  private granted = 0
  private isOver = false
  /** Words left, those granted among them. */
  private words: number
  /** Milliseconds left when it is not entered. */
  private time: number
  private bytes: number
  /** When the time is over, while it is entered. */
  private deadline = Infinity
  /** Whose limits they are: a call from inside of another one has those of both. */
  private ofWords: Budget = this
  private ofTime: Budget = this

  constructor(
    readonly who: Limited,
    readonly limits: Limits,
    private cancellation: Cancellation | null = null,
  ) {
    this.words = WORDS * (limits.instructions ?? Infinity)
    this.time = limits.milliseconds ?? Infinity
    this.bytes = limits.bytes ?? Infinity
    this.clocked = this.time !== Infinity || cancellation !== null
    this.grant()
  }

  get elements(): number {
    return this.limits.elements ?? DEFAULT_ELEMENTS
  }

  private grant(): void {
    this.fuel = this.granted = this.clocked ? Math.min(QUANTUM, this.words) : this.words
  }

  /** Takes what was used off the words that are left. */
  private settle(): void {
    if (this.words !== Infinity) this.words -= this.granted - this.fuel
    this.granted = this.fuel
  }

  /** Fuel is used up. Throws LIMIT_EXCEEDED or ABORTED unless the run may go on. */
  refuel(): void {
    this.settle()
    if (this.words < 0) throw limitError(this.ofWords.who, 'instructions', this.ofWords.limits.instructions!)
    this.check()
    this.grant()
  }

  /** Throws LIMIT_EXCEEDED once the time is over, ABORTED where another thread has ended the run. */
  check(): void {
    if (!this.clocked) return
    if (this.cancellation !== null && Atomics.load(this.cancellation.flag, 0) !== 0)
      throw new PtliteError('ABORTED', `${this.who} was given up`)
    if (milliseconds() > this.deadline) throw this.timeError()
  }

  /** Between steps of work in JavaScript. What cleans up behind the error is not ended again. */
  private readonly look = (): void => {
    if (this.isOver) return
    this.isOver = true
    this.check()
    this.isOver = false
  }

  /** The error about the time; `place` says where. */
  timeError(place = ''): PtliteError {
    const { who, limits } = this.ofTime
    return limitError(who, 'milliseconds', limits.milliseconds ?? Infinity, place)
  }

  /** Carries `run` out within this budget, and within that around it, and in `atMost` milliseconds of it. */
  within<T>(run: () => T, atMost = Infinity): T {
    const outer = current
    const begin = milliseconds()
    const { live } = memoryStats()
    this.deadline = begin + Math.min(this.time, atMost)
    const before = limitMemory(null)
    const ceiling = live + this.bytes
    limitMemory(before === null || ceiling < before.ceiling ? { who: this.who, limit: this.limits.bytes ?? Infinity, ceiling } : before)
    this.inherit(outer)
    const { words } = this
    setCurrent(this)
    this.tellKernels(begin)
    const pace = enterPace(null)
    enterPace(this.clocked ? this.look : pace)
    try {
      return run()
    } finally {
      const end = milliseconds()
      enterPace(pace)
      current = outer
      limitMemory(before)
      this.settle()
      this.time -= end - begin
      this.bytes -= Math.max(0, memoryStats().live - live)
      if (words !== Infinity) outer.fuel -= words - this.words
      if (outer.clocked) outer.tellKernels(end)
      else if (this.clocked) kernels.budget_leave({})
    }
  }

  private inherit(outer: Budget): void {
    outer.settle()
    if (outer.words < this.words) {
      this.words = outer.words
      this.ofWords = outer.ofWords
    }
    if (outer.deadline < this.deadline) {
      this.deadline = outer.deadline
      this.ofTime = outer.ofTime
    }
    this.cancellation ??= outer.cancellation
    this.clocked ||= outer.clocked
    this.grant()
  }

  /** Carries out what does not count: the compilation of a call, which has a limit of its own. */
  outside<T>(run: () => T): T {
    const begin = milliseconds()
    const { milliseconds: time } = this.limits
    const own = new Budget(this.who, time === undefined ? {} : { milliseconds: COMPILATION * time })
    const { deadline } = this
    const before = limitMemory(null)
    this.deadline = Infinity
    try {
      return own.within(run)
    } finally {
      limitMemory(before)
      const now = milliseconds()
      this.time += now - begin
      this.deadline = deadline + now - begin
      this.tellKernels(now)
    }
  }

  private tellKernels(now: number): void {
    if (!this.clocked) return
    const left = nanosecondsOf(this.deadline - now)
    kernels.budget_enter({ nanoseconds: left, cancel: this.cancellation?.address ?? 0 })
  }
}

const UNLIMITED = new Budget('the call', {})
let current = UNLIMITED

function setCurrent(budget: Budget): void {
  current = budget
}

/** That of the call that is under way. */
export function currentBudget(): Budget {
  return current
}

/** The error about a kernel that the deadline has ended. */
export function kernelTimeError(kernel: string): PtliteError {
  return current.timeError(`kernel ${kernel}`)
}

/** Carries `run` out within these limits. */
export function withinLimits<T>(limits: Limits | undefined, run: () => T, cancellation: Cancellation | null = null): T {
  return limits === undefined && cancellation === null ? run() : new Budget('the call', limits ?? {}, cancellation).within(run)
}

/** The same for what compiles a call, whose limits it does not count against. */
export function asCompilation<T>(run: () => T): T {
  return current === UNLIMITED ? run() : current.outside(run)
}
