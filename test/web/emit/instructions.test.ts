import t from 'tap'
import { Bytes } from '../../../runtime/native/wasm/emit/bytes.js'
import type { Immediates } from '../../../runtime/native/wasm/emit/code.js'
import { INSTRUCTIONS, type Name } from '../../../runtime/native/wasm/emit/instructions.js'
import { moduleOf } from '../../../runtime/native/wasm/emit/module.js'
import { Values } from '../../../runtime/native/wasm/emit/values.js'
import { engine, instantiate, on } from './run.js'

// Every instruction is executed: a wrong opcode, type or immediate gives another result, or a module that is refused.

type Operand = number | Uint8Array
interface Example extends Immediates {
  readonly takes: readonly Operand[]
  /** Of memory from ADDRESS on where the instruction is a store. */
  readonly gives: Operand
}

const f = (...lanes: number[]): Uint8Array => new Uint8Array(Float32Array.from(lanes).buffer)
const i = (...lanes: number[]): Uint8Array => new Uint8Array(Int32Array.from(lanes).buffer)
const h = (...lanes: number[]): Uint8Array => new Uint8Array(Int16Array.from(lanes).buffer)
const b = (...lanes: number[]): Uint8Array => Uint8Array.from(lanes)
const all = (value: number): Uint8Array => i(value, value, value, value)

/** Where instructions that access memory do it; byte k there is 0x81 + 7 k before. */
const ADDRESS = 1024
const AT = ADDRESS - 3
const byte = (k: number): number => (0x81 + 7 * k) & 0xff
const bytes = (from: number, count: number): number[] => Array.from({ length: count }, (_, k) => byte(from + k))
const zeros = (count: number): number[] => new Array<number>(count).fill(0)
const word = (...four: number[]): number => new Int32Array(Uint8Array.from(four).buffer)[0]!
const float = (...four: number[]): number => new Float32Array(Uint8Array.from(four).buffer)[0]!

const x = f(1.5, -2.5, 3.25, -0)
const y = f(0.5, 4, 3.25, 0)
const nan = f(NaN, 1, NaN, 2)
const m = i(-1, 0, -1, 0)
const p = i(1, -2, 3, 0x7fffffff)
const q = i(5, -2, -7, 1)
const s = h(1, -2, 300, -300, 40_000, 6, 7, 8)
const c = b(1, 2, 127, 128, 255, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)

const EXAMPLES: Readonly<Record<Exclude<Name, `local.${string}` | `${string}.const`>, Example>> = {
  'i32.load': { takes: [AT], offset: 3, gives: word(...bytes(0, 4)) },
  'i32.load16_u': { takes: [AT], offset: 4, gives: word(byte(1), byte(2), 0, 0) },
  'i32.load8_u': { takes: [AT], offset: 300, gives: byte(297) },
  'i32.store': { takes: [AT, 0x12345678], offset: 3, gives: b(0x78, 0x56, 0x34, 0x12, ...bytes(4, 12)) },
  'f32.load': { takes: [AT], offset: 5, gives: float(...bytes(2, 4)) },
  'f32.store': { takes: [ADDRESS, 1.5], gives: b(...f(1.5), ...bytes(4, 12)) },
  'i32.eqz': { takes: [0], gives: 1 },
  'i32.eq': { takes: [7, 7], gives: 1 },
  'i32.lt_s': { takes: [-1, 1], gives: 1 },
  'i32.lt_u': { takes: [-1, 1], gives: 0 },
  'i32.gt_s': { takes: [2, -3], gives: 1 },
  'i32.le_s': { takes: [-3, -3], gives: 1 },
  'i32.ge_s': { takes: [-4, -3], gives: 0 },
  'i32.add': { takes: [0x7fffffff, 2], gives: -0x7fffffff },
  'i32.sub': { takes: [3, 5], gives: -2 },
  'i32.mul': { takes: [-3, 5], gives: -15 },
  'i32.and': { takes: [6, 3], gives: 2 },
  'i32.shl': { takes: [3, 4], gives: 48 },
  'i32.shr_u': { takes: [-1, 28], gives: 15 },
  'v128.load': { takes: [AT], offset: 3, gives: b(...bytes(0, 16)) },
  'v128.load8_splat': { takes: [AT], offset: 4, gives: b(...zeros(16).map(() => byte(1))) },
  'v128.load16_splat': { takes: [AT], offset: 3, gives: b(...zeros(8).flatMap(() => bytes(0, 2))) },
  'v128.load32_splat': { takes: [AT], offset: 3, gives: b(...zeros(4).flatMap(() => bytes(0, 4))) },
  'v128.store': { takes: [AT, c], offset: 3, gives: c },
  'i8x16.shuffle': {
    takes: [c, x],
    bytes: [31, 1, 1, 0, 16, 17, 18, 19, 4, 5, 6, 7, 12, 13, 14, 15],
    gives: b(x[15]!, c[1]!, c[1]!, c[0]!, ...x.slice(0, 4), ...c.slice(4, 8), ...c.slice(12)),
  },
  'i32x4.splat': { takes: [-9], gives: all(-9) },
  'f32x4.splat': { takes: [1.25], gives: f(1.25, 1.25, 1.25, 1.25) },
  'i32x4.extract_lane': { takes: [p], lane: 2, gives: 3 },
  'f32x4.extract_lane': { takes: [x], lane: 1, gives: -2.5 },
  'i32x4.eq': { takes: [p, q], gives: i(0, -1, 0, 0) },
  'i32x4.ne': { takes: [p, q], gives: i(-1, 0, -1, -1) },
  'i32x4.lt_s': { takes: [p, q], gives: i(-1, 0, 0, 0) },
  'i32x4.gt_s': { takes: [p, q], gives: i(0, 0, -1, -1) },
  'f32x4.eq': { takes: [x, y], gives: i(0, 0, -1, -1) },
  'f32x4.ne': { takes: [nan, nan], gives: i(-1, 0, -1, 0) },
  'f32x4.lt': { takes: [x, y], gives: i(0, -1, 0, 0) },
  'f32x4.gt': { takes: [x, y], gives: i(-1, 0, 0, 0) },
  'f32x4.le': { takes: [x, y], gives: i(0, -1, -1, -1) },
  'f32x4.ge': { takes: [x, y], gives: i(-1, 0, -1, -1) },
  'v128.not': { takes: [p], gives: i(~1, 1, ~3, -0x80000000) },
  'v128.and': { takes: [p, q], gives: i(1, -2, 1, 1) },
  'v128.andnot': { takes: [p, q], gives: i(0, 0, 2, 0x7ffffffe) },
  'v128.or': { takes: [p, q], gives: i(5, -2, -5, 0x7fffffff) },
  'v128.xor': { takes: [p, q], gives: i(4, 0, -6, 0x7ffffffe) },
  'v128.bitselect': { takes: [p, q, i(-1, 0, 0xff, 1)], gives: i(1, -2, (-7 & ~0xff) | 3, 1) },
  'v128.any_true': { takes: [i(0, 0, 2, 0)], gives: 1 },
  'v128.load8_lane': { takes: [AT, c], offset: 3, lane: 15, gives: b(...c.slice(0, 15), byte(0)) },
  'v128.load16_lane': { takes: [AT, c], offset: 3, lane: 1, gives: b(...c.slice(0, 2), ...bytes(0, 2), ...c.slice(4)) },
  'v128.load32_lane': { takes: [AT, c], offset: 3, lane: 2, gives: b(...c.slice(0, 8), ...bytes(0, 4), ...c.slice(12)) },
  'v128.load64_lane': { takes: [AT, c], offset: 3, lane: 1, gives: b(...c.slice(0, 8), ...bytes(0, 8)) },
  'v128.store8_lane': { takes: [AT, c], offset: 3, lane: 4, gives: b(255, ...bytes(1, 15)) },
  'v128.store16_lane': { takes: [AT, c], offset: 3, lane: 1, gives: b(127, 128, ...bytes(2, 14)) },
  'v128.store32_lane': { takes: [AT, c], offset: 3, lane: 2, gives: b(9, 10, 11, 12, ...bytes(4, 12)) },
  'v128.store64_lane': { takes: [AT, c], offset: 3, lane: 0, gives: b(...c.slice(0, 8), ...bytes(8, 8)) },
  'v128.load32_zero': { takes: [AT], offset: 3, gives: b(...bytes(0, 4), ...zeros(12)) },
  'v128.load64_zero': { takes: [AT], offset: 3, gives: b(...bytes(0, 8), ...zeros(8)) },
  'i8x16.narrow_i16x8_s': { takes: [s, s], gives: new Uint8Array(Int8Array.of(...twice(1, -2, 127, -128, -128, 6, 7, 8)).buffer) },
  'i8x16.narrow_i16x8_u': { takes: [s, s], gives: b(...twice(1, 0, 255, 0, 0, 6, 7, 8)) },
  'i16x8.narrow_i32x4_s': { takes: [i(1, -2, 70_000, -70_000), q], gives: h(1, -2, 32_767, -32_768, 5, -2, -7, 1) },
  'i16x8.narrow_i32x4_u': { takes: [i(1, -2, 70_000, 65_000), q], gives: h(1, 0, -1, 65_000, 5, 0, 0, 1) },
  'i16x8.extend_low_i8x16_s': { takes: [c], gives: h(1, 2, 127, -128, -1, 6, 7, 8) },
  'i16x8.extend_low_i8x16_u': { takes: [c], gives: h(1, 2, 127, 128, 255, 6, 7, 8) },
  'i32x4.extend_low_i16x8_s': { takes: [s], gives: i(1, -2, 300, -300) },
  'i32x4.extend_low_i16x8_u': { takes: [s], gives: i(1, 65_534, 300, 65_236) },
  'i32x4.extend_high_i16x8_u': { takes: [s], gives: i(40_000, 6, 7, 8) },
  'i32x4.shl': { takes: [p, 4], gives: i(16, -32, 48, -16) },
  'i32x4.shr_s': { takes: [p, 1], gives: i(0, -1, 1, 0x3fffffff) },
  'i32x4.shr_u': { takes: [p, 1], gives: i(0, 0x7fffffff, 1, 0x3fffffff) },
  'i32x4.add': { takes: [p, q], gives: i(6, -4, -4, -0x80000000) },
  'i32x4.sub': { takes: [p, q], gives: i(-4, 0, 10, 0x7ffffffe) },
  'f32x4.nearest': { takes: [x], gives: f(2, -2, 3, -0) },
  'f32x4.abs': { takes: [x], gives: f(1.5, 2.5, 3.25, 0) },
  'f32x4.neg': { takes: [x], gives: f(-1.5, 2.5, -3.25, 0) },
  'f32x4.sqrt': { takes: [f(4, 2, 0.25, 9)], gives: f(2, Math.sqrt(2), 0.5, 3) },
  'f32x4.add': { takes: [x, y], gives: f(2, 1.5, 6.5, 0) },
  'f32x4.sub': { takes: [x, y], gives: f(1, -6.5, 0, -0) },
  'f32x4.mul': { takes: [x, y], gives: f(0.75, -10, 10.5625, -0) },
  'f32x4.div': { takes: [x, f(0.5, 4, 2, 1)], gives: f(3, -0.625, 1.625, -0) },
  // of an operand that is NaN, and of zeros, the first one
  'f32x4.pmin': { takes: [x, f(NaN, -4, 5, 0)], gives: f(1.5, -4, 3.25, -0) },
  'f32x4.pmax': { takes: [x, f(NaN, -4, 5, 0)], gives: f(1.5, -2.5, 5, -0) },
  'i32x4.trunc_sat_f32x4_s': { takes: [f(1.9, -1.9, NaN, 3e9)], gives: i(1, -1, 0, 0x7fffffff) },
  'f32x4.convert_i32x4_s': { takes: [p], gives: f(1, -2, 3, 2 ** 31) },
  // exact, so that one rounding gives what two give
  'f32x4.relaxed_madd': { takes: [x, y, f(1, 2, 3, 4)], gives: f(1.75, -8, 13.5625, 4) },
  'f32x4.relaxed_nmadd': { takes: [x, y, f(1, 2, 3, 4)], gives: f(0.25, 12, -7.5625, 4) },
  'i32x4.relaxed_laneselect': { takes: [p, q, m], gives: i(1, -2, 3, 1) },
}

function twice(...values: number[]): number[] {
  return [...values, ...values]
}

const LOADS = { i32: 'i32.load', f32: 'f32.load', v128: 'v128.load' } as const
const STORES = { i32: 'i32.store', f32: 'f32.store', v128: 'v128.store' } as const

t.test('every instruction, executed', (t) => {
  for (const [key, example] of Object.entries(EXAMPLES)) {
    const name = key as Name
    const { takes, gives } = INSTRUCTIONS[name]
    const e = new Values(['i32'])
    // operands lie 16 bytes apart, and the result behind them
    const operands = takes.map((type, k) => e.op(LOADS[type], [e.parameter(0)], { offset: 16 * k }))
    if (gives === null) e.do(name, operands, example)
    else e.do(STORES[gives], [e.parameter(0), e.op(name, operands, example)], { offset: 256 })
    const { memory, run } = instantiate(e.code)
    const view = new DataView(memory)
    const [start, from] = [64, gives === null ? ADDRESS : 64 + 256]
    new Uint8Array(memory, ADDRESS, 512).set(bytes(0, 512))
    example.takes.forEach((operand, k) => {
      if (typeof operand !== 'number') new Uint8Array(memory, start + 16 * k, 16).set(operand)
      else if (takes[k] === 'f32') view.setFloat32(start + 16 * k, operand, true)
      else view.setInt32(start + 16 * k, operand, true)
    })
    run(start)
    const got =
      typeof example.gives !== 'number'
        ? new Uint8Array(memory, from, 16)
        : gives === 'f32'
          ? view.getFloat32(from, true)
          : view.getInt32(from, true)
    t.same(got, example.gives, name)
  }
  t.end()
})

t.test('constants and locals', (t) => {
  const numbers = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8192, -8193, 0x7fffffff, -0x80000000]
  const e = new Values(['i32'])
  const at = e.parameter(0)
  numbers.forEach((value, k) => e.do('i32.store', [at, e.i32(value)], { offset: 4 * k }))
  const { memory, run } = instantiate(e.code)
  run(0)
  t.same([...new Int32Array(memory, 0, numbers.length)], numbers)

  // more locals than one byte counts, of two types, with constants that are set before the body
  const many = new Values(['i32'])
  const values = Array.from({ length: 200 }, (_, k) =>
    many.keep(k % 2 === 0 ? many.i32(k) : many.op('i32x4.add', [many.bits(k), many.bits(1)])),
  )
  values.forEach((value, k) => many.do(k % 2 === 0 ? 'i32.store' : 'v128.store', [many.parameter(0), value], { offset: 16 * k }))
  many.code.emit('local.get', { index: 0 })
  many.code.emit('f32.const', { value: 1.25 })
  many.code.emit('local.set', { index: many.code.local('f32') })
  many.code.emit('local.tee', { index: 0 })
  many.code.emit('f32.const', { value: -0.5 })
  many.code.emit('f32.store', { offset: 4 })
  const second = instantiate(many.code)
  second.run(0)
  t.same(
    Array.from({ length: 200 }, (_, k) => new Int32Array(second.memory, 16 * k, 1)[0]),
    Array.from({ length: 200 }, (_, k) => (k % 2 === 0 ? k : k + 1)),
  )
  t.equal(new Float32Array(second.memory, 4, 1)[0], -0.5)
  t.end()
})

t.test('locals of a scope are used again, and others stay', (t) => {
  const e = new Values(['i32'])
  const kept = e.keep(e.i32(5))
  let first = -1
  e.code.scoped(() => {
    first = e.keep(e.i32(6)).index
    e.code.scoped(() => t.not(e.keep(e.i32(7)).index, first))
  })
  const again = e.keep(e.i32(8))
  t.equal(again.index, first)
  const vector = e.keep(e.bits(3))
  t.not(vector.index, first)
  e.do('i32.store', [e.parameter(0), kept])
  const { memory, run } = instantiate(e.code)
  run(0)
  t.equal(new Int32Array(memory)[0], 5)
  t.end()
})

t.test('blocks, loops and conditions', (t) => {
  // the sum of odd numbers below the parameter, and -1 where it is negative
  const e = new Values(['i32', 'i32'])
  const [bound, at] = [e.parameter(0), e.parameter(1)]
  const { code } = e
  const sum = e.keep(e.i32(0))
  const k = e.keep(e.i32(0))
  code.block((end) => {
    e.op('i32.lt_s', [bound, e.i32(0)]).write()
    code.when(() => {
      e.set(sum, e.i32(-1))
      code.branch(end)
    })
    code.loop((next) => {
      e.op('i32.ge_s', [k, bound]).write()
      code.branchIf(end)
      e.op('i32.and', [k, e.i32(1)]).write()
      code.when(
        () => e.set(sum, e.op('i32.add', [sum, k])),
        () => e.set(sum, e.op('i32.add', [sum, e.i32(0)])),
      )
      e.set(k, e.op('i32.add', [k, e.i32(1)]))
      code.branch(next)
    })
  })
  e.do('i32.store', [at, sum])
  const { memory, run } = instantiate(code)
  for (const [n, want] of [
    [-5, -1],
    [0, 0],
    [1, 0],
    [10, 25],
  ] as const) {
    run(n, 0)
    t.equal(new Int32Array(memory)[0], want, String(n))
  }
  t.end()
})

t.test('modules for memory with and without threads', (t) => {
  const e = new Values(['i32'])
  e.do('i32.store', [e.parameter(0), e.i32(77)])
  for (const shared of [false, true]) t.ok(engine.validate(moduleOf(e.code, shared)))
  const memory = new engine.Memory({ initial: 1, maximum: 20, shared: true })
  on(memory, e.code, true).run(8)
  t.equal(new Int32Array(memory.buffer)[2], 77)
  t.throws(() => on(memory, e.code, false), 'memory that is shared for a module whose is not')
  t.end()
})

t.test('numbers as the format has them', (t) => {
  const unsigned = (value: number): number[] => [...new Bytes().unsigned(value).finish()]
  const signed = (value: number): number[] => [...new Bytes().signed(value).finish()]
  t.same(unsigned(127), [0x7f])
  t.same(unsigned(128), [0x80, 1])
  t.same(unsigned(0xffffffff), [0xff, 0xff, 0xff, 0xff, 0x0f])
  t.same(signed(63), [0x3f])
  t.same(signed(64), [0xc0, 0])
  t.same(signed(-64), [0x40])
  t.same(signed(-0x80000000), [0x80, 0x80, 0x80, 0x80, 0x78])
  t.same(
    [
      ...new Bytes()
        .name('ab')
        .sized((to) => to.byte(1).byte(2))
        .finish(),
    ],
    [2, 97, 98, 2, 1, 2],
  )
  t.end()
})
