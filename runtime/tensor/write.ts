import { absent } from '../error.js'
import { noteUse } from '../used.js'
import type { Tensor } from './tensor.js'

/** To be called by every operator that writes into an existing tensor's data. */
export function noteWrite(tensor: Tensor): void {
  noteUse('writes')
  tensor.storage.version++
}

/** What builds without HOLDS_WRITES do in place of writing into a given tensor. */
export function absentWrite(): never {
  throw absent('an operator that writes into a given tensor', 'MISSING_KERNEL')
}
