import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'

/** at::padding_mode, by number. */
const MODES = ['reflect', 'replicate', 'circular', 'constant']

/** torch.nn.functional.pad with the mode as a number. */
export function _pad_enum(self: Tensor, pad: number[], mode: number, value: number | null): Tensor {
  check(mode in MODES, () => `pad: expected a mode of 0 to ${MODES.length - 1}, found ${mode}`)
  return at.pad(self, pad, MODES[mode]!, value)
}
