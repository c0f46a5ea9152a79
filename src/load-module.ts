import { models } from '../engine/lazy.js'
import type { CacheLike, LoadOptions } from '../engine/options.js'
import type { Openable } from '../formats/containers/bytes.js'
import * as features from '../runtime/features.js'
import { isArrayBuffer, isUint8Array } from '../runtime/intrinsics.js'
import { boolean, callback, checkOptions, count, oneOf, reading } from '../runtime/tensor/check-arguments.js'
import { limitsTest } from './limits-option.js'
import { Module } from './module.js'
import { giveUpIfAborted, isSignal, ownSignal } from './signal.js'
import { yieldToEventLoop } from '../runtime/event-loop.js'
import { atHand } from './at-hand.js'
import { isIntegrity } from './remote/integrity.js'
import type { ModelSource } from './sources.js'
import { nativeHost } from '../runtime/native/library.js'

/** Bytes of a file from which on loading lets other work of the thread go first between its steps. */
const LARGE = 1 << 20

/**
 * Loads a `.ptl`, `.ff`, `.pt` (TorchScript), `.pt2`, `.pte` (ExecuTorch) or `.ptlc` model; the content tells which it is. Weights of a file are
 * mapped and used in place, others are copied once. The model is verified and its operators are resolved before the promise fulfils;
 * it rejects with a PtliteError.
 *
 * A `.ptlc` file of another ISA level or version of the library is replaced by the model that it was compiled from, where that
 * lies beside it, and is refused otherwise. `M` is what the caller knows of the model: a `TypedModule` that `ptlite types` has written.
 *
 * @example
 * ```ts
 * const model = await loadModule('mobilenet_v2.ptl', { onWarning: console.warn })
 * const scores = await model.run<Tensor>('forward', [tensor(new Float32Array(3 * 224 * 224), [1, 3, 224, 224])])
 * ```
 */
export function loadModule(model: ModelSource, options?: LoadOptions): Promise<Module>
export function loadModule<M extends object>(model: ModelSource, options?: LoadOptions): Promise<M>
// ReturnType goes by the last one
export function loadModule(model: ModelSource, options?: LoadOptions): Promise<Module>
export async function loadModule(model: ModelSource, options: LoadOptions = {}): Promise<Module> {
  checkLoadOptions(options)
  const signal = options.signal === undefined ? undefined : ownSignal(options.signal)
  const { onProgress, cache, integrity } = options
  const source = await atHand(model, { signal, onProgress, cache, integrity })
  const data = options.data && (await Promise.all(options.data.map(async (file) => atHand(file, { signal, cache }))))
  // a model that could not run is not loaded
  nativeHost()
  const waiting = models.ready()
  if (waiting !== undefined) await waiting
  return loadOpen(source, data === undefined ? options : { ...options, data }, signal)
}

/** The same of what is at hand already, with options that were checked. */
export async function loadOpen(source: Openable, options: LoadOptions, signal?: AbortSignal): Promise<Module> {
  const { openEngine, openSource } = models()
  const bytes = openSource(source, options.map)
  // other work has its turn when the kernel library has been loaded, between the steps, and before what the caller does with a module
  const isLarge = bytes.size > LARGE
  const steps = openEngine(source, options, bytes)
  for (;;) {
    if (isLarge) await yieldToEventLoop()
    if (signal !== undefined) giveUpIfAborted(signal, bytes)
    const { done, value } = steps.next()
    if (done !== true) {
      if (value !== undefined) await value
      continue
    }
    if (isLarge) await yieldToEventLoop()
    return Module.over(value)
  }
}

/** Paths or bytes. */
function listOfSources(value: unknown): string | null {
  const isSource = (item: unknown): boolean => typeof item === 'string' || isUint8Array(item) || isArrayBuffer(item)
  return Array.isArray(value) && value.every(isSource) ? null : 'a list of paths or bytes'
}

/** Numbers that can share a scale. */
const GROUPS: readonly unknown[] = [32, 64, 128, 256]
const groupTest = (value: unknown): string | null => (GROUPS.includes(value) ? null : GROUPS.join(', '))

/** The name of a directory, or of a cache; or a cache. */
function cacheTest(value: unknown): string | null {
  const { match, put, delete: remove } = (typeof value === 'object' && value !== null ? value : {}) as Partial<CacheLike>
  const isCache = [match, put, remove].every((method) => callback(method) === null)
  return isCache || (typeof value === 'string' && value !== '' && !value.includes('\0')) ? null : 'a directory or a Cache'
}

/** Of builds that read models from more than paths and bytes. */
const OF_SOURCES = { onProgress: callback, cache: cacheTest, integrity: isIntegrity }

/** Throws INVALID_ARGUMENT for unknown options. `where` names the function. */
export function checkLoadOptions(options: LoadOptions, where = 'loadModule()'): void {
  const tests = {
    compile: oneOf('auto', 'off', 'eager'),
    winograd: boolean,
    map: boolean,
    verify: boolean,
    eval: boolean,
    strict: boolean,
    data: listOfSources,
    limits: limitsTest(where, { objects: count }),
    ...(features.sources ? OF_SOURCES : ({} as typeof OF_SOURCES)),
    signal: isSignal,
    onWarning: callback,
    maxIterations: count,
    weights: oneOf('int8', 'int4', 'bfloat16', 'float16'),
    group: groupTest,
    keep: callback,
    activations: oneOf('int8', 'float', 'bfloat16'),
    kvCache: oneOf('int8', 'bfloat16', 'float16'),
  }
  reading(() => checkOptions(options, tests satisfies Record<keyof LoadOptions, unknown>, where))
}
