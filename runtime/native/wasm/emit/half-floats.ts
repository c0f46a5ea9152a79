import type { Floats } from './floats.js'
import type { Local, Value } from './values.js'

/** Bits of bfloat16 in the lower halves of lanes: rounded to nearest even, NaN the quiet one. */
export function bfloat16Bits(e: Floats, x: Local): Value {
  const odd = e.and(e.shiftRightUnsigned(x, 16), e.bits(1))
  const rounded = e.shiftRightUnsigned(e.addInt(e.addInt(x, odd), e.bits(0x7fff)), 16)
  return e.select(e.isNaN(x), e.bits(0x7fc0), rounded)
}

export function bfloat16Value(e: Floats, bits: Value): Value {
  return e.shiftLeft(bits, 16)
}

/** The same for float16, as kernels/support/float16_bits.h has it. */
export function float16Bits(e: Floats, x: Local): Value {
  const sign = e.and(e.shiftRightUnsigned(x, 16), e.bits(0x8000))
  const magnitude = e.keep(e.and(x, e.bits(0x7fffffff)))
  const isGreater = (bound: number): Value => e.op('i32x4.gt_s', [magnitude, e.bits(bound)])
  const infinite = e.select(isGreater(0x7f800000), e.bits(0x7e00), e.bits(0x7c00))
  const denormal = e.subInt(e.add(magnitude, e.f32(0.5)), e.bits(0x3f000000))
  const odd = e.and(e.shiftRightUnsigned(magnitude, 13), e.bits(1))
  const normal = e.shiftRightUnsigned(e.addInt(e.addInt(magnitude, e.bits(0xfff - 0x38000000)), odd), 13)
  const finite = e.select(isGreater(0x387fffff), normal, denormal)
  return e.or(sign, e.select(isGreater(0x477fffff), infinite, finite))
}

export function float16Value(e: Floats, bits: Value): Value {
  const half = e.keep(bits)
  const magnitude = e.keep(e.and(half, e.bits(0x7fff)))
  const shifted = e.keep(e.shiftLeft(magnitude, 13))
  const infinite = e.op('i32x4.gt_s', [magnitude, e.bits(0x7bff)])
  const value = e.select(infinite, e.or(e.f32(Infinity), shifted), e.mul(shifted, e.f32(2 ** 112)))
  return e.or(e.shiftLeft(e.and(half, e.bits(0x8000)), 16), value)
}
