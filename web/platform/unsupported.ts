import type * as background from '../../engine/background/interpret.js'
import type * as originals from '../../engine/replaced.js'
import type * as modelFiles from '../../selective-build/trace/model-file.js'
import { PtliteError } from '../../runtime/error.js'
import type * as libraries from '../../runtime/native/custom-library.js'

/* What browsers have not. */

/** Libraries of custom kernels are machine code; operators written in TypeScript work here, too. */
export const openLibrary: typeof libraries.openLibrary = () => {
  throw new PtliteError('UNSUPPORTED_HOST', 'browsers load no native libraries: write custom operators in JavaScript with other operators')
}

/** No background thread: what no plan serves is interpreted in the thread of the caller. */
export const interpretInBackground: typeof background.interpretInBackground = () => null

/** Models have no files beside them, so it does not matter whether one is still the original. */
export const pathBeside: typeof originals.pathBeside = () => undefined
export const differenceOf: typeof originals.differenceOf = () => null
export const quickDifferenceOf: typeof originals.quickDifferenceOf = () => null

/** Traces say nothing of files. */
export const fileName: typeof modelFiles.fileName = () => 'a module in memory'
export const hashOf: typeof modelFiles.hashOf = () => null
export const pathFrom: typeof modelFiles.pathFrom = (_folder, path) => path
