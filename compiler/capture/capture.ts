import { generatorAddress } from '../../runtime/operators/support/generator.js'
import { frameBytes, i32, observeLaunches } from '../../runtime/native/frame.js'
import { visitTensors } from '../../program/reach.js'
import { type Storage } from '../../runtime/tensor/storage.js'
import { observeStorages, type StorageObserver } from '../../runtime/tensor/observe.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { Capture, CapturedBuffer, CapturedFrame, CapturedRun, Pointer, Target } from './captured.js'
import { type FrameLayout, layoutOf } from './frame-layout.js'
import { describeResult, type ResultTemplate } from './result.js'

export interface CaptureOptions {
  /** What is under way, for people who look at the frames and buffers. */
  readonly label?: Label
  /** Random numbers come from the generator of this thread, the only one that may replay the run. */
  readonly draws?: boolean
  /** Undoes what the run wrote to inputs and drew. */
  readonly putBack?: () => void
  /** Tensors besides inputs that a result may be itself, in every replay: those of the module. */
  readonly given?: readonly Tensor[]
}

/**
 * Runs `run` once and records every kernel launch and every piece of memory, so that the run can be replayed with
 * other contents of `inputs`, whose shapes, strides and dtypes must stay. A run that keeps memory of its own (weights
 * packed at first use) is done a second time, behind `putBack`. The value is that of the last run.
 *
 * Not capturable is a run that lets tensor data other than constants reach TypeScript, draws random numbers without `draws`, writes to memory that was
 * there before other than its inputs, or calls kernels of another library. Errors of `run` are passed on.
 */
export function capture(run: () => Value, inputs: readonly Tensor[], options: CaptureOptions = {}): Capture {
  const { putBack } = options
  const recorder = new Recorder(inputs, options)
  const first = recorder.record(run)
  if (first.captured !== null || !recorder.keptMemory || (recorder.changed && putBack === undefined)) return first
  recorder.release(first.value)
  if (recorder.changed) putBack?.()
  return new Recorder(inputs, options).record(run)
}

type Label = () => string | undefined

class Recorder implements StorageObserver {
  private readonly frames: CapturedFrame[] = []
  private readonly targets = new Map<Storage, Target>()
  private readonly buffers: (CapturedBuffer & { readonly storage: Storage; freed: boolean })[] = []
  private readonly constants: { storage: Storage; version: number }[] = []
  /** Storages whose address was asked for since the last launch: where the addresses of its frame come from. */
  private readonly recent: Storage[] = []
  /** All storages whose address was asked for: an address may be used more than once. */
  private readonly known = new Set<Storage>()
  private reason: string | null = null
  /** The run would leave less behind if it were done again. */
  keptMemory = false
  /** It wrote to inputs or may have drawn random numbers. */
  changed = false

  private readonly label: Label
  private readonly draws: boolean
  private readonly given: readonly Tensor[]

  constructor(
    private readonly inputs: readonly Tensor[],
    { label = () => undefined, draws = false, given = [] }: CaptureOptions,
  ) {
    this.label = label
    this.draws = draws
    this.given = given
    inputs.forEach((t, index) => {
      if (!this.targets.has(t.storage)) this.targets.set(t.storage, { kind: 'input', index })
    })
  }

  record(run: () => Value): Capture {
    const { inputs } = this
    const versions = inputs.map((t) => t.storage.version)
    const launches = observeLaunches((id, name, host, own) => {
      launches?.(id, name, host, own)
      this.launched(id, name, host, own)
    })
    const storages = observeStorages(this)
    let value: Value
    for (const { storage } of inputs) storage.varies = true
    try {
      value = run()
    } finally {
      for (const { storage } of inputs) storage.varies = false
      observeLaunches(launches)
      observeStorages(storages)
    }
    const written = inputs.flatMap((t, i) => (t.storage.version === versions[i] ? [] : [i]))
    const result = describeResult(value, inputs, this.given, (storage) => this.find(storage))
    if (typeof result === 'string') this.refuse(result)
    if (this.reason !== null) return { value, captured: null, reason: this.reason }
    return this.finish(value, result as ResultTemplate, written)
  }

  private finish(value: Value, result: ResultTemplate, written: readonly number[]): Capture {
    const outputs = new Set([...result.tensors.values()].flatMap(({ target }) => (target.kind === 'buffer' ? [target.index] : [])))
    if (this.buffers.some((b, i) => !b.freed && !outputs.has(i))) {
      this.keptMemory = true
      this.changed = written.length > 0 || this.draws
      return { value, captured: null, reason: 'it keeps memory that it made' }
    }
    if (this.constants.some(({ storage, version }) => storage.version !== version)) {
      return { value, captured: null, reason: 'it writes to a tensor that is not its own' }
    }
    const first = new Map<Storage, number>()
    const aliases = this.inputs.map((t, i) => first.get(t.storage) ?? (first.set(t.storage, i), i))
    const captured: CapturedRun = {
      frames: this.frames,
      buffers: this.buffers.map(({ bytes, label }, i) => ({ bytes, isOutput: outputs.has(i), ...(label === undefined ? {} : { label }) })),
      constants: this.constants,
      aliases,
      written,
      result,
    }
    return { value, captured }
  }

  /** Gives back what the run made and returned, where nobody will see it. */
  release(value: Value): void {
    visitTensors(value, (t) => {
      if (this.targets.get(t.storage)?.kind === 'buffer') t.release()
    })
  }

  used(storage: Storage): void {
    this.recent.push(storage)
    this.known.add(storage)
  }

  allocated(storage: Storage): void {
    this.targets.set(storage, { kind: 'buffer', index: this.buffers.length })
    this.buffers.push({ storage, bytes: storage.byteLength, isOutput: false, freed: false, ...this.labelled() })
  }

  freed(storage: Storage): void {
    const target = this.targets.get(storage)
    if (target?.kind === 'buffer') this.buffers[target.index]!.freed = true
    else if (target !== undefined) this.refuse('it frees memory that it did not make')
    const at = this.recent.indexOf(storage)
    if (at >= 0) this.recent.splice(at, 1)
    this.known.delete(storage)
  }

  moved(): void {
    this.refuse('a tensor outgrows memory that others view')
  }

  private refuse(reason: string): void {
    this.reason ??= reason
  }

  private launched(id: number, name: string, host: ArrayBufferView | null, own: boolean): void {
    if (this.reason !== null) return
    if (!own) {
      this.refuse(`kernel ${name} is of another library`)
      return
    }
    const layout = layoutOf(id)
    // an arena takes the place of the allocator
    if (layout.effect === 'allocation') return
    if (layout.effect === 'process') {
      this.refuse(`it calls ${name}`)
      return
    }
    if (layout.hasResults) {
      // sizes and the like, which follow from the frame alone, are known already
      if (layout.pointers.length > 0) this.refuse(`kernel ${name} returns numbers that depend on data`)
      return
    }
    if (layout.random && !this.draws) this.refuse('it draws random numbers')
    else this.keep(layout, host)
  }

  private keep(layout: FrameLayout, host: ArrayBufferView | null): void {
    const pointers: Pointer[] = []
    for (const at of layout.pointers) {
      const address = i32[at / 4 + 1]! * 4294967296 + (i32[at / 4]! >>> 0)
      if (address === 0) continue
      // it is the same as long as the thread lives
      if (this.draws && address === generatorAddress()) continue
      const pointer = this.resolve(at, address)
      if (pointer === null) {
        this.refuse(`kernel ${layout.name} uses memory of unknown origin`)
        return
      }
      pointers.push(pointer)
    }
    this.recent.length = 0
    // a copy takes the place of what is only read
    if (layout.host !== null && layout.host !== 'in') {
      // constants read the same in every replay
      if (pointers.some(({ target }) => target.kind !== 'constant')) this.refuse('it reads tensor data')
      return
    }
    const copy = host === null ? null : new Uint8Array(host.buffer, host.byteOffset, host.byteLength).slice()
    this.frames.push({ layout, bytes: frameBytes.slice(0, layout.size), host: copy, pointers, ...this.labelled() })
  }

  private labelled(): { label?: string } {
    const label = this.label()
    return label === undefined ? {} : { label }
  }

  private resolve(at: number, address: number): Pointer | null {
    const inside = (s: Storage): boolean => s.live && address >= s.startAddress && address < s.startAddress + Math.max(s.byteLength, 1)
    let storage = this.recent.find(inside)
    if (storage === undefined) for (const s of this.known) if (inside(s)) storage = s
    // a view of no elements may begin where its storage ends
    storage ??= this.recent.find((s) => s.live && address === s.startAddress + s.byteLength)
    if (storage === undefined) return null
    const target = this.find(storage)
    const base = target.kind === 'input' ? firstElement(this.inputs[target.index]!) : storage.startAddress
    return { at, target, offset: address - base }
  }

  /** Storages that were there before and are no input are constants. */
  private find(storage: Storage): Target {
    let target = this.targets.get(storage)
    if (target === undefined) {
      target = { kind: 'constant', index: this.constants.length }
      this.constants.push({ storage, version: storage.version })
      this.targets.set(storage, target)
    }
    return target
  }
}

/** Address of a tensor's first element, without that counting as a use. */
function firstElement(t: Tensor): number {
  return t.storage.startAddress + t.offset * t.itemSize
}
