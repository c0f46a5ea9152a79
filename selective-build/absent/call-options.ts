import type { CallSettings, RunSettings } from '../../engine/engine.js'
import { absent } from '../../runtime/error.js'
import type * as whole from '../../src/call-options.js'

const NONE: CallSettings & RunSettings = {}

/** Builds that only interpret carry every call out as it is. */
function noSettings(options: unknown): CallSettings & RunSettings {
  if (options !== undefined) throw absent('what serves options of calls', 'INVALID_ARGUMENT')
  return NONE
}

export const callSettings: typeof whole.callSettings = noSettings
export const runSettings: typeof whole.runSettings = noSettings
