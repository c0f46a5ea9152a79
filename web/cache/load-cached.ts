import type { CacheLike, LoadOptions } from '../../engine/options.js'
import type { ByteSource } from '../../formats/containers/bytes.js'
import { hashAt } from '../../runtime/tensor/hash.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { cpu } from '../../runtime/native/cpu.js'
import { KERNEL_ABI_HASH } from '../../runtime/native/generated/kernels.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { PLAN_VERSION } from '../../runtime/version.js'
import { models } from '../../engine/lazy.js'
import { ownSignal } from '../../src/signal.js'
import { checkLoadOptions, loadOpen } from '../../src/load-module.js'
import type { Module } from '../../src/module.js'
import { addressIn } from '../../src/remote/address.js'
import { tagIn } from '../../src/remote/download.js'
import { absolute } from '../receiving/absolute.js'
import { atHand } from '../platform/at-hand.js'
import { openedCache, storage } from './storage.js'
import type { CachedCall } from './compiled.js'

export interface CachedOptions extends LoadOptions {
  /** Calls that are to be compiled ahead, for arguments of these forms; asked for once kernels can run. The module serves these alone then. */
  readonly calls?: () => readonly CachedCall[]
  /** The name of a cache of the Cache API, 'ptlite' without it; or what does as one. */
  readonly cache?: string | CacheLike
}

const NAME = 'ptlite'
const MADE = 'x-ptlite-made'
const TAG = 'x-ptlite-tag'
const SUM = 'x-ptlite-sum'

/**
 * Loads a model by its URL, and keeps it in the browser's cache, compiled for `calls`: the next visit neither downloads nor compiles it. The server is asked
 * whether it is still the same (`ETag` or `Last-Modified`); where it cannot be reached, what is kept is used. Loads as loadModule where nothing can be kept.
 */
export async function loadCached(url: string | URL, options: CachedOptions = {}): Promise<Module> {
  const { calls, cache: where = NAME, ...others } = options
  checkLoadOptions(others, 'loadCached()')
  if (calls !== undefined && typeof calls !== 'function')
    throw new PtliteError('INVALID_ARGUMENT', 'loadCached(): expected calls to be a function')
  const signal = ownSignal(others.signal)
  throwIfAborted(signal)
  const address = /^hf:/i.test(String(url)) ? addressIn(url)!.url : absolute(url)
  const [cache, tag] = await Promise.all([openedCache(where), tagOf(address, signal), kernelsReady(), models.ready()])
  const made = [
    PLAN_VERSION,
    KERNEL_ABI_HASH,
    cpu.currentLevel(),
    others.winograd ?? '',
    others.eval ?? '',
    others.strict ?? '',
    others.integrity ?? '',
    ...[others.weights ?? '', others.group ?? '', others.activations ?? ''],
    calls === undefined ? 'file' : 'plans',
  ].join(' ')
  const kept = await cache?.match(address).catch(() => undefined)
  if (cache !== undefined && kept !== undefined) {
    const isCurrent = kept.headers.get(MADE) === made && (tag === OFFLINE || (tag !== '' && kept.headers.get(TAG) === tag))
    const module = isCurrent ? await fromCache(kept, calls, others, signal) : undefined
    if (module !== undefined) return module
    await cache.delete(address).catch(() => false)
  }
  return fromNetwork(address, cache, made, calls, others, signal)
}

/** Forgets all models of a cache. */
export async function clearCache(name: string = NAME): Promise<void> {
  await storage()?.delete(name)
}

const OFFLINE = Symbol('offline')

/** The tag that the server gives; '' where it gives none. */
async function tagOf(address: string, signal: AbortSignal | undefined): Promise<string | typeof OFFLINE> {
  try {
    const request = { method: 'HEAD', cache: 'no-cache', ...(signal === undefined ? {} : { signal }) }
    const answer = await fetch(address, request)
    // of a server that is in trouble, rather than of one that knows no HEAD
    return answer.ok ? tagIn(answer) : answer.status >= 500 && answer.status !== 501 ? OFFLINE : ''
  } catch {
    throwIfAborted(signal)
    return OFFLINE
  }
}

/** undefined where what is kept is damaged, or not of these calls. */
async function fromCache(
  kept: Response,
  calls: CachedOptions['calls'],
  options: LoadOptions,
  signal: AbortSignal | undefined,
): Promise<Module | undefined> {
  try {
    const source = models().openSource(await atHand(kept, { signal }))
    if (sumOf(source) !== kept.headers.get(SUM)) {
      source.close()
      return undefined
    }
    const module = await loadOpen(source, options, signal)
    const wanted = kept.headers.get('content-type') === PLANS ? (calls?.() ?? []) : []
    if (!wanted.every(({ method, args }) => hasPlan(module, method, args))) {
      module.dispose()
      return undefined
    }
    return module
  } catch (error) {
    throwIfAborted(signal)
    if (error instanceof PtliteError && error.code !== 'OUT_OF_MEMORY') return undefined
    throw error
  }
}

const PLANS = 'application/x-ptlc'

function hasPlan(module: Module, ...[method, args]: Parameters<Module['arena']>): boolean {
  try {
    module.arena(method, args)
    return true
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'NATIVE_LIBRARY') throw error
    return false
  }
}

async function fromNetwork(
  address: string,
  cache: CacheLike | undefined,
  made: string,
  calls: CachedOptions['calls'],
  options: LoadOptions,
  signal: AbortSignal | undefined,
): Promise<Module> {
  let answer: Response
  try {
    answer = await fetch(address, signal === undefined ? {} : { signal })
  } catch (cause) {
    throwIfAborted(signal)
    throw new PtliteError('INVALID_FILE', `cannot read the model ${address}: ${(cause as Error).message}`, { cause })
  }
  const tag = tagIn(answer)
  let source = models().openSource(await atHand(answer, { signal, onProgress: options.onProgress, integrity: options.integrity }))
  const isKept = cache !== undefined && tag !== ''
  // the file itself, where there are no plans of it: compiling takes it away
  const file = isKept || calls !== undefined ? source.read(0, source.size) : undefined
  const name = address.replace(/[?#].*$/, '').replace(/^.*\//, '')
  const [received, wanted] = [source, calls?.()]
  const plans =
    wanted === undefined
      ? null
      : await (await import('./compiled.js')).compiled(received, () => models().openSource(file!), name, wanted, options)
  const bytes = plans ?? file
  if (calls !== undefined) source = models().openSource(bytes!)
  if (isKept) {
    const headers = {
      [MADE]: made,
      [TAG]: tag,
      [SUM]: sumOf(source),
      'content-type': plans === null ? 'application/octet-stream' : PLANS,
    }
    // what there is no room for is loaded again next time
    void cache.put(address, new Response(bytes!, { headers })).catch(() => undefined)
  }
  return loadOpen(source, options, signal)
}

/** XXH64 of its bytes. */
function sumOf(source: ByteSource): string {
  return source.size === 0 ? '' : hashAt(source.storageAt(0, source.size, 1).address, source.size).toString(16)
}
