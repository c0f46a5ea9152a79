import { noteUse } from '../used.js'
import { DType } from './dtype.js'
import { bfloat16ToNumber, halfToNumber } from './half.js'

/** The number that the bits of an element stand for; `type` is float16 or bfloat16. */
export function halfValue(bits: number, type: DType): number {
  noteUse('halves')
  return type === DType.float16 ? halfToNumber(bits) : bfloat16ToNumber(bits)
}
