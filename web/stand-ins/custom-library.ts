import { PtliteError } from '../../runtime/error.js'
import type * as whole from '../../runtime/native/custom-library.js'

/** Libraries of custom kernels are machine code; operators written in TypeScript work here, too. */
export const openLibrary: typeof whole.openLibrary = () => {
  throw new PtliteError('UNSUPPORTED_HOST', 'browsers load no native libraries: write custom operators in JavaScript with other operators')
}
