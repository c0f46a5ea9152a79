import { cpu as native } from '../runtime/native/cpu.js'
import { type DTypeName, dtypeFromName } from '../runtime/tensor/dtype.js'

/** The instruction set levels of the kernels. */
export const cpu = {
  ...native,

  /**
   * How many elements of a dtype the kernels take in one step: what a register holds, of float32 for 16-bit floats, in
   * which they compute. Throws UNSUPPORTED_DTYPE for complex and 4-bit numbers, which have no vectors.
   */
  vectorLength(dtype: DTypeName): number {
    return native.vectorLength(dtypeFromName(dtype))
  },
}
