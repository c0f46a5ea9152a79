import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type { ByteSource } from '../../formats/containers/bytes.js'

/** Builds hold the kernels of models, not those of their plans. */
export function loadPlans(source: ByteSource): never {
  source.close()
  throw new PtliteError('UNSUPPORTED_FILE', `${source.label}: the reader of .ptlc files is not in this build${HOW_TO_EXTEND}`)
}
