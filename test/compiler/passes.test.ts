import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { activation } from '../../compiler/passes/fuse/activation.js'
import { attention } from '../../compiler/passes/fuse/attention.js'
import { batchNorm } from '../../compiler/passes/fuse/batch-norm.js'
import { composed } from '../../compiler/passes/canonical/composed.js'
import { constantFolding } from '../../compiler/passes/canonical/constant-folding.js'
import { copies } from '../../compiler/passes/canonical/copies.js'
import { deadCode } from '../../compiler/passes/canonical/dead-code.js'
import { elementwise } from '../../compiler/passes/fuse/elementwise.js'
import { functionalize, functionalName } from '../../compiler/passes/canonical/functionalize.js'
import { identities } from '../../compiler/passes/canonical/identities.js'
import { layerNorm } from '../../compiler/passes/fuse/layer-norm.js'
import { linearLayers } from '../../compiler/passes/canonical/linear.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { passesFor } from '../../compiler/passes/pipeline.js'
import { postOps } from '../../compiler/passes/lower/post-ops.js'
import { prepacked } from '../../compiler/passes/canonical/prepacked.js'
import { quantizedInput } from '../../compiler/passes/lower/quantized-input.js'
import { views } from '../../compiler/passes/canonical/views.js'
import { linear_clamp_prepack, conv2d_clamp_prepack } from '../../runtime/backends/cpu/prepacked.js'
import { quantizePerTensor } from '../../runtime/backends/support/quantization.js'
import { conv2d_prepack } from '../../runtime/backends/quantized-cpu/prepack.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { int } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { operators as operatorTable, tensor } from '../../src/index.js'
import { chain, cleaned, HOST, onCanonical, operators, passChecks, random } from './pass-checks.js'

/** A matrix of what `value` gives for each row and column. */
function square<T extends number | boolean>(size: number, value: (row: number, column: number) => T, shape: number[]): Tensor {
  return tensor(
    Array.from({ length: size * size }, (_, i) => value(Math.floor(i / size), i % size)),
    shape,
  )
}

const WEIGHTS: Readonly<Record<string, Tensor>> = {
  conv: random([4, 3, 3, 3]),
  bias: random([4]),
  gamma: random([4]),
  mean: random([4]),
  linear: random([4, 8]),
  matrix: random([1, 8, 4]),
  matrices: random([2, 8, 4]),
  'row of four': random([1, 1, 4]),
  variance: tensor([0.5, 1, 1.5, 2], [4]),
  half: tensor([0.5], []),
  row: random([6]),
  shift: random([6]),
  later: square(9, (row, column) => (column > row ? -3.4e38 : 0), [1, 1, 9, 9]),
  earlier: square(9, (row, column) => column <= row, [9, 9]),
  nothing: square(9, () => 0, [9, 9]),
  window: square(9, (row, column) => (Math.abs(row - column) > 2 ? -Infinity : 0), [9, 9]),
}
const OBJECTS = [
  linear_clamp_prepack(WEIGHTS['linear']!, WEIGHTS['bias']!, null, int(1)),
  conv2d_clamp_prepack(WEIGHTS['conv']!, null, [1, 1], [1, 1], [1, 1], 1, int(0), null),
  conv2d_prepack(quantizePerTensor(WEIGHTS['conv']!, 0.02, 0, DType.qint8), WEIGHTS['bias']!, [1, 1], [1, 1], [1, 1], 1),
]

const { parse, check } = passChecks(WEIGHTS, OBJECTS)

const CONV = `input %0: float32[1, 3, 6, 6] @0
constant %1: float32[4, 3, 3, 3] @1 = "conv"
constant %2: float32[4] @2 = "bias"
%3: float32[1, 4, 6, 6] @3 = aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)
`

t.test('dead code', (t) => {
  check(t, deadCode, 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0)\n%2: float32[4] @2 = aten::sigmoid(%0)\nreturn %1\n', [
    'aten::relu',
  ])
  const written = `input %0: float32[2, 4] @0
%1: float32[2, 4] @1 = aten::clone(%0, None)
%2: float32[4] @1 = aten::select.int(%1, 0, 0)
%3: float32[4] @1 = aten::relu_(%2!)
return %1
`
  check(t, deadCode, written, ['aten::clone', 'aten::select.int', 'aten::relu_'])
  t.end()
})

t.test('functionalize', (t) => {
  const chain = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::sigmoid(%0)\n%2: float32[4] @1 = aten::relu_(%1!)\nreturn %2\n'
  check(t, functionalize, chain, ['aten::sigmoid', 'aten::relu'])
  const seen = chain.replace('return %2', '%3: float32[4] @2 = aten::add.Tensor(%1, %2, 1)\nreturn %3')
  check(t, functionalize, seen, ['aten::sigmoid', 'aten::relu_', 'aten::add.Tensor'])
  t.end()
})

t.test('operators in place that have no functional form', (t) => {
  const inPlace = operatorTable()
    .map(({ name, overload }) => (overload === '' ? name : `${name}.${overload}`))
    .filter((name) => /^aten::\w*[a-z0-9]_(\.|$)/.test(name))
  t.ok(inPlace.length > 250)
  const gaps = [
    // random numbers, whose functional forms draw others or have other arguments
    ...[
      '_no_grad_normal_',
      '_no_grad_uniform_',
      '_sobol_engine_ff_',
      '_sobol_engine_scramble_',
      'bernoulli_.float',
      'normal_',
      'rrelu_with_noise_',
    ],
    // the second argument of the functional form is the first one here
    'polygamma_',
    // copies and fills, which need nothing of what they write to
    ...['_no_grad_fill_', '_no_grad_zero_', 'copy_.Tensor', 'copy_.float', 'copy_.int', 'fill_diagonal_'],
    // views, which are recorded as such, and flags
    ...['transpose_', 'requires_grad_', '_coalesced_', 'set_.source_Tensor_storage_offset', 'sparse_resize_and_clear_'],
    ...['_index_put_impl_.hacked_twin', '_no_grad_embedding_renorm_', 'mul_.t'],
  ]
  t.strictSame(inPlace.filter((name) => functionalName(name) === null).sort(), gaps.map((name) => `aten::${name}`).sort())
  const power = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::exp(%0)\n%2: float32[4] @1 = aten::pow_.Scalar(%1!, 3)\nreturn %2\n'
  check(t, functionalize, power, ['aten::exp', 'aten::pow.Tensor_Scalar'])
  t.end()
})

t.test('redundant copies', (t) => {
  const text = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::clone(%0, None)\n%2: float32[4] @2 = aten::relu(%1)\nreturn %2\n'
  check(t, copies, text, ['aten::relu'])
  t.strictSame(
    operators(copies.run(parse(text.replace('return %2', 'return (%1, %2)')))),
    ['aten::clone', 'aten::relu'],
    'an output stays a tensor of its own',
  )
  t.end()
})

t.test('constant folding', (t) => {
  const text = `input %0: float32[2, 8] @0
constant %1: float32[4, 8] @1 = "linear"
%2: float32[8, 4] strides [1, 8] @1 = aten::t(%1)
%3: float32[8, 4] @2 = aten::sigmoid(%2)
%4: float32[2, 4] @3 = aten::mm(%0, %3)
return %4
`
  t.ok(parse(text))
  check(t, constantFolding, text.replace('[8, 4] @2', '[8, 4] strides [1, 8] @2'), ['aten::mm'])
  t.strictSame(
    operators(constantFolding.run(parse('constant %0: float32[4] @0 = "bias"\n%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n'))),
    ['aten::relu'],
  )
  t.end()
})

t.test('constants that are larger than their sources take only so much memory', (t) => {
  const count = 40
  const lines = Array.from({ length: count }, (_, i) => {
    const [wide, dense, sum] = [100 + 3 * i, 101 + 3 * i, 102 + 3 * i]
    const before = i === 0 ? '%0' : `%${102 + 3 * (i - 1)}`
    return `%${wide}: float32[262144, 4] strides [0, 1] @2 = aten::expand(%2, [262144, 4], False)
%${dense}: float32[262144, 4] @${dense} = aten::contiguous(%${wide}, 0)
%${sum}: float32[262144, 4] @${sum} = aten::add.Tensor(${before}, %${dense}, 1)
`
  })
  const text = `input %0: float32[262144, 4] @0\nconstant %2: float32[4] @2 = "bias"\n${lines.join('')}return %${102 + 3 * (count - 1)}\n`
  const after = constantFolding.run(parse(text))
  verifyGraph(after)
  const made = after.constants.filter((c) => c.derived && c.tensor.storage.byteLength >= 1 << 20)
  const bytes = made.reduce((sum, c) => sum + c.tensor.storage.byteLength, 0)
  t.ok(made.length > 1 && bytes <= 64 << 20, `${made.length} constants of ${bytes} bytes`)
  t.ok(operators(after).includes('aten::contiguous'), 'the others are made in each run')
  for (const c of after.constants) if (c.derived) c.tensor.release()
  t.end()
})

t.test('batch norm', (t) => {
  const norm = `constant %4: float32[4] @4 = "gamma"
constant %5: float32[4] @5 = "mean"
constant %6: float32[4] @6 = "variance"
%7: float32[1, 4, 6, 6] @7 = aten::batch_norm(%3, %4, %2, %5, %6, False, 0.1, 1e-05, True)
return %7
`
  check(t, batchNorm, CONV + norm, ['aten::conv2d'], 1e-6)
  check(t, batchNorm, CONV.replace('%1, %2,', '%1, None,') + norm, ['aten::conv2d'], 1e-6)
  const both = CONV + norm.replace('return %7', '%8: float32[1, 4, 6, 6] @8 = aten::add.Tensor(%3, %7, 1)\nreturn %8')
  check(t, batchNorm, both, ['aten::conv2d', 'aten::batch_norm', 'aten::add.Tensor'])
  t.end()
})

t.test('activation', (t) => {
  for (const [call, at] of [
    ['aten::relu(%3)', '0., inf'],
    ['aten::relu6(%3)', '0., 6.'],
    ['aten::clamp(%3, None, 0.25)', '-inf, 0.25'],
    ['aten::clamp_min(%3, 0.25)', '0.25, inf'],
  ]) {
    const after = check(t, activation, `${CONV}%4: float32[1, 4, 6, 6] @4 = ${call!}\nreturn %4\n`, ['ptlite::convolution'])
    t.match(printGraph(after), `clamp=[${at!}])`)
  }
  const twice = `${CONV}%4: float32[1, 4, 6, 6] @4 = aten::relu(%3)\n%5: float32[1, 4, 6, 6] @5 = aten::clamp(%4, -1, 0.5)\nreturn %5\n`
  check(t, activation, twice, ['ptlite::convolution'])
  const linear =
    'input %0: float32[2, 8] @0\nconstant %1: float32[4, 8] @1 = "linear"\n%2: float32[2, 4] @2 = aten::linear(%0, %1, None)\n%3: float32[2, 4] @3 = aten::relu(%2)\nreturn %3\n'
  // weights that are packed by their second use add in another order
  check(t, activation, linear, ['ptlite::linear'], 1e-6)
  t.end()
})

t.test('element-wise chains', (t) => {
  const text = `input %0: float32[2, 3, 5, 5] @0
input %1: float32[3, 1, 1] @1
%2: float32[2, 3, 5, 5] @2 = aten::add.Tensor(%0, %1, 1)
%3: float32[2, 3, 5, 5] @3 = aten::sigmoid(%2)
%4: float32[2, 3, 5, 5] @4 = aten::mul.Tensor(%0, %3)
%5: float32[2, 3, 5, 5] @5 = aten::clamp(%4, -0.25, 0.5)
return %5
`
  check(t, elementwise, text, ['ptlite::fused'])
  check(t, elementwise, text.replace('input %1: float32[3, 1, 1]', 'input %1: float32[5]'), ['ptlite::fused'])
  check(t, elementwise, text.replaceAll('[2, 3, 5, 5]', '[7, 3, 9, 31]'), ['ptlite::fused'])
  const split = `${text.replace('return %5\n', '')}%6: float32[2, 3, 5, 5] @6 = aten::div.Tensor(%5, %3)\nreturn %6\n`
  check(t, elementwise, split, ['ptlite::fused'])
  t.strictSame(operators(elementwise.run(parse(text.replace('return %5', 'return (%3, %5)')))), ['ptlite::fused', 'ptlite::fused'])
  for (const op of ['relu', 'tanh', 'neg', 'abs', 'square', 'exp', 'sin', 'cos', 'erf', 'silu', 'hardswish', 'hardsigmoid', 'reciprocal']) {
    const chain = `input %0: float32[5, 67] @0\n%1: float32[5, 67] @1 = aten::mul.Scalar(%0, 0.75)\n%2: float32[5, 67] @2 = aten::${op}(%1)\nreturn %2\n`
    check(t, elementwise, chain, ['ptlite::fused'])
  }
  t.end()
})

// all kernels and operands: post-ops.test.ts
t.test('post-ops', (t) => {
  const silu = `${CONV}%4: float32[1, 4, 6, 6] @4 = aten::silu(%3)\n`
  check(t, postOps, `${silu}return %4\n`, ['ptlite::convolution +'])
  // what the product reads must be all that is read
  const square = `${silu}%5: float32[1, 4, 6, 6] @5 = aten::mul.Tensor(%4, %3)\nreturn %5\n`
  check(t, postOps, square, ['aten::conv2d', 'aten::silu', 'aten::mul.Tensor'])
  t.end()
})

t.test('quantized input', (t) => {
  const [image, result] = ['quint8[1, 3, 6, 6] quant 0.05 120', 'quint8[1, 4, 6, 6] strides [144, 1, 24, 4] quant 0.1 90']
  const start = `input %0: float32[1, 3, 6, 6] @0
object #0: xnnpack.LinearOpContext
object #1: xnnpack.Conv2dOpContext
object #2: quantized.Conv2dPackedParamsBase
%1: ${image} @1 = aten::quantize_per_tensor(%0, 0.05, 120, 13)
%2: ${result} @2 = quantized::conv2d_relu.new(%1, #2, 0.1, 90)
`
  const end = '%3: float32[1, 4, 6, 6] strides [144, 1, 24, 4] @3 = aten::dequantize.self(%2)\n'
  const after = check(t, quantizedInput, `${start}${end}return %3\n`, [
    'ptlite::quantize_channels_last',
    'quantized::conv2d_relu.new',
    'aten::dequantize.self',
  ])
  t.strictSame(after.values.get(1)!.type.strides, [108, 1, 18, 3])
  const shown = `${start}%3: float32[1, 3, 6, 6] @3 = aten::dequantize.self(%1)\nreturn %3\n`
  t.equal(quantizedInput.run(parse(shown)).nodes[0]!.op, 'aten::quantize_per_tensor', 'another operator would see the layout')
  t.end()
})

t.test('every pass has a case here', (t) => {
  const names = new Set(passesFor(HOST).map((pass) => pass.name))
  const tested = [activation, attention, batchNorm, constantFolding, copies, deadCode, elementwise, functionalize, identities, layerNorm]
  for (const pass of [...tested, linearLayers, postOps, prepacked, quantizedInput, views]) names.delete(pass.name)
  // have files of their own
  const elsewhere = [
    'block sparse',
    'bottlenecks',
    'byte tables',
    'channel-wise steps',
    'composed operators',
    'idle taps',
    'layout',
    'permuted steps',
    'scaled filters',
    'signals as images',
    'single windows',
    'squeeze and excitation',
    'stacked chains',
  ]
  const ofTransformers = ['canonical', 'rows of linear layers', 'rms norm', 'rotary embedding', 'row-major sums', 'strided operands']
  for (const name of [...elsewhere, ...ofTransformers]) names.delete(name)
  t.strictSame([...names], [])
  t.end()
})

t.test('views', (t) => {
  const text = `input %0: float32[2, 3] @0
%1: float32[3, 2] strides [1, 3] @0 = aten::t(%0)
%2: float32[2, 3] @0 = aten::t(%1)
%3: float32[2, 3] @0 = aten::slice.Tensor(%2, 0, 0, 9223372036854775807, 1)
%4: float32[3, 2] strides [1, 3] @0 = aten::permute(%3, [1, 0])
%5: float32[3, 2] strides [1, 3] @1 = aten::relu(%4)
return %5
`
  check(t, views, text, ['aten::t', 'aten::relu'])
  t.strictSame(
    operators(views.run(parse(text.replace('return %5', 'return (%3, %5)')))),
    ['aten::t', 'aten::slice.Tensor', 'aten::relu'],
    'an output stays a tensor of its own',
  )
  const both = `input %0: float32[2, 3] @0
[%1: float32[3] @0, %2: float32[3] from 3 @0] = aten::unbind.int(%0, 0)
%3: float32[3] @0 = aten::select.int(%0, 0, 0)
%4: float32[3] @1 = aten::mul.Tensor(%1, %3)
%5: float32[3] @2 = aten::add.Tensor(%4, %2, 1)
return %5
`
  check(t, views, both, ['aten::unbind.int', 'aten::mul.Tensor', 'aten::add.Tensor'])
  const written = `input %0: float32[2, 3] @0
%1: float32[2, 3] @1 = aten::clone(%0, None)
%2: float32[2, 3] @1 = aten::view(%1, [2, 3])
%3: float32[2, 3] @1 = aten::relu_(%2!)
%4: float32[2, 3] @2 = aten::neg(%1)
return %4
`
  check(t, views, written, ['aten::clone', 'aten::view', 'aten::relu_', 'aten::neg'])
  t.end()
})

t.test('identities', (t) => {
  check(t, identities, chain('4', ['mul.Scalar(%0, 1)', 'div.Scalar(%1, 1)', 'sub.Scalar(%2, 0, 1)', 'exp(%3)']), ['aten::exp'])
  check(t, identities, chain('4', ['sigmoid(%0)', 'relu(%1)', 'sin(%2)']), ['aten::sigmoid', 'aten::sin'])
  check(t, identities, chain('4', ['mul.Scalar(%0, 2)', 'relu(%1)', 'sin(%2)']), ['aten::mul.Scalar', 'aten::relu', 'aten::sin'])
  check(t, cleaned(identities), chain('4', ['neg(%0)', 'neg(%1)', 'exp(%2)']), ['aten::exp'])
  check(t, identities, chain('4', ['add.Scalar(%0, 0, 1)', 'exp(%1)']), ['aten::exp'])
  const turned = (order: string, last: string): string => `input %0: float32[2, 3, 4] @0
%1: float32[3, 4, 2] strides [4, 1, 12] @0 = aten::permute(%0, [1, 2, 0])
%2: float32[3, 4, 2] @2 = aten::contiguous(%1, 0)
%3: float32[2, 3, 4] strides [1, 8, 2] @2 = aten::permute(%2, [-1, 0, 1])
%4: float32[${last}] @4 = aten::${order}
%5: float32[${last}] @5 = aten::exp(%4)
return %5
`
  check(t, cleaned(identities), turned('contiguous(%3, 0)', '2, 3, 4'), ['aten::exp'])
  const across = turned('contiguous(%6, 0)', '2, 4, 3').replace(
    '%4:',
    '%6: float32[2, 4, 3] strides [1, 2, 8] @2 = aten::permute(%3, [0, 2, 1])\n%4:',
  )
  check(t, cleaned(identities), across, [
    'aten::permute',
    'aten::contiguous',
    'aten::permute',
    'aten::permute',
    'aten::contiguous',
    'aten::exp',
  ])
  const returned = turned('contiguous(%3, 0)', '2, 3, 4').replace('return %5', 'return (%4, %5)')
  t.ok(operators(identities.run(parse(returned))).includes('aten::contiguous'), 'an output stays a tensor of its own')
  const expanded = (call: string): string => `input %0: float32[2, 3, 4] @0
input %1: float32[3, 1] @1
%2: float32[2, 3, 4] strides [0, 1, 0] @1 = aten::expand(%1, [2, 3, 4], False)
%3: float32[2, 3, 4] @3 = aten::${call}
return %3
`
  for (const call of ['mul.Tensor(%0, %2)', 'mul.Tensor(%2, %0)', 'sub.Tensor(%0, %2, 1)', 'maximum(%2, %0)'])
    check(t, cleaned(identities), expanded(call), [`aten::${call.split('(')[0]!}`])
  check(t, cleaned(identities), expanded('contiguous(%2, 0)'), ['aten::expand', 'aten::contiguous'])
  check(t, cleaned(identities), expanded('cat([%2], 0)'), ['aten::expand', 'aten::cat'])
  const scalar = expanded('mul.Tensor(%0, %2)').replace('float32[3, 1] @1', 'float32[] @1').replace('[0, 1, 0]', '[0, 0, 0]')
  check(t, cleaned(identities), scalar, ['aten::expand', 'aten::mul.Tensor'])
  const casts = `input %0: float32[4] @0
%1: float64[4] @1 = aten::to.dtype(%0, 7, False, False, None)
%2: float32[4] @2 = aten::to.dtype(%1, 6, False, False, None)
%3: float32[4] @3 = aten::exp(%2)
return %3
`
  check(t, cleaned(identities), casts, ['aten::exp'])
  const narrow = casts.replace('float64[4] @1 = aten::to.dtype(%0, 7', 'int32[4] @1 = aten::to.dtype(%0, 3')
  check(t, identities, narrow, ['aten::to.dtype', 'aten::to.dtype', 'aten::exp'])
  t.end()
})

t.test('prepacked weights', (t) => {
  const linear = `input %0: float32[2, 8] @0
object #0: xnnpack.LinearOpContext
%1: float32[2, 4] @1 = prepacked::linear_clamp_run(%0, #0)
return %1
`
  t.match(printGraph(check(t, prepacked, linear, ['ptlite::linear'], 1e-6)), 'clamp=[-inf, 1.])')
  check(t, prepacked, linear.replace('[2, 8]', '[2, 8] strides [1, 2]'), ['prepacked::linear_clamp_run'])
  const conv = `input %0: float32[1, 3, 6, 6] @0
object #0: xnnpack.LinearOpContext
object #1: xnnpack.Conv2dOpContext
%1: float32[1, 4, 6, 6] @1 = prepacked::conv2d_clamp_run(%0, #1)
return %1
`
  t.match(printGraph(check(t, prepacked, conv, ['ptlite::convolution'], 1e-6)), 'clamp=[0., inf])')
  t.end()
})

t.test('linear layers', (t) => {
  const constants = `constant %10: float32[4, 8] @10 = "linear"
constant %11: float32[4] @11 = "bias"
%12: float32[8, 4] strides [1, 8] @10 = aten::t(%10)
`
  const run: Pass = { name: linearLayers.name, run: (graph) => linearLayers.run(constantFolding.run(graph)) }
  const text = (calls: string): string => `input %0: float32[3, 8] @0\n${constants}${calls}`
  check(t, run, text('%1: float32[3, 4] @1 = aten::addmm(%11, %0, %12, 1, 1)\nreturn %1\n'), ['aten::linear'], 1e-6)
  check(t, run, text('%1: float32[3, 4] @1 = aten::matmul(%0, %12)\nreturn %1\n'), ['aten::linear'], 1e-6)
  const sum = text('%1: float32[3, 4] @1 = aten::matmul(%0, %12)\n%2: float32[3, 4] @2 = aten::add.Tensor(%1, %11, 1)\nreturn %2\n')
  t.equal(check(t, run, sum, ['aten::linear'], 1e-6).constants.length, 2, 'the weight itself, not a copy')
  check(
    t,
    run,
    sum.replace('return %2', '%3: float32[3, 4] @3 = aten::mul.Tensor(%1, %2)\nreturn %3'),
    ['aten::linear', 'aten::add.Tensor', 'aten::mul.Tensor'],
    1e-6,
  )
  // factors are part of the constants; a bias that is multiplied by 0 is none
  for (const [factors, constants] of [
    ['2, 1', 2],
    ['1, 0.5', 2],
    ['0.25, -2', 2],
    ['0, 1', 1],
  ] as const) {
    const after = check(t, run, text(`%1: float32[3, 4] @1 = aten::addmm(%11, %0, %12, ${factors})\nreturn %1\n`), ['aten::linear'], 1e-6)
    t.equal(after.constants.length, constants, factors)
  }
  const sums: readonly (readonly [string, number])[] = [
    ['add.Tensor(%1, %11, 2)', 1],
    ['add.Tensor(%11, %1, 1)', 1],
    ['add.Tensor(%11, %1, 2)', 2],
    ['add.Tensor(%1, %1, 1)', 2],
  ]
  for (const [call, left] of sums) {
    const calls = `%1: float32[3, 4] @1 = aten::linear(%0, %10, None)\n%2: float32[3, 4] @2 = aten::${call}\nreturn %2\n`
    check(t, run, text(calls), ['aten::linear', 'aten::add.Tensor'].slice(0, left), 1e-6)
  }
  const batches = (call: string): string => `input %0: float32[2, 3, 8] @0
constant %10: float32[1, 8, 4] @10 = "matrix"
constant %11: float32[1, 1, 4] @11 = "row of four"
constant %12: float32[2, 8, 4] @12 = "matrices"
%13: float32[2, 8, 4] strides [0, 4, 1] @10 = aten::expand(%10, [2, 8, 4], False)
%1: float32[2, 3, 4] @1 = aten::${call}
return %1
`
  for (const call of ['matmul(%0, %10)', 'matmul(%0, %13)', 'baddbmm(%11, %0, %13, 0.5, 2)'])
    check(t, run, batches(call), ['aten::linear'], 1e-6)
  check(t, run, batches('matmul(%0, %12)'), ['aten::matmul'])
  const plain = `input %0: float32[3, 4] @0
constant %10: float32[4, 8] @10 = "linear"
%1: float32[3, 8] @1 = aten::matmul(%0, %10)
return %1
`
  check(t, run, plain, ['aten::linear'], 1e-6)
  t.end()
})

t.test('layer norm', (t) => {
  const run = onCanonical(layerNorm, composed)
  const constants = 'constant %20: float32[6] @20 = "row"\nconstant %21: float32[6] @21 = "shift"\n'
  const centred = ['mean.dim(%0, [-1], True, None) : 5, 1', 'sub.Tensor(%0, %1, 1)']
  const variance = ['pow.Tensor_Scalar(%2, 2)', 'mean.dim(%3, [-1], True, None) : 5, 1', 'add.Scalar(%4, 1e-05, 1) : 5, 1']
  const root = ['sqrt(%5) : 5, 1', 'div.Tensor(%2, %6)']
  const affine = ['mul.Tensor(%7, %20)', 'add.Tensor(%8, %21, 1)']
  check(t, run, chain('5, 6', [...centred, ...variance, ...root]), ['aten::layer_norm'], 1e-6)
  const whole = check(t, run, chain('5, 6', [...centred, ...variance, ...root, ...affine], constants), ['aten::layer_norm'], 1e-6)
  t.match(printGraph(whole), '(%0, [6], %20, %21, 0.00001, True)')
  const rsqrt = [
    'mul.Tensor(%2, %2)',
    'mean.dim(%3, [1], True, None) : 5, 1',
    'add.Scalar(%4, 1e-05, 1) : 5, 1',
    'rsqrt(%5) : 5, 1',
    'mul.Tensor(%6, %2)',
  ]
  check(t, run, chain('5, 6', [...centred, ...rsqrt, 'mul.Tensor(%20, %7)'], constants), ['aten::layer_norm'], 1e-6)
  const biased = [
    'var.dim(%0, [-1], False, True) : 5, 1',
    'add.Scalar(%3, 1e-05, 1) : 5, 1',
    'pow.Tensor_Scalar(%4, 0.5) : 5, 1',
    'div.Tensor(%2, %5)',
  ]
  check(t, run, chain('5, 6', [...centred, ...biased]), ['aten::layer_norm'], 1e-6)
  const unbiased = chain('5, 6', [...centred, ...biased]).replace('[-1], False, True', '[-1], True, True')
  t.equal(operators(run.run(parse(unbiased))).length, 6, 'the unbiased variance is another number')
  t.end()
})

t.test('attention', (t) => {
  const run = onCanonical(attention)
  const projected = (heads: string): string => `input %0: float32[2, 37, 3, 3, 8] @0
input %1: float32[${heads}] @1
%2: float32[3, 2, 3, 37, 8] strides [24, 2664, 8, 72, 1] @0 = aten::permute(%0, [2, 0, 3, 1, 4])
[%3: float32[2, 3, 37, 8] strides [2664, 8, 72, 1] @0, %4: float32[2, 3, 37, 8] strides [2664, 8, 72, 1] from 24 @0, %5: float32[2, 3, 37, 8] strides [2664, 8, 72, 1] from 48 @0] = aten::unbind.int(%2, 0)
%6: float32[2, 3, 8, 37] strides [2664, 8, 1, 72] from 24 @0 = aten::transpose.int(%4, -2, -1)
%7: float32[2, 3, 37, 37] @3 = aten::matmul(%3, %6)
`
  const mixed = `%10: float32[2, 3, 37, 8] @10 = aten::matmul(%9, %5)
%11: float32[2, 37, 3, 8] strides [888, 8, 296, 1] @10 = aten::transpose.int(%10, 1, 2)
%12: float32[2, 37, 24] @11 = aten::reshape(%11, [2, 37, 24])
%13: float32[2, 37, 24] @12 = aten::tanh(%12)
`
  const scaled = `%8: float32[2, 3, 37, 37] @4 = aten::mul.Scalar(%7, 0.35)
%9: float32[2, 3, 37, 37] @5 = aten::softmax.int(%8, -1, None)
`
  const views = ['aten::permute', 'aten::unbind.int', 'ptlite::attention', 'aten::permute', 'aten::reshape']
  const whole = check(t, run, `${projected('1')}${scaled}${mixed}return %13\n`, [...views, 'aten::tanh'], 1e-6)
  t.match(printGraph(whole), 'scale=0.35, rowsFirst=True)')
  t.equal(whole.values.get(12)!.storage, whole.values.get(10)!.storage, 'the copy is a view')
  const before = `%14: float32[2, 3, 37, 8] strides [888, 8, 24, 1] @14 = aten::mul.Scalar(%3, 0.5)
%15: float32[2, 3, 37, 8] strides [888, 8, 24, 1] @15 = aten::div.Scalar(%4, 4)
`
  const operandsScaled = `${projected('1')}${scaled}${mixed}return %13\n`
    .replace('%6:', `${before}%6:`)
    .replace('strides [2664, 8, 1, 72] from 24 @0 = aten::transpose.int(%4,', 'strides [888, 8, 1, 24] @15 = aten::transpose.int(%15,')
    .replace('matmul(%3,', 'matmul(%14,')
  const left = ['aten::permute', 'aten::unbind.int', 'aten::div.Scalar', ...views.slice(2), 'aten::tanh']
  t.match(printGraph(check(t, run, operandsScaled, left, 1e-6)), 'attention(query=%3, key=%15, value=%5, scale=0.175', 'of the queries')
  const returned = check(t, run, `${projected('1')}${scaled}${mixed}return %12\n`, views, 1e-6)
  t.match(printGraph(returned), 'scale=0.35)', 'an output has memory of its own')
  for (const shape of ['37, 37', '2, 1, 37, 37', '2, 1, 1, 37', '1']) {
    const mask = `%20: float32[2, 3, 37, 37] @20 = aten::add.Tensor(%7, %1, 1)
%9: float32[2, 3, 37, 37] @5 = aten::softmax.int(%20, 3, None)
`
    const after = check(t, run, `${projected(shape)}${mask}${mixed}return %13\n`, [...views, 'aten::tanh'], 1e-6)
    t.match(printGraph(after), 'mask=%1, scale=1., rowsFirst=True)')
  }
  for (const shape of ['37, 37', '2, 1, 1, 37', '37']) {
    const filled = (fill: string): string => `%21: bool[${shape}] @21 = aten::gt.Scalar(%1, 1)
%22: float32[2, 3, 37, 37] @22 = aten::mul.Scalar(%7, 0.35)
%20: float32[2, 3, 37, 37] @20 = aten::masked_fill.Scalar(%22, %21, ${fill})
%9: float32[2, 3, 37, 37] @5 = aten::softmax.int(%20, 3, None)
`
    const [first, second, ...last] = views
    const left = [first!, second!, 'aten::gt.Scalar', 'aten::masked_fill.Scalar', ...last, 'aten::tanh']
    check(t, run, `${projected(shape)}${filled('-inf')}${mixed}return %13\n`, left, 1e-6)
    const finite = parse(`${projected(shape)}${filled('-1e9')}${mixed}return %13\n`)
    t.notOk(operators(run.run(finite)).includes('ptlite::attention'), 'a row of nothing but -1e9 has a sum')
  }
  const other = `${projected('1')}${scaled.replace('%8, -1', '%8, 2')}${mixed}return %13\n`
  t.notOk(operators(run.run(parse(other))).includes('ptlite::attention'), 'softmax over the queries')
  const batched = `input %0: float32[3, 150, 8] @0
input %1: float32[3, 9, 8] @1
input %2: float32[3, 9, 5] @2
input %3: float32[3, 150, 9] @3
%4: float32[3, 8, 9] strides [72, 1, 8] @1 = aten::transpose.int(%1, 1, 2)
%5: float32[3, 150, 9] @5 = aten::baddbmm(%3, %0, %4, 1, 0.5)
%6: float32[3, 150, 9] @6 = aten::softmax.int(%5, -1, None)
%7: float32[3, 150, 5] @7 = aten::bmm(%6, %2)
%8: float32[150, 3, 5] strides [5, 750, 1] @7 = aten::transpose.int(%7, 0, 1)
%9: float32[150, 3, 5] @9 = aten::clone(%8, 0)
%10: float32[150, 15] @9 = aten::view(%9, [150, 15])
%11: float32[150, 15] @11 = aten::exp(%10)
return %11
`
  check(t, run, batched, ['ptlite::attention', 'aten::permute', 'aten::reshape', 'aten::exp'], 1e-6)
  t.end()
})

t.test('the operator of attention', (t) => {
  const run = onCanonical(attention)
  const operands = (heads: number): string => `input %0: float32[2, 4, 9, 8] @0
input %1: float32[2, ${heads}, 9, 8] @1
input %2: float32[2, ${heads}, 9, 5] @2
`
  const attended = (mask: string, rest = '0., False, None, False'): string =>
    `%9: float32[2, 4, 9, 5] @9 = aten::scaled_dot_product_attention(%0, %1, %2, ${mask}, ${rest})
%10: float32[2, 4, 9, 5] @10 = aten::exp(%9)
return %10
`
  const left = ['ptlite::attention', 'aten::exp']
  const form = (text: string, operators = left): string => {
    const after = check(t, run, text, operators, 1e-6)
    return / attention\(query=%\d+, key=%\d+, value=%\d+, (.*)\)/.exec(printGraph(after))![1]!
  }
  const scale = String(1 / Math.sqrt(8))
  t.equal(form(operands(4) + attended('None')), `scale=${scale}, safe=True`)
  t.equal(form(operands(2) + attended('None', '0., True, 0.5, True')), 'scale=0.5, causal=True, safe=True')
  t.equal(form(`${operands(4)}input %3: float32[1, 9] @3\n${attended('%3')}`), `mask=%3, scale=${scale}, safe=True`)
  const masked = (name: string, shape: string, dtype = 'float32'): string =>
    `${operands(4)}constant %3: ${dtype}[${shape}] @3 = "${name}"\n${attended('%3')}`
  t.equal(form(masked('later', '1, 1, 9, 9')), `scale=${scale}, causal=True, safe=True`, 'a constant that hides what comes later')
  t.equal(form(masked('earlier', '9, 9', 'bool')), `scale=${scale}, causal=True, safe=True`, 'the same as truth values')
  t.equal(form(masked('nothing', '9, 9')), `scale=${scale}, safe=True`, 'a constant that hides nothing')
  t.equal(form(masked('window', '9, 9')), `mask=%3, scale=${scale}, safe=True`, 'anything else')

  const copied = `input %0: float32[2, 4, 9, 8] @0
input %3: float32[2, 2, 9, 8] @3
input %5: float32[2, 2, 9, 5] @5
%4: float32[2, 2, 2, 9, 8] strides [144, 72, 0, 8, 1] @3 = aten::as_strided(%3, [2, 2, 2, 9, 8], [144, 72, 0, 8, 1], None)
%1: float32[2, 4, 9, 8] @1 = aten::reshape(%4, [2, 4, 9, 8])
%6: float32[2, 2, 2, 9, 5] strides [90, 45, 0, 5, 1] @5 = aten::as_strided(%5, [2, 2, 2, 9, 5], [90, 45, 0, 5, 1], None)
%2: float32[2, 4, 9, 5] @2 = aten::reshape(%6, [2, 4, 9, 5])
`
  const views = ['aten::as_strided', 'aten::as_strided', 'aten::select.int', 'aten::select.int']
  t.equal(form(copied + attended('None'), [...views, ...left]), `scale=${scale}, safe=True`, 'copied heads are read where they were')
  const random = parse(operands(4) + attended('None', '0.5, False, None, False'))
  t.equal(run.run(random).nodes.length, 2, 'random dropout stays')
  t.end()
})

t.test('broken graphs are found', (t) => {
  const wrong = (text: string, message: RegExp): void => {
    t.throws(() => parse(text), { message })
  }
  wrong('%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n', /%0 is not defined/)
  wrong('input %0: float32[4] @0\n%0: float32[4] @1 = aten::relu(%0)\nreturn %0\n', /defined twice/)
  wrong('constant %0: float32[4] @0 = "bias"\n%1: float32[4] @0 = aten::relu_(%0!)\nreturn %1\n', /a constant/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0, 1)\nreturn %1\n', /expected 1 arguments/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::nothing(%0)\nreturn %1\n', /no operator/)
  wrong('input %0: float32[4] @0\n', /ends with what it returns/)
  const row = (call: string): string => `input %0: float32[4, 4] @0\n%1: float32[4, 4] @1 = ${call}\nreturn %1\n`
  wrong(row('linear(input=%0)'), /linear needs field weight/)
  wrong(row('linear(input=%0, weight=%0, wieght=%0)'), /linear has no field wieght/)
  wrong(row('linear(input=%0, weight=3)'), /expected a value/)
  wrong(row('linear(input=%0, weight=%0, form="sparse")'), /expected one of "dense"/)
  wrong(row('linear(input=%0, weight=%0, clamp=[0.])'), /a smallest and a largest number/)
  wrong(row('linear(input=%0, weight=%1)'), /used before it is defined/)
  wrong('constant %0: float32[4, 4] @0 = "bias"\nreturn %0\n', /leaves its storage/)
  t.end()
})
