import { noteUse } from '../used.js'
import { DType, dtypeName } from './dtype.js'
import { bfloat16ToNumber, halfToNumber } from './half.js'
import * as features from '../features.js'
import { absent } from '../error.js'

/** The number that the bits of an element stand for; `type` is float16 or bfloat16. */
export function halfValue(bits: number, type: DType): number {
  if (!features.half) throw absent(dtypeName(type))
  noteUse('halves')
  return type === DType.float16 ? halfToNumber(bits) : bfloat16ToNumber(bits)
}
