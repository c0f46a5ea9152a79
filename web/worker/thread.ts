import type { Reply, Request } from './messages.js'

/** A worker of the page, or a thread of Node. */
export interface Thread {
  post(request: Request, transfer: readonly ArrayBuffer[]): void
  /** Whether it keeps Node running. */
  hold(isBusy: boolean): void
  terminate(): void
}

export interface Listener {
  readonly reply: (reply: Reply) => void
  /** It is gone, or cannot be spoken to. */
  readonly fail: (reason: string) => void
}

interface PageWorker {
  onmessage: ((event: { readonly data: Reply }) => void) | null
  onerror: ((event: { readonly message?: string; preventDefault?(): void }) => void) | null
  onmessageerror: (() => void) | null
  postMessage(message: Request, transfer: readonly ArrayBuffer[]): void
  terminate(): void
}
declare const Worker: new (file: URL, options: { readonly type: 'module' }) => PageWorker

interface NodeWorker {
  on(event: 'message', listener: (reply: Reply) => void): void
  on(event: 'error' | 'messageerror', listener: (error: Error) => void): void
  on(event: 'exit', listener: () => void): void
  postMessage(message: Request, transfer: readonly ArrayBuffer[]): void
  ref(): void
  unref(): void
  terminate(): Promise<unknown>
}
interface NodeThreads {
  readonly Worker: new (file: URL, options: { readonly execArgv: readonly string[] }) => NodeWorker
}

interface Host {
  readonly Worker?: unknown
  readonly process?: { getBuiltinModule?(name: string): unknown }
}

/** Starts the program of workers. Throws what the host says where it has none. */
export function startThread(listener: Listener): Thread {
  const { process } = globalThis as unknown as Host
  const threads = process?.getBuiltinModule?.('worker_threads') as NodeThreads | undefined
  return threads === undefined ? ofPage(listener) : ofNode(threads, listener)
}

function ofPage({ reply, fail }: Listener): Thread {
  // just so written, tools that bundle programs find the file
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }) => reply(data)
  worker.onerror = (event) => {
    event.preventDefault?.()
    fail(event.message ?? 'its program cannot be loaded; serve dist/web/worker.js of the package beside the library')
  }
  worker.onmessageerror = () => fail('a message of it cannot be read')
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    hold: () => undefined,
    terminate: () => worker.terminate(),
  }
}

function ofNode(threads: NodeThreads, { reply, fail }: Listener): Thread {
  // flags of this process, such as --input-type, need not fit a worker
  const worker = new threads.Worker(new URL('./worker.js', import.meta.url), { execArgv: [] })
  worker.on('message', reply)
  worker.on('error', ({ message }) => fail(message))
  worker.on('messageerror', ({ message }) => fail(message))
  worker.on('exit', () => fail('it has ended'))
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  }
}
