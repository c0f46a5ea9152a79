import type { Floats } from './floats.js'
import { bfloat16Bits, bfloat16Value, float16Bits, float16Value } from './half-floats.js'
import type { ElementType } from './step-graph.js'
import type { Local, Value } from './values.js'

export const LANES = 4

export const ELEMENT_BYTES: Readonly<Record<ElementType, 1 | 2 | 4>> = {
  float32: 4,
  bfloat16: 2,
  float16: 2,
  bool: 1,
  uint8: 1,
  int8: 1,
}

const WHOLE = { 4: 'v128.load', 2: 'v128.load64_zero', 1: 'v128.load32_zero' } as const
const SPLAT = { 4: 'v128.load32_splat', 2: 'v128.load16_splat', 1: 'v128.load8_splat' } as const
const LOAD_LANE = { 1: 'v128.load8_lane', 2: 'v128.load16_lane', 4: 'v128.load32_lane', 8: 'v128.load64_lane' } as const
const STORE_LANE = { 1: 'v128.store8_lane', 2: 'v128.store16_lane', 4: 'v128.store32_lane', 8: 'v128.store64_lane' } as const

/** Four elements as they lie in memory to lanes of floats, or of integers for bytes; a bool gives ones or zeros. */
function widen(e: Floats, raw: Value, dtype: ElementType): Value {
  const halves = (x: Value): Value => e.op('i32x4.extend_low_i16x8_u', [x])
  switch (dtype) {
    case 'float32':
      return raw
    case 'bfloat16':
      return bfloat16Value(e, halves(raw))
    case 'float16':
      return float16Value(e, halves(raw))
    case 'int8':
      return e.op('i32x4.extend_low_i16x8_s', [e.op('i16x8.extend_low_i8x16_s', [raw])])
    case 'uint8':
      return halves(e.op('i16x8.extend_low_i8x16_u', [raw]))
    case 'bool':
      return e.op('i32x4.ne', [halves(e.op('i16x8.extend_low_i8x16_u', [raw])), e.bits(0)])
  }
}

/** The reverse: elements in the lowest bytes. `isRounded`: a bfloat16 that needs no rounding any more. */
function narrow(e: Floats, x: Local, dtype: ElementType, isRounded: boolean): Local {
  const halves = (wide: Local): Local => e.keep(e.op('i16x8.narrow_i32x4_u', [wide, wide]))
  switch (dtype) {
    case 'float32':
      return x
    case 'bfloat16':
      return halves(e.keep(isRounded ? e.shiftRightUnsigned(x, 16) : bfloat16Bits(e, x)))
    case 'float16':
      return halves(e.keep(float16Bits(e, x)))
    case 'bool':
    case 'uint8': {
      const bytes = dtype === 'uint8' ? x : e.keep(e.shiftRightUnsigned(e.op('i32x4.ne', [x, e.bits(0)]), 31))
      const words = halves(bytes)
      return e.keep(e.op('i8x16.narrow_i16x8_u', [words, words]))
    }
    case 'int8': {
      const words = e.keep(e.op('i16x8.narrow_i32x4_s', [x, x]))
      return e.keep(e.op('i8x16.narrow_i16x8_s', [words, words]))
    }
  }
}

/** Four elements at `offset` bytes from `at`. */
export function loadWhole(e: Floats, at: Local, dtype: ElementType, offset = 0): Local {
  return e.keep(widen(e, e.op(WHOLE[ELEMENT_BYTES[dtype]], [at], { offset }), dtype))
}

/** One element in all lanes. */
export function loadOne(e: Floats, at: Value, dtype: ElementType): Local {
  return e.keep(widen(e, e.op(SPLAT[ELEMENT_BYTES[dtype]], [at]), dtype))
}

export function storeWhole(e: Floats, at: Local, x: Local, dtype: ElementType, isRounded: boolean, offset = 0): void {
  const bytes = ELEMENT_BYTES[dtype]
  const raw = narrow(e, x, dtype, isRounded)
  if (bytes === 4) e.do('v128.store', [at, raw], { offset })
  else e.do(bytes === 2 ? 'v128.store64_lane' : 'v128.store32_lane', [at, raw], { offset, lane: 0 })
}

// A rest of `count` elements, 1 to 3: two of them where bit 1 of the count is set, and then one where bit 0 is.

/** The others read as zero. */
export function loadRest(e: Floats, at: Local, count: Local, dtype: ElementType): Local {
  const bytes = ELEMENT_BYTES[dtype]
  const raw = e.keep(e.bits(0))
  const lane = (size: 1 | 2 | 4 | 8, offset: number, index: number): void =>
    e.set(raw, e.op(LOAD_LANE[size], [at, raw], { offset, lane: index }))
  forRest(e, count, {
    pair: () => lane((2 * bytes) as 2 | 4 | 8, 0, 0),
    third: () => lane(bytes, 2 * bytes, 2),
    first: () => lane(bytes, 0, 0),
  })
  return e.keep(widen(e, raw, dtype))
}

export function storeRest(e: Floats, at: Local, count: Local, x: Local, dtype: ElementType, isRounded: boolean): void {
  const bytes = ELEMENT_BYTES[dtype]
  const raw = narrow(e, x, dtype, isRounded)
  const lane = (size: 1 | 2 | 4 | 8, offset: number, index: number): void => e.do(STORE_LANE[size], [at, raw], { offset, lane: index })
  forRest(e, count, {
    pair: () => lane((2 * bytes) as 2 | 4 | 8, 0, 0),
    third: () => lane(bytes, 2 * bytes, 2),
    first: () => lane(bytes, 0, 0),
  })
}

interface Rest {
  readonly pair: () => void
  readonly third: () => void
  readonly first: () => void
}

function forRest(e: Floats, count: Local, { pair, third, first }: Rest): void {
  e.op('i32.gt_s', [count, e.i32(1)]).write()
  e.code.when(() => {
    pair()
    e.op('i32.gt_s', [count, e.i32(2)]).write()
    e.code.when(third)
  }, first)
}
