import { bfloat16ToNumber, halfToNumber } from '../../../tensor/half.js'
import { DType } from '../../../tensor/dtype.js'
import { Float, type Int, toInt } from '../../../tensor/scalar.js'
import type { Value } from '../../../tensor/value.js'
import { intFromDouble } from './integer.js'
import { rint } from './real.js'

/* Conversion of single elements, as C casts convert them on x86. */

const float32 = new Float32Array(1)
const bits32 = new Uint32Array(float32.buffer)

/** bfloat16 bits of a number, rounded to the nearest, ties to even. */
export function numberToBfloat16(x: number): number {
  if (Number.isNaN(x)) return 0x7fc0
  float32[0] = x
  const bits = bits32[0]!
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff
}

/** IEEE half-precision bits of a number, rounded to the nearest, ties to even. */
export function numberToHalf(x: number): number {
  if (Number.isNaN(x)) return 0x7e00
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0
  const size = Math.abs(x)
  if (size >= 65520) return sign | 0x7c00
  // adding and taking away a large power of two rounds to the last place of a half
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size))
  const last = 2 ** (exponent - 10)
  const steps = rint(size / last)
  if (size < 2 ** -14) return sign | steps
  return sign | ((exponent + 15) * 1024 + (steps - 1024))
}

/** The raw element of this dtype for an int64: integers wrap around. */
export function elementOfInt(type: DType, x: Int): number | bigint {
  if (type === DType.int64) return BigInt(x)
  if (type <= DType.int32) return Number(BigInt.asIntN(32, BigInt(x))) // typed arrays take the lowest bits
  return elementOfFloat(type, Number(x))
}

/** The raw element of this dtype for a float32: truncated for integers, their least value standing for what does not fit. */
export function elementOfFloat(type: DType, x: number): number | bigint {
  switch (type) {
    case DType.bool:
      return x !== 0 ? 1 : 0
    case DType.int64:
      return BigInt(intFromDouble(x))
    case DType.float16:
      return numberToHalf(Math.fround(x))
    case DType.bfloat16:
      return numberToBfloat16(Math.fround(x))
    case DType.float32:
    case DType.float64:
      return x
    default:
      return x >= -(2 ** 31) && x < 2 ** 31 ? Math.trunc(x) : -(2 ** 31)
  }
}

/** What turns a raw element of this dtype into a value. */
export function elementReader(type: DType): (raw: number | bigint) => Value {
  switch (type) {
    case DType.bool:
      return (raw) => Number(raw) !== 0
    case DType.int64:
      return (raw) => toInt(BigInt(raw))
    case DType.float16:
      return (raw) => new Float(halfToNumber(Number(raw)))
    case DType.bfloat16:
      return (raw) => new Float(bfloat16ToNumber(Number(raw)))
    case DType.float32:
    case DType.float64:
      return (raw) => new Float(Number(raw))
    default:
      return Number
  }
}
