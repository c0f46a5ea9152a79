import type { CallSettings, RunSettings } from '../engine/engine.js'
import type { Profiler } from '../engine/interpreter/profile.js'
import type { CallOptions, RunOptions } from '../engine/options.js'
import { callback, checkOptions, reading } from '../runtime/tensor/check-arguments.js'
import { limitsTest } from './limits-option.js'

const NONE: CallSettings & RunSettings = {}

/** By what it does: it may be of another copy of the library. */
function isProfiler(value: unknown): string | null {
  return callback((value as Partial<Profiler> | null)?.record) === null ? null : 'a Profiler'
}

/** As above: browsers' test environments have a class of their own. */
export function isSignal(value: unknown): string | null {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  return typeof aborted === 'boolean' && callback(addEventListener) === null ? null : 'an AbortSignal'
}

/** Throws INVALID_ARGUMENT for options that there are not. */
export function callSettings(options: CallOptions | undefined): CallSettings {
  if (options === undefined) return NONE
  reading(() =>
    checkOptions(options, { profiler: isProfiler, limits: limitsTest('call()') } satisfies Record<keyof CallOptions, unknown>, 'call()'),
  )
  return { profiler: options.profiler, limits: options.limits }
}

/** As above. */
export function runSettings(options: RunOptions | undefined): RunSettings {
  if (options === undefined) return NONE
  reading(() =>
    checkOptions(options, { signal: isSignal, limits: limitsTest('run()') } satisfies Record<keyof RunOptions, unknown>, 'run()'),
  )
  return { signal: ownSignal(options.signal), limits: options.limits }
}

/** A signal of the host, which follows one of another class. */
export function ownSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal
  const other: AbortSignal = signal
  const own = new AbortController()
  const follow = (): void => own.abort(other.reason)
  if (other.aborted) follow()
  else other.addEventListener('abort', follow, { once: true })
  return own.signal
}
