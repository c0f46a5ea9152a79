import { noteUse } from '../used.js'
import type { Tensor } from './tensor.js'

/** To be called by every operator that writes into an existing tensor's data. */
export function noteWrite(tensor: Tensor): void {
  noteUse('writes')
  tensor.storage.version++
}
