import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import type { Profiler } from '../../interpreter/profile.js'
import { type Limits, limitError, nanosecondsOf } from '../../runtime/limits.js'
import { frameOf, i32 } from '../../runtime/native/frame.js'
import { launchAsync } from '../../runtime/native/frame-async.js'
import { writeFrame } from '../../runtime/native/library.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { withLevels } from '../../runtime/native/level-limit.js'
import { limitMemory, memoryStats } from '../../runtime/native/memory.js'
import { endLease, lease, Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CapturedRun } from '../capture/captured.js'
import type { FrameLayout } from '../capture/frame-layout.js'
import { mapTensors, type TensorTemplate } from '../capture/result.js'
import { workOf } from '../frames/check-frame.js'
import { Contents } from '../memory/contents.js'
import { type ArenaUse, arenaUse } from './arena.js'
import { GeneratedCode } from './generated-code.js'
import { PlanInstance } from './instance.js'
import { type BufferAssignment, assignBuffers } from './buffer-assignment.js'
import { buildProgram, type ReplayProgram } from './program.js'
import { SparseHandles } from './sparse-handles.js'
import { DETAIL_OFFSET, type FrameMember, layoutOfName } from '../capture/frame-layout.js'

/** Runs of one plan on native threads at a time; each needs an arena. */
const PARALLEL = 4
/** Instances that are kept for later runs. */
const KEPT = 2
/** The word of a frame that says what its status is about: of plan_run, which frame failed. */
const DETAIL_WORD = DETAIL_OFFSET / 4

/** A captured run that is replayed by one native call. Constants are held, not owned. */
export class Plan {
  private readonly program: ReplayProgram
  private readonly layouts: readonly FrameLayout[]
  private readonly code: GeneratedCode
  private readonly sparse: SparseHandles
  private idle: PlanInstance[] = []
  /** Instances that a run uses. */
  private taken = 0
  /** Runs on other threads that were begun, be it that they wait for their turn. */
  private begun = 0
  /** Those that have it. */
  private running = 0
  private readonly queue: (() => void)[] = []
  private disposed = false
  private ended = false
  private addresses: readonly number[] | undefined
  private onEnd: (() => void) | null = null

  constructor(
    readonly captured: CapturedRun,
    /** Where its buffers lie. */
    readonly placement: BufferAssignment = assignBuffers(captured),
    /** Levels whose kernels run its frames, a set of bits by level; 0: all that are in use. */
    private readonly levels = 0,
  ) {
    // results have these lists, call after call
    for (const { shape, strides } of captured.result.tensors.values()) [shape, strides].forEach(Object.freeze)
    this.program = buildProgram(captured, placement)
    this.layouts = captured.frames.map((f) => f.layout)
    this.sparse = withLevels(levels, () => new SparseHandles(captured))
    this.code = withLevels(levels, () => new GeneratedCode(captured.frames))
    for (const handles of [this.sparse, this.code]) handles.fill(new DataView(this.program.frames.buffer), this.program.offsets)
  }

  /** What its arena holds from frame to frame. */
  arena(): ArenaUse {
    return arenaUse(this.captured, this.placement)
  }

  /** Bytes of the one buffer that all intermediates share. */
  get arenaBytes(): number {
    return this.placement.arenaBytes
  }

  /** The most bytes of intermediates that are alive at one time: what `arenaBytes` cannot fall below. */
  get lowerBound(): number {
    return this.placement.lowerBound
  }

  /** Bytes of the intermediates if each had memory of its own. */
  get naiveBytes(): number {
    return this.placement.naiveBytes
  }

  /** Kernel calls of one run. */
  get frames(): number {
    return this.layouts.length
  }

  /** Kernel calls that run generated code. */
  get generated(): number {
    return this.code.count
  }

  /** The plan still holds: constants are alive and unchanged, and inputs share memory with each other as they did at capture. */
  accepts(inputs: readonly Tensor[]): boolean {
    const { constants, aliases } = this.captured
    if (this.disposed || inputs.length !== aliases.length) return false
    for (const { storage, version } of constants) if (storage.version !== version || !storage.live) return false
    for (let i = 0; i < inputs.length; i++) {
      const { storage } = inputs[i]!
      for (let j = 0; j < i; j++) if ((inputs[j]!.storage === storage) !== (aliases[i] === aliases[j])) return false
    }
    return true
  }

  /**
   * Replays the run on other inputs, which `accepts` has approved and which have the shapes, strides and dtypes of those
   * captured. Tensors of the result are the caller's; unless `outside`, they are released when they are dropped, as those that the
   * interpreter makes. Throws what kernels report, such as an index out of range.
   */
  run(inputs: readonly Tensor[], outside = true): Value {
    return this.replay(inputs, 0, outside)
  }

  /** As `run`; `profiler` gets the time and the work of each kernel call. */
  runProfiled(inputs: readonly Tensor[], profiler: Profiler): Value {
    const { frames } = this.captured
    const clock = Storage.allocate(8 * (frames.length + 1))
    try {
      const start = profiler.now()
      const result = this.replay(inputs, clock.address, true)
      // nanoseconds of another clock, of which differences count
      const times = new BigInt64Array(frames.length + 1)
      kernels.mem_read({ address: clock.address, bytes: times.byteLength }, times)
      const since = (i: number): number => Number(times[i]! - times[0]!) / 1000
      frames.forEach((frame, i) => {
        const work = withLevels(this.levels, () => workOf(frame)) ?? { flops: 0, bytes: 0 }
        const { layout, label } = frame
        const times = { start: start + since(i), duration: since(i + 1) - since(i) }
        profiler.events.push({ name: layout.name, ...times, work, ...(label === undefined ? {} : { label }) })
      })
      return result
    } finally {
      clock.free()
    }
  }

  /** `times` is 0 or the address for `frames` + 1 clock readings. */
  private replay(inputs: readonly Tensor[], times: number, outside: boolean): Value {
    if (this.disposed) throw new PtliteError('DISPOSED', 'the plan was disposed')
    const instance = this.take()
    try {
      const { slots } = instance.frame
      for (let i = 0; i < inputs.length; i++) slots[i] = inputs[i]!.address
      const outputs = this.makeOutputs(slots, inputs.length)
      try {
        kernels.plan_run(times === 0 ? instance.frame : { ...instance.frame, times })
      } catch (error) {
        this.noteWrites(inputs)
        for (const storage of outputs) storage.free()
        throw this.explain(error, i32[DETAIL_WORD]!)
      }
      this.noteWrites(inputs)
      return this.result(inputs, outputs, outside)
    } finally {
      this.giveBack(instance)
    }
  }

  /**
   * As `run`, on another native thread. Several runs may be under way, each with an arena of its own; inputs, constants and the
   * plan may be disposed meanwhile. Rejects with ABORTED once it is aborted, and with LIMIT_EXCEEDED where it takes more
   * than `limits` allow: kernels look at both between blocks of their work. Where it fails, the inputs with the numbers `kept` hold what they held before, but for those
   * that others have written to meanwhile.
   */
  async runAsync(inputs: readonly Tensor[], signal?: AbortSignal, limits: Limits = {}, kept: readonly number[] = []): Promise<Value> {
    throwIfAborted(signal)
    // from here on, whatever is disposed stays until this run is over
    const used = [...inputs.map((t) => t.storage), ...this.captured.constants.map((c) => c.storage)]
    const addresses = inputs.map((t) => t.address)
    this.constantAddresses()
    for (const storage of used) lease(storage)
    this.begun++
    try {
      await this.turn()
      try {
        return await this.replayAsync(inputs, addresses, signal, limits, kept)
      } finally {
        this.running--
        this.queue.shift()?.()
      }
    } finally {
      this.begun--
      for (const storage of used) endLease(storage)
      this.endOnceUnused()
    }
  }

  /** Waits until fewer than PARALLEL runs are under way. */
  private async turn(): Promise<void> {
    if (this.running >= PARALLEL) await new Promise<void>((resolve) => this.queue.push(resolve))
    this.running++
  }

  private async replayAsync(
    inputs: readonly Tensor[],
    addresses: readonly number[],
    signal: AbortSignal | undefined,
    limits: Limits,
    kept: readonly number[],
  ): Promise<Value> {
    throwIfAborted(signal)
    const before = new Contents(kept.flatMap((i) => (inputs[i]!.storage.live ? inputs[i]! : [])))
    const { instance, outputs } = withinMemory(limits.bytes, () => this.prepare(addresses))
    const nanoseconds = nanosecondsOf(limits.milliseconds ?? Infinity)
    const frame = frameOf(() => {
      kernels.plan_run({ ...instance.frame, nanoseconds })
    })
    const words = new Int32Array(frame.buffer)
    const cancel = (): void => {
      writeFrame(frame, replayField('cancel').offset / 4, 1)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      await launchAsync(frame, 'plan_run')
      throwIfAborted(signal)
      this.noteWrites(inputs)
      return this.result(inputs, outputs, true)
    } catch (error) {
      before.restoreUnchanged()
      this.noteWrites(inputs)
      for (const storage of outputs) storage.free()
      throwIfAborted(signal)
      const failed = words[DETAIL_WORD]!
      // the call that is under way now is another one
      if (error instanceof PtliteError && error.code === 'LIMIT_EXCEEDED')
        throw limitError('the call', 'milliseconds', limits.milliseconds!, `kernel ${this.layouts[failed]?.name ?? 'plan_run'}`)
      throw this.explain(error, failed)
    } finally {
      signal?.removeEventListener('abort', cancel)
      this.giveBack(instance)
    }
  }

  /** An arena whose frame has the addresses of inputs and new outputs. */
  private prepare(addresses: readonly number[]): { readonly instance: PlanInstance; readonly outputs: Storage[] } {
    const instance = this.take()
    try {
      const { slots } = instance.frame
      for (const [i, address] of addresses.entries()) slots[i] = address
      return { instance, outputs: this.makeOutputs(slots, addresses.length) }
    } catch (error) {
      this.giveBack(instance)
      throw error
    }
  }

  /** Memory of the frames and of arenas goes back, where runs were begun when they are over. */
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    for (const instance of this.idle) instance.dispose()
    this.idle = []
    this.endOnceUnused()
  }

  /** Gives back the memory of arenas until the next run. */
  rest(): void {
    for (const instance of this.idle.splice(0)) instance.dispose()
  }

  /** Calls `action` when the plan has been disposed and the last of its runs is over. */
  whenEnded(action: () => void): void {
    this.onEnd = action
  }

  private endOnceUnused(): void {
    if (!this.disposed || this.ended || this.taken > 0 || this.begun > 0) return
    this.ended = true
    this.code.release()
    this.sparse.release()
    this.onEnd?.()
  }

  private take(): PlanInstance {
    this.taken++
    try {
      return this.idle.pop() ?? this.create()
    } catch (error) {
      this.taken--
      throw error
    }
  }

  private giveBack(instance: PlanInstance): void {
    this.taken--
    if (this.disposed || this.idle.length >= KEPT) instance.dispose()
    else this.idle.push(instance)
    this.endOnceUnused()
  }

  private create(): PlanInstance {
    return new PlanInstance(this.program, this.constantAddresses(), this.levels)
  }

  /** They stay where they are while a run that was begun holds them, though they may be disposed of. */
  private constantAddresses(): readonly number[] {
    return (this.addresses ??= this.captured.constants.map(({ storage }) => storage.address))
  }

  /** Puts the addresses of new outputs in their slots, behind those of `n` inputs. */
  private makeOutputs(slots: number[], n: number): Storage[] {
    const { outputs: sizes } = this.program
    const outputs: Storage[] = []
    try {
      for (let i = 0; i < sizes.length; i++) {
        const storage = Storage.allocate(sizes[i]!)
        outputs.push(storage)
        slots[n + i] = storage.address
      }
    } catch (error) {
      for (const storage of outputs) storage.free()
      throw error
    }
    return outputs
  }

  /** A run that ends early has written to some of them. */
  private noteWrites(inputs: readonly Tensor[]): void {
    for (const i of this.captured.written) inputs[i]!.storage.version++
  }

  private result(inputs: readonly Tensor[], outputs: readonly Storage[], outside: boolean): Value {
    const { result } = this.captured
    if (result.value instanceof Tensor) return this.tensorOf(result.tensors.get(result.value)!, inputs, outputs, outside)
    const made = new Map<Tensor, Tensor>()
    return mapTensors(result.value, (mark) => {
      let t = made.get(mark)
      if (t === undefined) {
        t = this.tensorOf(result.tensors.get(mark)!, inputs, outputs, outside)
        made.set(mark, t)
      }
      return t
    })
  }

  private tensorOf(template: TensorTemplate, inputs: readonly Tensor[], outputs: readonly Storage[], outside: boolean): Tensor {
    const { target, offset, shape, strides, type, quant, same } = template
    let t: Tensor
    if (target.kind === 'input') {
      const input = inputs[target.index]!
      if (same) return input
      t = new Tensor(input.storage, input.offset + offset, shape, strides, type, quant)
    } else if (target.kind === 'buffer') {
      t = new Tensor(outputs[this.program.outputOf[target.index]!]!, offset, shape, strides, type, quant)
    } else {
      const { storage } = this.captured.constants[target.index]!
      if (same !== null) return same
      t = new Tensor(storage, offset, shape, strides, type, quant)
    }
    if (outside) {
      t.pinned = true
      t.storage.watch()
      if (target.kind === 'buffer') Tensor.hand(t, true)
    }
    return t
  }

  /** An error of a frame says which kernel it was. */
  private explain(error: unknown, frame: number): unknown {
    if (!(error instanceof PtliteError)) return error
    const { name } = this.layouts[frame] ?? { name: 'plan_run' }
    return new PtliteError(error.code, error.message.replace('plan_run', name), { cause: error })
  }
}

/** A field of the frame that replays a run. */
function replayField(name: string): FrameMember {
  return layoutOfName('plan_run')!.fields.get(name)!
}

/** Carries `run` out with no more than so many bytes for what it makes. */
function withinMemory<T>(bytes: number | undefined, run: () => T): T {
  if (bytes === undefined) return run()
  const before = limitMemory({ who: 'the call', limit: bytes, ceiling: memoryStats().live + bytes })
  try {
    return run()
  } finally {
    limitMemory(before)
  }
}

/** A plan for a captured run. A text says why there can be none. */
export function buildPlan(captured: CapturedRun, placement = assignBuffers(captured), levels = 0): Plan | string {
  const slots = captured.aliases.length + placement.outputs.length
  const room = replayField('slots').count
  return slots > room ? `it has ${slots} inputs and outputs, at most ${room} fit` : new Plan(captured, placement, levels)
}
