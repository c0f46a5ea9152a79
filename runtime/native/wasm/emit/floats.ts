import { type Local, type Value, Values } from './values.js'

/** Which kernels generated code goes with, so that both give the same bits. */
export interface Level {
  /** Relaxed instructions: products are added with one rounding where the processor can. */
  readonly relaxed: boolean
}

const SIGN = 0x80000000
const MAGNITUDE = 0x7fffffff

/** Arithmetic on vectors of four floats, with the operations of kernels/vec in the same order. */
export class Floats extends Values {
  constructor(
    readonly level: Level,
    parameters: readonly 'i32'[],
  ) {
    super(parameters)
  }

  add = (a: Value, b: Value): Value => this.op('f32x4.add', [a, b])
  sub = (a: Value, b: Value): Value => this.op('f32x4.sub', [a, b])
  mul = (a: Value, b: Value): Value => this.op('f32x4.mul', [a, b])
  div = (a: Value, b: Value): Value => this.op('f32x4.div', [a, b])
  sqrt = (a: Value): Value => this.op('f32x4.sqrt', [a])
  abs = (a: Value): Value => this.op('f32x4.abs', [a])
  neg = (a: Value): Value => this.op('f32x4.neg', [a])
  round = (a: Value): Value => this.op('f32x4.nearest', [a])
  and = (a: Value, b: Value): Value => this.op('v128.and', [a, b])
  andNot = (a: Value, b: Value): Value => this.op('v128.andnot', [a, b])
  or = (a: Value, b: Value): Value => this.op('v128.or', [a, b])
  xor = (a: Value, b: Value): Value => this.op('v128.xor', [a, b])
  less = (a: Value, b: Value): Value => this.op('f32x4.lt', [a, b])
  lessEqual = (a: Value, b: Value): Value => this.op('f32x4.le', [a, b])
  greater = (a: Value, b: Value): Value => this.op('f32x4.gt', [a, b])
  equal = (a: Value, b: Value): Value => this.op('f32x4.eq', [a, b])
  notEqual = (a: Value, b: Value): Value => this.op('f32x4.ne', [a, b])

  addInt = (a: Value, b: Value): Value => this.op('i32x4.add', [a, b])
  subInt = (a: Value, b: Value): Value => this.op('i32x4.sub', [a, b])
  shiftLeft = (a: Value, by: number): Value => this.op('i32x4.shl', [a, this.i32(by)])
  shiftRight = (a: Value, by: number): Value => this.op('i32x4.shr_s', [a, this.i32(by)])
  shiftRightUnsigned = (a: Value, by: number): Value => this.op('i32x4.shr_u', [a, this.i32(by)])
  toInt = (a: Value): Value => this.op('i32x4.trunc_sat_f32x4_s', [a])
  toFloat = (a: Value): Value => this.op('f32x4.convert_i32x4_s', [a])

  /** x, at least `low`; a NaN stays. The same goes for atMost. */
  atLeast = (x: Value, low: number): Value => this.op('f32x4.pmax', [x, this.f32(low)])
  atMost = (x: Value, high: number): Value => this.op('f32x4.pmin', [x, this.f32(high)])

  isNaN(x: Local): Value {
    return this.notEqual(x, x)
  }

  /** Lanes of a where those of the mask are ones, of b where they are zeros. */
  select(mask: Value, a: Value, b: Value): Value {
    return this.op(this.level.relaxed ? 'i32x4.relaxed_laneselect' : 'v128.bitselect', [a, b, mask])
  }

  copySign(a: Value, b: Value): Value {
    return this.or(this.and(a, this.bits(MAGNITUDE)), this.and(b, this.bits(SIGN)))
  }

  /** a b + c, with one rounding where instructions are relaxed and the processor has one for it. */
  multiplyAdd(a: Value, b: Value, c: Value): Value {
    return this.level.relaxed ? this.op('f32x4.relaxed_madd', [a, b, c]) : this.add(this.mul(a, b), c)
  }

  /** c[0] + x c[1] + x^2 c[2] + ... */
  polynomial(x: Local, c: readonly number[]): Value {
    return c.slice(0, -1).reduceRight((sum: Value, v) => this.multiplyAdd(sum, x, this.f32(v)), this.f32(c.at(-1)!))
  }
}
