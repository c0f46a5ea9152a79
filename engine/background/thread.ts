import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { chosenLibrary } from '../../runtime/native/library-path.js'
import { unpacked } from '../../runtime/native/unpacked.js'
import type { Reply, Request, WorkerStart } from './messages.js'

/** Beside the bundles; from the sources, in the built package. */
const ENTRIES = ['worker.cjs', '../../dist/worker.cjs']

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** Names the milliseconds without a request after which the thread ends. */
const IDLE_VARIABLE = 'PTLITE_BACKGROUND_IDLE'
const DEFAULT_IDLE = 10_000

/** Throws UNSUPPORTED_HOST where Node has been told to start no workers. */
function startWorker(start: WorkerStart): Worker {
  try {
    return new Worker(entryPath(), { workerData: start, execArgv: [] })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw cause
    throw new PtliteError(
      'UNSUPPORTED_HOST',
      'run() and compile() work in another thread: start Node with --allow-worker, or use forward() and call()',
      { cause },
    )
  }
}

/**
 * The thread that interprets in the background. It keeps the process alive only while it works, and ends when it has had nothing to do for
 * a while. Its native memory stays until nothing that it has made is used here (`hold`), or until this thread has ended too.
 */
export class BackgroundThread {
  private readonly worker: Worker
  private readonly waiting: Waiting[] = []
  private failed: PtliteError | null = null
  private readonly owner = kernels.owner_create()
  private holds = 0
  private exited = false
  private released = false
  private users = 0
  private readonly idle: NodeJS.Timeout

  constructor(private readonly onWarning: (module: number, text: string) => void) {
    const start: WorkerStart = { ptlite: 'background', nativeLibrary: chosenLibrary() || undefined, owner: this.owner }
    // flags of this process, such as --input-type, need not fit a worker
    this.worker = startWorker(start)
    this.worker.unref()
    this.idle = setTimeout(() => {
      if (this.users === 0) this.retire()
    }, idleTime()).unref()
    this.worker.on('message', (reply: Reply) => {
      if (reply.kind === 'warning') this.onWarning(reply.module, reply.text)
      else this.settle(({ resolve }) => resolve(reply))
    })
    this.worker.on('error', (error) => {
      this.fail(`the background thread failed: ${error.message}`)
    })
    this.worker.on('exit', () => {
      this.fail('the background thread ended')
      this.exited = true
      this.releaseMemory()
    })
  }

  /** False once the thread is gone, or takes no requests any more. */
  get alive(): boolean {
    return this.failed === null
  }

  /** It stays, as requests are about to come, until the returned function is called. */
  use(): () => void {
    this.users++
    return () => {
      if (--this.users === 0) this.idle.refresh()
    }
  }

  /** Requests are answered in order. */
  ask(request: Request): Promise<Reply> {
    if (this.failed !== null) return Promise.reject(this.failed)
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject })
      if (this.waiting.length === 1) this.worker.ref()
      this.worker.postMessage(request)
    })
  }

  /** For requests without an answer. */
  tell(request: Request): void {
    if (this.failed === null) this.worker.postMessage(request)
  }

  /** Something that the thread has made is in use here, until the returned function is called. */
  hold(): () => void {
    this.holds++
    let held = true
    return () => {
      if (held) this.holds--
      held = false
      this.releaseMemory()
    }
  }

  private retire(): void {
    this.tell({ kind: 'retire' })
    this.fail('the background thread has ended for want of work')
  }

  private releaseMemory(): void {
    if (!this.exited || this.holds > 0 || this.released) return
    this.released = true
    kernels.owner_release({ owner: this.owner })
  }

  private settle(how: (waiting: Waiting) => void): void {
    const first = this.waiting.shift()
    if (this.waiting.length === 0) this.worker.unref()
    if (first !== undefined) how(first)
  }

  private fail(message: string): void {
    this.failed ??= new PtliteError('INTERNAL', message)
    clearTimeout(this.idle)
    for (const { reject } of this.waiting.splice(0)) reject(this.failed)
  }
}

function idleTime(): number {
  const text = process.env[IDLE_VARIABLE]
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_IDLE
}

function entryPath(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = ENTRIES.map((name) => unpacked(join(here, name))).find((path) => existsSync(path))
  if (found === undefined) {
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `no worker.cjs in ${here}; Module.run needs it and the other .cjs files of the package's dist folder there: copy node_modules/ptlite/dist/*.cjs`,
    )
  }
  return found
}
