import type { CallSettings, RunSettings } from '../engine/engine.js'
import type { Profiler } from '../interpreter/profile.js'
import type { CallOptions, RunOptions } from '../engine/options.js'
import { callback, checkOptions, reading } from '../runtime/tensor/check-arguments.js'
import { limitsTest } from './limits-option.js'
import { isSignal, ownSignal } from './signal.js'

const NONE: CallSettings & RunSettings = {}

const CALL_TESTS = { profiler: isProfiler, limits: limitsTest('call()'), outputs: isLast } satisfies Record<keyof CallOptions, unknown>
const RUN_TESTS = { signal: isSignal, limits: limitsTest('run()'), outputs: isLast } satisfies Record<keyof RunOptions, unknown>

/** By what it does: it may be of another copy of the library. */
function isProfiler(value: unknown): string | null {
  return callback((value as Partial<Profiler> | null)?.record) === null ? null : 'a Profiler'
}

function isLast(value: unknown): string | null {
  return value === 'last' ? null : "'last'"
}

/** Throws INVALID_ARGUMENT for unknown options. */
export function callSettings(options: CallOptions | undefined): CallSettings {
  if (options === undefined) return NONE
  reading(() => checkOptions(options, CALL_TESTS, 'call()'))
  return { profiler: options.profiler, limits: options.limits, lastRow: options.outputs === 'last' }
}

/** As above. */
export function runSettings(options: RunOptions | undefined): RunSettings {
  if (options === undefined) return NONE
  reading(() => checkOptions(options, RUN_TESTS, 'run()'))
  return { signal: ownSignal(options.signal), limits: options.limits, lastRow: options.outputs === 'last' }
}
