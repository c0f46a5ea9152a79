import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'
import type * as whole from '../../formats/reading/quantization.js'

export const quantOf: typeof whole.quantOf = () => {
  throw new PtliteError('UNSUPPORTED_FILE', `quantized tensors are not in this build${HOW_TO_EXTEND}`)
}

export const quantProblem: typeof whole.quantProblem = () => `quantized tensors are not in this build${HOW_TO_EXTEND}`
