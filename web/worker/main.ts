/** The program of workers, dist/web/worker.js: a model that another thread asks to run. It imports the library, ../web.js, as other programs do. */
import * as library from '../index.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { failureOf } from './failures.js'
import type { About, CallRequest, LoadRequest, PieceMessage, Reply, Request, SentSource } from './messages.js'
import { Packer, Unpacker } from './values.js'

interface Port {
  postMessage(reply: Reply, transfer: readonly ArrayBuffer[]): void
  addEventListener(event: 'message', listener: (event: { readonly data: Request }) => void): void
  start?(): void
}
interface NodeThreads {
  readonly parentPort: { on(event: 'message', listener: (request: Request) => void): void; postMessage: Port['postMessage'] }
}

const { process } = globalThis as unknown as { readonly process?: { getBuiltinModule?(name: string): unknown } }
const threads = process?.getBuiltinModule?.('worker_threads') as NodeThreads | undefined
const page = globalThis as unknown as Port

const post = (reply: Reply, transfer: Iterable<ArrayBuffer> = []): void =>
  threads === undefined ? page.postMessage(reply, [...transfer]) : threads.parentPort.postMessage(reply, [...transfer])

let module: library.Module | undefined
/** Ends the call that runs, where that is possible. */
let running: AbortController | undefined
/** Takes the next piece of the model. */
let piece: ((message: PieceMessage) => void) | undefined

/** What `source` says, read here. */
function sourceOf(source: SentSource): library.ModelSource {
  if (source.kind === 'whole') return source.source
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { bytes, failure } = await new Promise<PieceMessage>((resolve) => {
          piece = resolve
          post({ kind: 'pull' })
        })
        if (failure !== undefined) controller.error(new library.PtliteError(failure.code, failure.message))
        else if (bytes === undefined) controller.close()
        else controller.enqueue(bytes)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers: source.promised > 0 ? { 'content-length': String(source.promised) } : {} })
}

async function load({ source, options: { warns, reports, ...options }, kernels }: LoadRequest): Promise<void> {
  if (kernels !== undefined) library.setKernels(kernels)
  const warnings = warns ? { onWarning: (text: string) => post({ kind: 'warning', text }) } : {}
  const progress = reports ? { onProgress: (progress: library.LoadProgress) => post({ kind: 'progress', progress }) } : {}
  const loaded = (module = await library.loadModule(sourceOf(source), { ...options, ...warnings, ...progress }))
  const { methods, operators, missing, inputs, outputs } = loaded
  const about: About = { methods, operators, missing, inputs, outputs }
  post({ kind: 'loaded', about })
}

async function call({ kind, method, args, limits, isAbortable }: CallRequest): Promise<void> {
  const unpacker = new Unpacker(library, 'tuples')
  const packer = new Packer(library, () => undefined)
  try {
    const inputs = args.map((arg) => unpacker.unpack(arg) as library.Input)
    if (kind === 'compile') await module!.compile(method, inputs)
    if (isAbortable) running = new AbortController()
    const options = { ...(limits === undefined ? {} : { limits }), ...(running === undefined ? {} : { signal: running.signal }) }
    const output = kind === 'compile' ? null : await module!.run(method, inputs, options)
    const value = packer.pack(output)
    post({ kind: 'result', value }, packer.transfer)
  } finally {
    running = undefined
    discard(module!, new Set([...unpacker.tensors, ...packer.tensors]))
  }
}

/** Disposes of tensors that the model itself does not use. */
function discard(from: library.Module, tensors: Iterable<library.Tensor>): void {
  const own = from['engine'].storages()
  for (const tensor of tensors) if (!own.has((tensor as Tensor).storage)) tensor.dispose()
}

async function answer(request: Request): Promise<void> {
  try {
    if (request.kind === 'piece') piece?.(request)
    else if (request.kind === 'abort') running?.abort()
    else await (request.kind === 'load' ? load(request) : call(request))
  } catch (error) {
    post({ kind: 'failed', failure: failureOf(error, library) })
  }
}

if (threads === undefined) page.addEventListener('message', ({ data }) => void answer(data))
else threads.parentPort.on('message', (request) => void answer(request))
