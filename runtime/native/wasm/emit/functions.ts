import { FUNCTIONS, NUMBERS, OPS, SERIES } from '../../generated/functions.js'
import type { Floats } from './floats.js'
import type { Local, Value } from './values.js'

/** A function of codegen/functions.yaml. */
export type FunctionName = keyof typeof FUNCTIONS

type Op = (typeof OPS)[number]
type Operation = (e: Floats, a: Value, b: Value, c: Value) => Value

const keep = (e: Floats, value: Value): Local => ('index' in value ? (value as Local) : e.keep(value))

/** a 2^n, in two steps so that neither power leaves the range. n: integers as integers. */
function scaleBy(e: Floats, a: Value, n: Local): Value {
  const half = e.keep(e.shiftRight(n, 1))
  const power = (exponent: Value): Value => e.shiftLeft(e.addInt(exponent, e.bits(127)), 23)
  return e.mul(e.mul(a, power(half)), power(e.subInt(n, half)))
}

/** a a - square, where `square` is a a rounded */
function squareRest(e: Floats, a: Local, square: Local): Value {
  // halves of 12 bits, whose products are exact
  const high = e.keep(e.and(a, e.bits(~0xfff)))
  const low = e.keep(e.sub(a, high))
  const middle = e.mul(e.mul(e.f32(2), high), low)
  return e.add(e.add(e.sub(e.mul(high, high), square), middle), e.mul(low, low))
}

/** All that depend on nothing but their operands. */
const OPERATIONS: Readonly<Record<Exclude<Op, 'series' | 'scale' | 'select' | 'shift_left' | 'shift_right'>, Operation>> = {
  add: (e, a, b) => e.add(a, b),
  sub: (e, a, b) => e.sub(a, b),
  mul: (e, a, b) => e.mul(a, b),
  div: (e, a, b) => e.div(a, b),
  neg: (e, a) => e.neg(a),
  abs: (e, a) => e.abs(a),
  sqrt: (e, a) => e.sqrt(a),
  fma: (e, a, b, c) => e.multiplyAdd(a, b, c),
  fms: (e, a, b, c) => e.multiplyAdd(a, b, e.neg(c)),
  fnma: (e, a, b, c) => e.multiplyAdd(e.neg(a), b, c),
  minus_product: (e, a, b, c) => e.sub(a, e.mul(b, c)),
  square_rest: (e, a, b) => squareRest(e, keep(e, a), keep(e, b)),
  round: (e, a) => e.round(a),
  at_least: (e, a, b) => e.op('f32x4.pmax', [a, b]),
  at_most: (e, a, b) => e.op('f32x4.pmin', [a, b]),
  less: (e, a, b) => e.less(a, b),
  greater: (e, a, b) => e.greater(a, b),
  equal: (e, a, b) => e.equal(a, b),
  is_nan: (e, a) => e.isNaN(keep(e, a)),
  copysign: (e, a, b) => e.copySign(a, b),
  int_sub: (e, a, b) => e.subInt(a, b),
  to_float: (e, a) => e.toFloat(a),
}

/** f(x): values that are read more than once are kept, others are part of the expression that reads them. */
export function functionOf(e: Floats, name: FunctionName, x: Local, alpha = 0, beta = 0): Value {
  const steps = FUNCTIONS[name]
  const reads = new Map<number, number>()
  steps.forEach((operand, i) => {
    if (i % 4 > 0 && operand > 0) reads.set(operand, (reads.get(operand) ?? 0) + 1)
  })
  const values: Value[] = [x]
  const numbers = [alpha, beta, ...NUMBERS]
  const whole = new Map<number, Local>()
  const of = (operand: number): Value => (operand < 0 ? e.f32(numbers[-1 - operand]!) : values[operand]!)
  const step = (op: Op, a: number, b: number, c: number): Value => {
    switch (op) {
      case 'series':
        return e.polynomial(keep(e, of(a)), SERIES.slice(b, b + c))
      case 'scale': {
        const n = whole.get(b) ?? e.keep(e.toInt(of(b)))
        whole.set(b, n)
        return scaleBy(e, of(a), n)
      }
      case 'select':
        return numbers[-1 - c] === 0 ? e.and(of(a), of(b)) : e.select(of(a), of(b), of(c))
      case 'shift_left':
        return e.shiftLeft(of(a), b)
      case 'shift_right':
        return e.shiftRight(of(a), b)
      default:
        return OPERATIONS[op](e, of(a), of(b), of(c))
    }
  }
  for (let i = 0; i < steps.length; i += 4) {
    const value = step(OPS[steps[i]!]!, steps[i + 1]!, steps[i + 2]!, steps[i + 3]!)
    values.push((reads.get(values.length) ?? 0) > 1 ? e.keep(value) : value)
  }
  return values.at(-1)!
}
