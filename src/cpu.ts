import { cpu as native } from '../runtime/native/cpu.js'
import { checkText } from '../runtime/tensor/check-arguments.js'
import { type DTypeName, dtypeFromName } from '../runtime/tensor/dtype.js'

/** The instruction set levels of the kernels. */
export const cpu = {
  ...native,

  /** As native.reportOf. Throws INVALID_ARGUMENT for what is no dump. */
  reportOf(dump: string, capability?: string): ReturnType<typeof native.reportOf> {
    checkText(dump, 'what cpu.dump() or cpuid printed')
    if (capability !== undefined) checkText(capability, 'the name of a level')
    return native.reportOf(dump, capability)
  },

  /**
   * How many elements of a dtype the kernels take in one step: what a register holds, of float32 for 16-bit floats, in
   * which they compute. Throws UNSUPPORTED_DTYPE for complex and 4-bit numbers, which have no vectors.
   */
  vectorLength(dtype: DTypeName): number {
    return native.vectorLength(dtypeFromName(dtype))
  },
}
