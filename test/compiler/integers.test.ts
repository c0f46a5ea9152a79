import t, { type Test } from 'tap'
import { GraphRunner } from '../../compiler/graph/execute.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { integers } from '../../compiler/passes/canonical/integers.js'
import { Tensor, tensor } from '../../src/index.js'
import { operators, passChecks, random } from './pass-checks.js'

/** Each layer between dequantize and quantize on integers: within one step of what floats give. */

const bytes = (shape: number[]): Tensor => {
  const n = shape.reduce((a, b) => a * b, 1)
  return Tensor.fromStorage(
    Int8Array.from({ length: n }, (_, i) => ((i * 37) % 255) - 127),
    { dtype: 'int8', shape },
  )
}
const scales = (n: number): Tensor =>
  tensor(
    Array.from({ length: n }, (_, i) => 0.002 + 0.001 * i),
    [n],
  )
const { parse } = passChecks({
  filter: bytes([4, 3, 3, 3]),
  matrix: bytes([4, 6]),
  scales: scales(4),
  bias: tensor([0.3, -0.2, 0.1, 0], [4]),
})

const WEIGHTS = `constant %10: int8[4, 3, 3, 3] @10 = "filter"
constant %11: int8[4, 6] @11 = "matrix"
constant %12: float32[4] @12 = "scales"
constant %13: float32[4] @13 = "bias"
`
const Q = 'quantized_decomposed::'

interface Kind {
  /** Of the plain integers: uint8 or int8. */
  readonly dtype: 'uint8' | 'int8'
  readonly code: number
  readonly min: number
  readonly max: number
}

const UINT8: Kind = { dtype: 'uint8', code: 0, min: 0, max: 255 }
const INT8: Kind = { dtype: 'int8', code: 1, min: -128, max: 127 }
const NARROW: Kind = { dtype: 'uint8', code: 0, min: 0, max: 127 }

/** A graph from floats of one shape to integers of another, by operators on what is quantized. */
function graphOf(kind: Kind, shape: string, to: string, lines: string): string {
  const zero = kind.min + 60
  const pair = (scale: number, z: number): string => `${scale}, ${z}, ${kind.min}, ${kind.max}, ${kind.code}`
  return `input %0: float32[${shape}] @0
${WEIGHTS}%1: ${kind.dtype}[${shape}] @1 = ${Q}quantize_per_tensor(%0, ${pair(0.02, zero)})
%2: float32[${shape}] @2 = ${Q}dequantize_per_tensor(%1, ${pair(0.02, zero)}, None)
%3: float32[4, 3, 3, 3] @3 = ${Q}dequantize_per_channel(%10, %12, None, 0, -127, 127, 1, None)
%4: float32[4, 6] @4 = ${Q}dequantize_per_channel(%11, %12, None, 0, -127, 127, 1, None)
${lines}
%30: ${kind.dtype}[${to}] @30 = ${Q}quantize_per_tensor(%29, ${pair(0.05, zero)})
return %30
`
}

function check(t: Test, kind: Kind, shape: string, to: string, lines: string, wanted: readonly string[]): void {
  const before = parse(graphOf(kind, shape, to, lines))
  const after = integers.run(before)
  verifyGraph(after)
  const found = operators(after)
  for (const op of wanted) t.ok(found.includes(op), `${op} in ${printGraph(after)}`)
  t.notOk(
    found.some((op) => ['aten::conv2d', 'aten::linear', 'aten::add.Tensor', 'aten::mul.Tensor'].includes(op)),
    'no floats',
  )
  const x = random(shape.split(', ').map(Number))
  const [a, b] = [before, after].map((graph) => (new GraphRunner(graph).run([x], true) as Tensor).data() as Int8Array)
  const most = a!.reduce((most, q, i) => Math.max(most, Math.abs(q - b![i]!)), 0)
  t.ok(most <= 1, `off by ${most} steps`)
}

const IMAGE = '2, 3, 8, 8'
const FILTERED = '2, 4, 8, 8'
const CONV = `%20: float32[${FILTERED}] @20 = aten::conv2d(%2, %3, %13, [1, 1], [1, 1], [1, 1], 1)`

for (const [name, kind] of Object.entries({ uint8: UINT8, int8: INT8, narrow: NARROW })) {
  t.test(`${name}: a convolution and what is behind it`, (t) => {
    const conv = 'quantized::conv2d.new'
    check(t, kind, IMAGE, FILTERED, CONV.replace(/20/g, '29'), [conv])
    check(t, kind, IMAGE, FILTERED, `${CONV}\n%29: float32[${FILTERED}] @29 = aten::relu(%20)`, ['quantized::conv2d_relu.new'])
    check(t, kind, IMAGE, FILTERED, `${CONV}\n%29: float32[${FILTERED}] @29 = aten::clamp(%20, -0.5, 1.5)`, [conv, 'aten::clamp'])
    check(t, kind, IMAGE, '2, 4, 64', `${CONV}\n%29: float32[2, 4, 64] @20 = aten::reshape(%20, [2, 4, 64])`, [conv, 'aten::reshape'])
    t.end()
  })

  t.test(`${name}: linear layers, sums and products`, (t) => {
    const turned = '%5: float32[6, 4] strides [1, 6] @4 = aten::permute(%4, [1, 0])'
    const linear = 'quantized::linear'
    check(t, kind, '5, 6', '5, 4', '%29: float32[5, 4] @29 = aten::linear(%2, %4, %13)', [linear])
    check(t, kind, '5, 6', '5, 4', `${turned}\n%29: float32[5, 4] @29 = aten::addmm(%13, %2, %5, 1, 1)`, [linear])
    check(t, kind, '5, 6', '5, 4', `${turned}\n%29: float32[5, 4] @29 = aten::matmul(%2, %5)`, [linear])
    check(t, kind, '5, 6', '5, 6', '%29: float32[5, 6] @29 = aten::add.Tensor(%2, %2, 1)', ['quantized::add'])
    check(t, kind, '5, 6', '5, 6', '%29: float32[5, 6] @29 = aten::mul.Tensor(%2, %2)', ['quantized::mul'])
    t.end()
  })
}

t.test('what is read otherwise stays', (t) => {
  const text = graphOf(INT8, IMAGE, FILTERED, CONV.replace(/20/g, '29')).replace('return %30', 'return (%1, %2, %30)')
  const before = parse(text)
  const after = integers.run(before)
  verifyGraph(after)
  const x = random([2, 3, 8, 8])
  const [a, b] = [before, after].map((graph) => (new GraphRunner(graph).run([x], true) as unknown as { items: Tensor[] }).items)
  for (const i of [0, 1]) t.strictSame(b![i]!.data(), a![i]!.data())
  t.end()
})

t.test('other graphs are handed back', (t) => {
  const graph = parse('input %0: float32[2] @0\n%1: float32[2] @1 = aten::relu(%0)\nreturn %1\n')
  t.equal(integers.run(graph), graph)
  t.end()
})
