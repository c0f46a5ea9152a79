import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { PtliteError } from '../../runtime/error.js'
import { chosenLibrary } from '../../runtime/native/library-path.js'
import type { Reply, Request, WorkerStart } from './messages.js'

/** Beside the bundles; from the sources, in the built package. */
const ENTRIES = ['worker.cjs', '../../dist/worker.cjs']

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** The thread that interprets in the background. It keeps the process alive only while it works. */
export class BackgroundThread {
  private readonly worker: Worker
  private readonly waiting: Waiting[] = []
  private failed: PtliteError | null = null

  constructor(private readonly onWarning: (module: number, text: string) => void) {
    const start: WorkerStart = { ptlite: 'background', nativeLibrary: chosenLibrary() || undefined }
    // flags of this process, such as --input-type, need not fit a worker
    this.worker = new Worker(entryPath(), { workerData: start, execArgv: [] })
    this.worker.unref()
    this.worker.on('message', (reply: Reply) => {
      if (reply.kind === 'warning') this.onWarning(reply.module, reply.text)
      else this.settle(({ resolve }) => resolve(reply))
    })
    this.worker.on('error', (error) => {
      this.fail(`the background thread failed: ${error.message}`)
    })
    this.worker.on('exit', () => {
      this.fail('the background thread ended')
    })
  }

  /** False once the thread is gone. */
  get alive(): boolean {
    return this.failed === null
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

  private settle(how: (waiting: Waiting) => void): void {
    const first = this.waiting.shift()
    if (this.waiting.length === 0) this.worker.unref()
    if (first !== undefined) how(first)
  }

  private fail(message: string): void {
    this.failed ??= new PtliteError('INTERNAL', message)
    for (const { reject } of this.waiting.splice(0)) reject(this.failed)
  }
}

function entryPath(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = ENTRIES.map((name) => join(here, name)).find((path) => existsSync(path))
  if (found === undefined) {
    throw new PtliteError(
      'INTERNAL',
      `no worker.cjs in ${here}; Module.run needs the file of that name from the package's dist folder there`,
    )
  }
  return found
}
