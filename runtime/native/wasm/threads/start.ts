import type { Said } from './messages.js'

/** A thread of the host. */
export interface HostThread {
  tell(message: unknown): void
  /** Whether the program goes on for its sake. */
  hold(isHeld: boolean): void
}

export interface Listener {
  readonly said: (message: Said) => void
  /** It has not begun, or is not there any more. */
  readonly failed: (reason: string) => void
}

interface PageWorker {
  onmessage: ((event: { readonly data: Said }) => void) | null
  onerror: ((event: { readonly message?: string; preventDefault(): void }) => void) | null
  postMessage(message: unknown): void
}
declare const Worker: new (file: string | URL, options: { readonly type: 'module'; readonly name: string }) => PageWorker

interface NodeWorker {
  on(event: 'message', listener: (message: Said) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'exit', listener: () => void): void
  postMessage(message: unknown): void
  ref(): void
  unref(): void
}
interface NodeThreads {
  readonly Worker: new (file: string | URL, options: { readonly execArgv: readonly string[]; readonly name: string }) => NodeWorker
}
interface Host {
  readonly crossOriginIsolated?: boolean
  readonly Worker?: unknown
  readonly SharedArrayBuffer?: unknown
  readonly navigator?: { readonly hardwareConcurrency?: number }
  readonly process?: { getBuiltinModule?(name: string): unknown }
}

const host = globalThis as unknown as Host

/** As many threads as kernels can have here, the one that calls them included: 1 where memory cannot be shared. */
export function mostThreads(): number {
  if (host.SharedArrayBuffer === undefined) return 1
  if (host.crossOriginIsolated === true && host.Worker !== undefined) return host.navigator?.hardwareConcurrency ?? 1
  return nodeThreads() === undefined ? 1 : MAX_IN_NODE
}

/** Whatever the number of cores, as natively. */
const MAX_IN_NODE = 64

function nodeThreads(): NodeThreads | undefined {
  return host.process?.getBuiltinModule?.('worker_threads') as NodeThreads | undefined
}

/** Starts a thread, of another file than the one beside the library where that is given. Throws where the host refuses. */
export function startThread(file: string | URL | undefined, listener: Listener): HostThread {
  const threads = host.crossOriginIsolated === true ? undefined : nodeThreads()
  return threads === undefined ? inPage(file, listener) : inNode(threads, file ?? new URL('./thread.js', import.meta.url), listener)
}

function inPage(file: string | URL | undefined, { said, failed }: Listener): HostThread {
  // tools that bundle programs look for just this expression
  const worker =
    file === undefined ? new Worker(new URL('./thread.js', import.meta.url), { type: 'module', name: 'ptlite' }) : new Worker(file, OPTIONS)
  worker.onmessage = ({ data }) => said(data)
  worker.onerror = (event) => {
    event.preventDefault()
    failed(event.message ?? 'its file cannot be loaded')
  }
  return { tell: (message) => worker.postMessage(message), hold: () => undefined }
}

const OPTIONS = { type: 'module', name: 'ptlite' } as const

function inNode(threads: NodeThreads, file: string | URL, { said, failed }: Listener): HostThread {
  const worker = new threads.Worker(file, { execArgv: [], name: 'ptlite' })
  worker.on('message', said)
  worker.on('error', ({ message }) => failed(message))
  worker.on('exit', () => failed('it has ended'))
  return { tell: (message) => worker.postMessage(message), hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()) }
}
