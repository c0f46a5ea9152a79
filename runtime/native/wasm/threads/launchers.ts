import { yieldToEventLoop } from '../../../event-loop.js'
import { bufferUpTo } from '../web-assembly.js'
import { beginThread, type Shared, type Thread } from './begin-thread.js'

/** Kernels that run at a time, as natively. */
const MOST = 4
/** Milliseconds after which a thread that has nothing to do ends. */
const IDLE = 10_000

/** A frame that waits for a thread, or whose kernel runs on one. */
interface Launch {
  readonly frame: Uint8Array
  /** Of the copy that the kernel has. */
  readonly address: number
  readonly done: (status: number) => void
  readonly failed: (reason: Error) => void
}

interface Launcher {
  state: 'begins' | 'rests' | 'runs' | 'ends'
  thread: Thread | undefined
  launch: Launch | undefined
  /** Ends it. */
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Threads that run whole kernels, while the one that they belong to does something else. They begin when they are needed. */
export class Launchers {
  private readonly all = new Set<Launcher>()
  private readonly waiting: Launch[] = []
  private readonly underWay = new Map<Uint8Array, Launch>()
  private isRefused = false

  constructor(
    private readonly shared: Shared,
    /** A thread was ended by a trap: what the launch that it ran is to fail with. */
    private readonly trapped: (reason: string, frame: Uint8Array) => Error,
    /** None can be started. */
    private readonly refused: (reason: string) => void,
  ) {}

  /** Fulfils with the status of the kernel that the frame names; the frame has what it wrote into it then. */
  async launch(frame: Uint8Array): Promise<number> {
    const { kernels } = this.shared
    const address = kernels.take(frame.length)
    const there = (): Uint8Array => new Uint8Array(bufferUpTo(this.shared.memory, address + frame.length), address, frame.length)
    there().set(frame)
    try {
      return await new Promise<number>((done, failed) => {
        const launch = { frame, address, done, failed }
        this.underWay.set(frame, launch)
        this.waiting.push(launch)
        this.serve()
      })
    } finally {
      this.underWay.delete(frame)
      frame.set(there())
      kernels.give(address)
    }
  }

  /** Sets a word of a frame whose kernel may be running. */
  write(frame: Uint8Array, word: number, value: number): void {
    const launch = this.underWay.get(frame)
    if (launch !== undefined)
      Atomics.store(new Int32Array(bufferUpTo(this.shared.memory, launch.address + frame.length)), launch.address / 4 + word, value)
  }

  private serve(): void {
    const inState = (state: Launcher['state']): Launcher[] => [...this.all].filter((launcher) => launcher.state === state)
    for (const launcher of inState('rests')) if (this.waiting.length > 0) this.give(launcher, this.waiting.shift()!)
    const coming = inState('begins').length
    const there = coming + inState('runs').length
    const more = this.isRefused ? 0 : Math.min(this.waiting.length - coming, MOST - there)
    for (let i = 0; i < more; i++) this.begin()
    if (this.isRefused && there === 0) for (const launch of this.waiting.splice(0)) void this.runHere(launch)
  }

  private give(launcher: Launcher, launch: Launch): void {
    clearTimeout(launcher.timer)
    launcher.state = 'runs'
    launcher.launch = launch
    launcher.thread!.hold(true)
    launcher.thread!.tell({ frame: launch.address })
  }

  /** Where there is no other thread, others have their turn first. */
  private async runHere({ address, done, failed }: Launch): Promise<void> {
    await yieldToEventLoop()
    try {
      done(this.shared.kernels.launchAt(address))
    } catch (error) {
      failed(error as Error)
    }
  }

  private begin(): void {
    const launcher: Launcher = { state: 'begins', thread: undefined, launch: undefined, timer: undefined }
    const rest = (): void => {
      launcher.state = 'rests'
      launcher.timer = setTimeout(() => {
        launcher.state = 'ends'
        launcher.thread!.tell('end')
      }, IDLE)
      // the numbers of pages have no such thing
      ;(launcher.timer as { unref?(): void }).unref?.()
      this.serve()
    }
    this.all.add(launcher)
    launcher.thread = beginThread(this.shared, false, {
      begun: rest,
      status: (status) => {
        launcher.launch!.done(status)
        launcher.launch = undefined
        launcher.thread!.hold(false)
        rest()
      },
      ended: () => this.all.delete(launcher),
      failed: (reason) => {
        this.all.delete(launcher)
        clearTimeout(launcher.timer)
        if (launcher.launch === undefined) this.refused(reason)
        else launcher.launch.failed(this.trapped(reason, launcher.launch.frame))
        this.isRefused = true
        this.serve()
      },
    })
  }
}
