import type { LoadOptions } from '../../engine/options.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { isArrayBuffer, isUint8Array } from '../../runtime/intrinsics.js'
import { chosenKernels } from '../../runtime/native/wasm/library.js'
import type { KernelFile, KernelSource } from '../../runtime/native/wasm/locate.js'
import { ownSignal } from '../../src/signal.js'
import { checkLoadOptions } from '../../src/load-module.js'
import { type ModelSource, read } from '../../src/sources.js'
import { type Chunks, chunksOf } from '../../src/remote/chunks.js'
import { absolute } from '../receiving/absolute.js'
import { Connection } from './connection.js'
import type { SentSource } from './messages.js'
import { WorkerModule } from './worker-module.js'

/**
 * Loads a model in a worker of its own, which fetches, compiles and runs it there, so that the page stays fluid. Takes what loadModule takes. The
 * kernels are those of `setKernels`. Rejects as loadModule, and with UNSUPPORTED_HOST where there are no workers.
 */
export async function loadInWorker(source: ModelSource, options: LoadOptions = {}): Promise<WorkerModule> {
  checkLoadOptions(options, 'loadInWorker()')
  const { signal: given, onWarning, onProgress, ...others } = options
  if (typeof others.cache === 'object')
    throw new PtliteError('INVALID_ARGUMENT', 'loadInWorker(): workers open caches by their names: expected cache to be a string')
  const signal = ownSignal(given)
  throwIfAborted(signal)
  const kernels = sentKernels(chosenKernels())
  const [sent, pieces] = await sourceOf(source)
  const connection = new Connection(pieces, { onWarning, onProgress })
  const request = {
    kind: 'load',
    source: sent,
    options: { ...others, warns: onWarning !== undefined, reports: onProgress !== undefined },
    kernels,
  } as const
  return WorkerModule.over(connection, await connection.load(request, signal))
}

async function sourceOf(source: ModelSource): Promise<readonly [SentSource, Chunks | undefined]> {
  if (typeof source === 'string' || source instanceof URL) return [{ kind: 'whole', source: absolute(source) }, undefined]
  if (isUint8Array(source) || isArrayBuffer(source) || source instanceof Blob) return [{ kind: 'whole', source }, undefined]
  const chunks = await read(() => Promise.resolve(chunksOf(source)))
  if (chunks !== undefined) return [{ kind: 'pieces', promised: chunks.isPromised ? chunks.announced : 0 }, chunks]
  const isReadable = typeof source === 'object' && (source as unknown) !== null && 'arrayBuffer' in source
  if (!isReadable) throw new PtliteError('INVALID_ARGUMENT', 'expected a URL, bytes, a Blob, a Response or a stream of bytes')
  return [{ kind: 'whole', source: await read(() => source.arrayBuffer()) }, undefined]
}

function sentKernels(source: KernelSource | undefined): KernelSource | undefined {
  if (typeof source !== 'object' || Object.getPrototypeOf(source) !== Object.prototype) return source && sentFile(source as KernelFile)
  return Object.fromEntries(Object.entries(source).map(([level, file]) => [level, sentFile(file as KernelFile)]))
}

/** An answer is read once. */
function sentFile(file: KernelFile): KernelFile {
  if (typeof file === 'string' || file instanceof URL) return absolute(file)
  if (file instanceof Promise || file instanceof Response)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      'workers load the kernels again: give setKernels their URL, their bytes or a WebAssembly.Module',
    )
  return file
}
