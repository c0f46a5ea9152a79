import { PtliteError } from '../runtime/error.js'
import { endsCall } from '../runtime/limits.js'

/**
 * The result of a plan that runs on another native thread. Where it fails, what it wrote to is as it was before: the interpreter repeats the error, says where in the model it
 * is, and leaves behind what PyTorch leaves.
 */
export async function interpretedAgain<T>(replay: Promise<T>, interpret: () => Promise<T>): Promise<T> {
  try {
    return await replay
  } catch (error) {
    if (!(error instanceof PtliteError) || endsCall(error)) throw error
    try {
      return await interpret()
    } catch (again) {
      throw again instanceof PtliteError && again.code === 'UNSUPPORTED_HOST' ? error : again
    }
  }
}
