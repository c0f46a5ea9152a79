import t from 'tap'
import { weightOnly } from '../../compiler/passes/canonical/weight-only.js'
import { type Tensor, tensor } from '../../src/index.js'
import { printGraph } from '../../compiler/graph/print.js'
import { cleaned, operators, passChecks, random } from './pass-checks.js'

const integers = (rows: number, columns: number, most: number): Tensor =>
  tensor(
    Int8Array.from({ length: rows * columns }, (_, i) => ((i * 37) % (2 * most)) - most),
    [rows, columns],
  )
const numbers = (n: number): Tensor => tensor(Float32Array.from({ length: n }, (_, i) => 0.01 + (i % 7) * 0.003))
const zeros = (n: number, every = 0): Tensor => tensor(Int8Array.from({ length: n }, (_, i) => (every === 0 ? 0 : (i % every) - 1)))

/** Scales and a bias. */
function ofSixteenBits(dtype: 'bfloat16' | 'float16'): Readonly<Record<string, Tensor>> {
  const named = { rows: numbers(16), groups: numbers(32), 'large rows': tensor(new Float32Array(16).fill(512)), bias: random([16]) }
  return Object.fromEntries(Object.entries(named).map(([name, numbers]) => [`${name} of ${dtype}`, numbers.to(dtype)]))
}

const { check, parse } = passChecks({
  bytes: integers(16, 64, 128),
  halves: integers(16, 64, 8),
  narrow: integers(12, 64, 8),
  rows: numbers(16),
  groups: numbers(32),
  'groups of narrow': numbers(24),
  'small groups': numbers(64),
  'zeros of rows': zeros(16, 5),
  'large zeros': tensor(new Int32Array(32).fill(128), [32]),
  'no zeros': zeros(16),
  zeros: zeros(32, 3),
  bias: random([16]),
  ...ofSixteenBits('bfloat16'),
  ...ofSixteenBits('float16'),
})
const pass = cleaned(weightOnly)

/** A layer on a dequantized weight. */
function layer(weight: string, n: number, scales: string, zero: string, group: number, input = '3, 64', bias = false): string {
  const count = (n * 64) / group
  const out = `${input.slice(0, input.lastIndexOf(','))}, ${n}`
  return `input %0: float32[${input}] @0
constant %1: int8[${n}, 64] @1 = "${weight}"
constant %2: float32[${count}] @2 = "${scales}"
${zero === '' ? '' : `constant %3: int8[${count}] @3 = "${zero}"\n`}${bias ? 'constant %4: float32[16] @4 = "bias"\n' : ''}%5: float32[${n}, 64] @5 = torchao::dequantize_affine(%1, [1, ${group}], %2, ${zero === '' ? 'None' : '%3'}, 1, None, None, 6, "INT")
%6: float32[${out}] @6 = aten::linear(%0, %5, ${bias ? '%4' : 'None'})
return %6
`
}

const LAYER = ['ptlite::integer_linear']
const AS_IT_IS = ['torchao::dequantize_affine', 'aten::linear']

t.test('weights of 8 bits with a scale for each row', (t) => {
  check(t, pass, layer('bytes', 16, 'rows', '', 64), LAYER, 1e-6)
  check(t, pass, layer('bytes', 16, 'rows', 'no zeros', 64, '3, 64', true), LAYER, 1e-6)
  check(t, pass, layer('bytes', 16, 'rows', 'zeros of rows', 64, '2, 3, 64', true), LAYER, 1e-6)
  const converted = `input %0: float32[3, 64] @0
constant %1: int8[16, 64] @1 = "bytes"
%2: int8[64, 16] strides [1, 64] @1 = aten::t(%1)
%3: float32[64, 16] strides [1, 64] @2 = aten::to.dtype(%2, 6, False, False, None)
%4: float32[3, 16] @3 = aten::mm(%0, %3)
return %4
`
  check(t, pass, converted, LAYER, 1e-6)
  t.end()
})

t.test('weights with a scale for each group', (t) => {
  const formatOf = (text: string): string | undefined => /weight=\(%\d+, "(\w+)"/.exec(printGraph(check(t, pass, text, LAYER, 1e-6)))?.[1]
  t.equal(formatOf(layer('halves', 16, 'groups', '', 32)), 'i4')
  t.equal(formatOf(layer('halves', 16, 'groups', 'zeros', 32, '3, 64', true)), 'i4')
  t.equal(formatOf(layer('narrow', 12, 'groups of narrow', '', 32)), 'i4')
  t.equal(formatOf(layer('bytes', 16, 'groups', '', 32)), 'i8')
  t.equal(formatOf(layer('bytes', 16, 'groups', 'zeros', 32, '2, 3, 64', true)), 'i8')
  t.end()
})

/** The same in 16 bits, with a result that is widened. */
function narrowLayer(dtype: 'bfloat16' | 'float16', weight: string, scales: string, zero: string, group: number, input = '3, 64'): string {
  const code = dtype === 'bfloat16' ? 15 : 5
  const count = (16 * 64) / group
  const out = `${input.slice(0, input.lastIndexOf(','))}, 16`
  return `input %0: ${dtype}[${input}] @0
constant %1: int8[16, 64] @1 = "${weight}"
constant %2: ${dtype}[${count}] @2 = "${scales} of ${dtype}"
${zero === '' ? '' : `constant %3: int8[${count}] @3 = "${zero}"\n`}constant %4: ${dtype}[16] @4 = "bias of ${dtype}"
%5: ${dtype}[16, 64] @5 = torchao::dequantize_affine(%1, [1, ${group}], %2, ${zero === '' ? 'None' : '%3'}, 1, None, None, ${code}, "INT")
%6: ${dtype}[${out}] @6 = aten::linear(%0, %5, %4)
%7: float32[${out}] @7 = aten::to.dtype(%6, 6, False, False, None)
return %7
`
}

t.test('weights of layers in 16 bits', (t) => {
  const cast = 'aten::to.dtype'
  for (const [dtype, bound] of [
    // rounding of a weight and of a result
    ['bfloat16', 2 ** -7],
    ['float16', 2 ** -10],
  ] as const) {
    const formatOf = (text: string): string | undefined =>
      /weight=\(%\d+, "(\w+)"/.exec(printGraph(check(t, pass, text, [cast, cast, ...LAYER, cast, cast], bound)))?.[1]
    t.equal(formatOf(narrowLayer(dtype, 'bytes', 'rows', '', 64)), 'i8')
    t.equal(formatOf(narrowLayer(dtype, 'bytes', 'rows', 'zeros of rows', 64, '2, 3, 64')), 'i8')
    t.equal(formatOf(narrowLayer(dtype, 'bytes', 'groups', 'zeros', 32)), 'i8')
    t.equal(formatOf(narrowLayer(dtype, 'halves', 'groups', '', 32)), 'i4')
    t.equal(formatOf(narrowLayer(dtype, 'halves', 'groups', 'zeros', 32, '1, 1, 64')), 'i4')
    const many = parse(narrowLayer(dtype, 'bytes', 'rows', '', 64, '17, 64'))
    t.equal(weightOnly.run(many), many)
  }
  // numbers that float16 has no room for
  t.equal(operators(pass.run(parse(narrowLayer('float16', 'bytes', 'large rows', '', 64)))).includes(LAYER[0]!), false)
  t.ok(operators(pass.run(parse(narrowLayer('bfloat16', 'bytes', 'large rows', '', 64)))).includes(LAYER[0]!))
  t.end()
})

t.test('what no kernel reads', (t) => {
  check(t, pass, layer('bytes', 16, 'small groups', '', 16), AS_IT_IS)
  check(t, pass, layer('bytes', 16, 'groups', 'large zeros', 32).replace('int8[32] @3', 'int32[32] @3'), AS_IT_IS)
  t.end()
})

t.test('many rows are multiplied with floats', (t) => {
  const graph = parse(layer('bytes', 16, 'rows', '', 64, '17, 64'))
  t.equal(weightOnly.run(graph), graph)
  t.end()
})
