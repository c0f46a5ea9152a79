import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type * as whole from '../../engine/background/interpret.js'

/** Selective builds have no background thread: what no plan serves is interpreted in the thread of the caller, as is what that thread does not know. */
export const interpretInBackground: typeof whole.interpretInBackground = () =>
  ({
    call: () => Promise.reject(new PtliteError('MISSING_OPERATOR', `the background thread is not in this build${HOW_TO_EXTEND}`)),
    dispose: () => undefined,
  }) as unknown as whole.BackgroundInterpreter
