import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { canonical } from '../../compiler/passes/canonical/canonical.js'
import { composed } from '../../compiler/passes/canonical/composed.js'
import { linearRows } from '../../compiler/passes/canonical/linear-rows.js'
import { rmsNorm } from '../../compiler/passes/fuse/rms-norm.js'
import { rotary } from '../../compiler/passes/fuse/rotary.js'
import { rowMajor } from '../../compiler/passes/canonical/row-major.js'
import { stridedOperands } from '../../compiler/passes/lower/strided-operands.js'
import { tensor } from '../../src/index.js'
import { chain, cleaned, onCanonical, passChecks, random } from './pass-checks.js'

const { parse, check } = passChecks({
  row: random([6]),
  matrix: random([4, 6]),
  square: random([4, 4]),
  'eps of no dimensions': tensor([1e-5], [], 'float64'),
})

t.test('rms norm', (t) => {
  const run = onCanonical(rmsNorm, composed)
  const weight = 'constant %20: float32[6] @20 = "row"\n'
  const eps = 'constant %21: float64[] @21 = "eps of no dimensions"\n'
  const spread = ['mean.dim(%1, [-1], True, None) : 5, 1', 'add.Scalar(%2, 1e-05, 1) : 5, 1']
  const squares = ['pow.Tensor_Scalar(%0, 2)', 'pow.Tensor_Scalar(%0, 2.)', 'mul.Tensor(%0, %0)', 'square(%0)']
  for (const square of squares) {
    const after = check(t, run, chain('5, 6', [square, ...spread, 'rsqrt(%3) : 5, 1', 'mul.Tensor(%0, %4)']), ['aten::rms_norm'], 1e-6)
    t.match(printGraph(after), '(%0, [6], None, 0.00001)')
  }
  const roots: string[][] = [
    ['rsqrt(%3) : 5, 1', 'mul.Tensor(%4, %0)'],
    ['sqrt(%3) : 5, 1', 'div.Tensor(%0, %4)'],
    ['pow.Tensor_Scalar(%3, 0.5) : 5, 1', 'div.Tensor(%0, %4)'],
    ['pow.Tensor_Scalar(%3, -0.5) : 5, 1', 'mul.Tensor(%0, %4)'],
    ['sqrt(%3) : 5, 1', 'reciprocal(%4) : 5, 1', 'mul.Tensor(%0, %5)'],
  ]
  for (const root of roots) {
    check(t, run, chain('5, 6', [squares[0]!, ...spread, ...root]), ['aten::rms_norm'], 1e-6)
    const last = `%${3 + root.length}`
    for (const product of [`mul.Tensor(${last}, %20)`, `mul.Tensor(%20, ${last})`]) {
      const after = check(t, run, chain('5, 6', [squares[0]!, ...spread, ...root, product], weight), ['aten::rms_norm'], 1e-6)
      t.match(printGraph(after), '(%0, [6], %20, 0.00001)')
    }
  }
  const rsqrt = roots[0]!
  const added = chain('5, 6', [squares[0]!, spread[0]!, 'add.Tensor(%2, %21, 1) : 5, 1', ...rsqrt], eps)
  check(t, run, added, ['aten::rms_norm'], 1e-6)
  const summed = ['sum.dim_IntList(%1, [-1], True, None) : 5, 1', 'div.Scalar(%2, 6) : 5, 1', 'add.Scalar(%3, 0.1, 1) : 5, 1']
  check(t, run, chain('5, 6', [squares[0]!, ...summed, 'rsqrt(%4) : 5, 1', 'mul.Tensor(%5, %0)']), ['aten::rms_norm'], 1e-6)
  const both = ['mean.dim(%1, [1, 2], True, None) : 5, 1, 1', 'add.Scalar(%2, 1, 1) : 5, 1, 1', 'rsqrt(%3) : 5, 1, 1', 'mul.Tensor(%0, %4)']
  t.match(printGraph(check(t, run, chain('5, 2, 3', [squares[0]!, ...both]), ['aten::rms_norm'], 1e-6)), '(%0, [2, 3], None, 1.)')
  // a scaled input is squared as it is
  const scaled = [
    'mul.Scalar(%0, 3.)',
    'pow.Tensor_Scalar(%1, 2)',
    'mean.dim(%2, [-1], True, None) : 5, 1',
    'add.Scalar(%3, 1e-05, 1) : 5, 1',
  ]
  check(t, run, chain('5, 6', [...scaled, 'rsqrt(%4) : 5, 1', 'mul.Tensor(%1, %5)']), ['aten::mul.Scalar', 'aten::rms_norm'], 1e-6)
  t.end()
})

t.test('rms norm of heads', (t) => {
  const heads = 'float32[2, 3, 5, 6] strides [90, 6, 18, 1]'
  const text = `input %0: float32[2, 5, 24] @0
constant %20: float32[6] @20 = "row"
%1: float32[2, 5, 18] strides [120, 24, 1] @0 = aten::slice.Tensor(%0, 2, 0, 18, 1)
%2: float32[2, 5, 3, 6] strides [120, 24, 6, 1] @0 = aten::reshape(%1, [2, 5, 3, 6])
%3: float32[2, 3, 5, 6] strides [120, 6, 24, 1] @0 = aten::transpose.int(%2, 1, 2)
%4: ${heads} @4 = aten::square(%3)
%5: float32[2, 3, 5, 1] @5 = aten::mean.dim(%4, [-1], True, None)
%6: float32[2, 3, 5, 1] @6 = aten::add.Scalar(%5, 0.1, 1)
%7: float32[2, 3, 5, 1] @7 = aten::rsqrt(%6)
%8: ${heads} @8 = aten::mul.Tensor(%3, %7)
%9: ${heads} @9 = aten::mul.Tensor(%20, %8)
%10: ${heads} @10 = aten::exp(%9)
return %10
`
  const views = ['aten::slice.Tensor', 'aten::reshape', 'aten::transpose.int', 'aten::permute']
  const all = [...views, 'aten::rms_norm', 'aten::permute', 'aten::exp']
  const after = check(t, cleaned(rmsNorm), text, all, 1e-6)
  t.match(printGraph(after), 'float32[2, 5, 3, 6] strides [120, 24, 6, 1] @0 = aten::permute(%3, [0, 2, 1, 3])', 'read where it lies')
  t.match(printGraph(after), '[6], %20, 0.1)')
  const returned = parse(text.replace('return %10', 'return %9'))
  t.equal(rmsNorm.run(returned), returned, 'an output')
  t.end()
})

t.test('what is no rms norm stays', (t) => {
  const stays = (calls: string[], why: string, constants = ''): void => {
    const graph = canonical.run(parse(chain('5, 6', calls, constants)))
    t.equal(rmsNorm.run(graph), graph, why)
  }
  const whole = [
    'pow.Tensor_Scalar(%0, 2)',
    'mean.dim(%1, [-1], True, None) : 5, 1',
    'add.Scalar(%2, 1e-05, 1) : 5, 1',
    'rsqrt(%3) : 5, 1',
    'mul.Tensor(%0, %4)',
  ]
  const but = (index: number, call: string): string[] => whole.map((given, i) => (i === index ? call : given))
  stays(but(0, 'pow.Tensor_Scalar(%0, 3)'), 'cubes')
  stays(
    but(1, 'mean.dim(%1, [0], True, None) : 1, 6').map((call) => call.replace(': 5, 1', ': 1, 6')),
    'another dimension',
  )
  stays(but(1, 'sum.dim_IntList(%1, [-1], True, None) : 5, 1'), 'a sum')
  stays(but(3, 'sqrt(%3) : 5, 1'), 'the root as a factor')
  stays([...whole.slice(0, 4), 'exp(%0)', 'mul.Tensor(%5, %4)'], 'what was squared is not what is divided')
  const weighted = chain(
    '5, 6',
    [...whole, 'mul.Tensor(%5, %20)', 'exp(%5)', 'add.Tensor(%6, %7, 1)'],
    'constant %20: float32[6] @20 = "row"\n',
  )
  const after = check(
    t,
    onCanonical(rmsNorm, composed),
    weighted,
    ['aten::rms_norm', 'aten::mul.Tensor', 'aten::exp', 'aten::add.Tensor'],
    1e-6,
  )
  t.match(printGraph(after), '(%0, [6], None,', 'a weight that is not all that reads the norm stays a product')
  t.end()
})

const HEADS = 'float32[2, 3, 5, 8] strides [120, 8, 24, 1]'
const TABLES = `input %0: float32[2, 5, 24] @0
input %1: float32[5, 8] @1
input %2: float32[2, 1, 5, 8] @2
%3: float32[2, 5, 3, 8] @0 = aten::reshape(%0, [2, 5, 3, 8])
%4: ${HEADS} @0 = aten::transpose.int(%3, 1, 2)
`
const part = (from: number, step: number, width = 4): string =>
  `float32[2, 3, 5, ${width}] strides [120, 8, 24, ${step}]${from === 0 ? '' : ` from ${from}`} @0`
const VIEWS = ['aten::reshape', 'aten::transpose.int']

t.test('rotary embedding of whole rows', (t) => {
  const halves = `%5: ${part(4, 1)} = aten::slice.Tensor(%4, 3, 4, 9223372036854775807, 1)
%6: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @6 = aten::neg(%5)
%7: ${part(0, 1)} = aten::slice.Tensor(%4, 3, 0, 4, 1)
%8: float32[2, 3, 5, 8] @8 = aten::cat([%6, %7], -1)
`
  const neighbours = `%5: ${part(1, 2)} = aten::slice.Tensor(%4, 3, 1, 9223372036854775807, 2)
%6: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @6 = aten::neg(%5)
%7: ${part(0, 2)} = aten::slice.Tensor(%4, 3, 0, 9223372036854775807, 2)
%18: float32[2, 3, 5, 4, 2] @18 = aten::stack([%6, %7], -1)
%8: float32[2, 3, 5, 8] @18 = aten::reshape(%18, [2, 3, 5, 8])
`
  const sums = [
    ['mul.Tensor(%4, %1)', 'mul.Tensor(%8, %2)', 'add.Tensor(%9, %10, 1)'],
    ['mul.Tensor(%1, %4)', 'mul.Tensor(%2, %8)', 'add.Tensor(%10, %9, 1)'],
  ]
  for (const [exchanged, interleaved] of [
    [halves, 'False'],
    [neighbours, 'True'],
  ] as const) {
    for (const [cosines, sines, sum] of sums) {
      const text = `${TABLES}${exchanged}%9: ${HEADS} @9 = aten::${cosines!}
%10: float32[2, 3, 5, 8] @10 = aten::${sines!}
%11: float32[2, 3, 5, 8]${sum!.includes('%9, %10') ? ' strides [120, 8, 24, 1]' : ''} @11 = aten::${sum!}
return %11
`
      const after = check(t, cleaned(rotary), text, [...VIEWS, 'ptlite::rotary'], 1e-6)
      t.match(printGraph(after), `(input=%4, cos=%1, sin=%2, rotated=8, ${interleaved === 'True' ? 'interleaved=True, ' : ''}strides=`)
    }
    const graph = parse(
      `${TABLES}${exchanged.replace('aten::cat([%6, %7]', 'aten::cat([%7, %6]').replace('stack([%6, %7]', 'stack([%7, %6]')}%9: ${HEADS} @9 = aten::mul.Tensor(%4, %1)
%10: float32[2, 3, 5, 8] @10 = aten::mul.Tensor(%8, %2)
%11: ${HEADS} @11 = aten::add.Tensor(%9, %10, 1)
return %11
`,
    )
    t.equal(rotary.run(graph), graph, 'the other one of the pair negated')
  }
  t.end()
})

t.test('rotary embedding of the first elements of a row', (t) => {
  const text = `input %0: float32[2, 3, 5, 14] @0
input %1: float32[5, 8] @1
input %2: float32[5, 8] @2
%3: float32[2, 3, 5, 8] strides [210, 70, 14, 1] @0 = aten::slice.Tensor(%0, 3, 0, 8, 1)
%4: float32[2, 3, 5, 6] strides [210, 70, 14, 1] from 8 @0 = aten::slice.Tensor(%0, 3, 8, 9223372036854775807, 1)
%5: float32[2, 3, 5, 4] strides [210, 70, 14, 1] from 4 @0 = aten::slice.Tensor(%3, 3, 4, 8, 1)
%6: float32[2, 3, 5, 4] @6 = aten::neg(%5)
%7: float32[2, 3, 5, 4] strides [210, 70, 14, 1] @0 = aten::slice.Tensor(%3, 3, 0, 4, 1)
%8: float32[2, 3, 5, 8] @8 = aten::cat([%6, %7], -1)
%9: float32[2, 3, 5, 8] @9 = aten::mul.Tensor(%3, %1)
%10: float32[2, 3, 5, 8] @10 = aten::mul.Tensor(%8, %2)
%11: float32[2, 3, 5, 8] @11 = aten::add.Tensor(%9, %10, 1)
%12: float32[2, 3, 5, 14] @12 = aten::cat([%11, %4], -1)
return %12
`
  t.match(
    printGraph(check(t, cleaned(rotary), text, ['ptlite::rotary'], 1e-6)),
    '(input=%0, cos=%1, sin=%2, rotated=8, strides=[210, 70, 14, 1])',
  )
  const swapped = text.replace('cat([%11, %4]', 'cat([%4, %11]')
  check(t, cleaned(rotary), swapped, ['aten::slice.Tensor', 'aten::slice.Tensor', 'ptlite::rotary', 'aten::cat'], 1e-6)
  const twice = text.replace('return %12', '%13: float32[2, 3, 5, 8] @13 = aten::exp(%11)\nreturn %13')
  check(t, cleaned(rotary), twice, ['aten::slice.Tensor', 'ptlite::rotary', 'aten::exp'], 1e-6)
  t.end()
})

t.test('rotary embedding half by half', (t) => {
  const angles = (rest: string): string => `${TABLES.replace('[5, 8]', '[5, 4]').replace('[2, 1, 5, 8]', '[2, 1, 5, 4]')}${rest}`
  const turned = `%7: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @7 = aten::mul.Tensor(%5, %1)
%8: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @8 = aten::mul.Tensor(%6, %2)
%9: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @9 = aten::sub.Tensor(%7, %8, 1)
%10: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @10 = aten::mul.Tensor(%6, %1)
%11: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @11 = aten::mul.Tensor(%5, %2)
%12: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @12 = aten::add.Tensor(%10, %11, 1)
`
  const chunks = `[%5: ${part(0, 1)}, %6: ${part(4, 1)}] = aten::chunk(%4, 2, -1)\n`
  const joined = '%13: float32[2, 3, 5, 8] @13 = aten::cat([%9, %12], -1)\nreturn %13\n'
  const half = check(t, cleaned(rotary), angles(chunks + turned + joined), [...VIEWS, 'ptlite::rotary'], 1e-6)
  t.match(printGraph(half), '(input=%4, cos=%1, sin=%2, rotated=8, strides=')
  const pairs = `%14: float32[2, 3, 5, 4, 2] strides [120, 8, 24, 2, 1] @0 = aten::reshape(%4, [2, 3, 5, 4, 2])
[%5: ${part(0, 2)}, %6: ${part(1, 2)}] = aten::unbind.int(%14, -1)
`
  const stacked = `%15: float32[2, 3, 5, 4, 2] @15 = aten::stack([%9, %12], -1)
%13: float32[2, 3, 5, 8] @15 = aten::reshape(%15, [2, 3, 5, 8])
return %13
`
  const neighbours = check(t, cleaned(rotary), angles(pairs + turned + stacked), [...VIEWS, 'ptlite::rotary'], 1e-6)
  t.match(printGraph(neighbours), '(input=%4, cos=%1, sin=%2, rotated=8, interleaved=True, strides=')
  const mixed = parse(angles(pairs + turned + joined))
  t.equal(rotary.run(mixed), mixed, 'pairs of neighbours come back as halves')
  const other = parse(
    angles(
      chunks +
        turned.replace(
          '%11: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @11 = aten::mul.Tensor(%5, %2)',
          '%11: float32[2, 3, 5, 4] strides [60, 4, 12, 1] @11 = aten::mul.Tensor(%5, %1)',
        ) +
        joined,
    ),
  )
  t.equal(rotary.run(other), other, 'another angle')
  t.end()
})

t.test('rows of linear layers', (t) => {
  const weight = 'constant %20: float32[4, 6] @20 = "matrix"\n'
  const flat = `input %0: float32[2, 5, 6] @0
${weight}%1: float32[2, 5, 6] @1 = aten::exp(%0)
%2: float32[10, 6] @1 = aten::reshape(%1, [10, 6])
%3: float32[10, 4] @3 = aten::linear(%2, %20, None)
%4: float32[2, 5, 4] @3 = aten::reshape(%3, [2, 5, 4])
%5: float32[2, 5, 4] @5 = aten::tanh(%4)
return %5
`
  check(t, cleaned(linearRows), flat, ['aten::exp', 'aten::linear', 'aten::tanh'])
  check(t, cleaned(linearRows), flat.replaceAll('2, 5, 4', '5, 2, 4'), [
    'aten::exp',
    'aten::reshape',
    'aten::reshape',
    'aten::linear',
    'aten::tanh',
  ])
  check(t, cleaned(linearRows), flat.replace(/%5.*\nreturn %5/, 'return %4'), ['aten::exp', 'aten::linear'])
  const twice = `input %0: float32[2, 5, 4] @0
constant %1: float32[4, 4] @1 = "square"
%2: float32[10, 4] @0 = aten::reshape(%0, [10, 4])
%3: float32[10, 4] @3 = aten::linear(%2, %1, None)
%4: float32[5, 2, 4] @3 = aten::reshape(%3, [5, 2, 4])
%5: float32[10, 4] @3 = aten::reshape(%4, [10, 4])
%6: float32[10, 4] @6 = aten::linear(%5, %1, None)
%7: float32[1, 10, 4] @6 = aten::reshape(%6, [1, 10, 4])
return %7
`
  check(t, cleaned(linearRows), twice, ['aten::reshape', 'aten::reshape', 'aten::linear', 'aten::reshape', 'aten::reshape', 'aten::linear'])
  for (const [why, text] of [
    ['columns in another order', flat.replaceAll('2, 5, 4', '4, 5, 2')],
    [
      'another reader',
      flat.replace('aten::tanh(%4)', 'aten::tanh(%4)\n%6: float32[10, 4] @6 = aten::tanh(%3)').replace('return %5', 'return (%5, %6)'),
    ],
    ['columns of rows split', flat.replaceAll('2, 5, 4', '10, 2, 2')],
  ] as const) {
    const graph = parse(text)
    t.equal(linearRows.run(graph), graph, why)
  }
  t.end()
})

t.test('row-major sums', (t) => {
  const permuted = (shape: string, from: number): string => `float32[${shape}] strides [30, 1, 5] @${from}`
  const text = `input %0: float32[2, 6, 5] @0
input %1: float32[2, 5, 6] @1
%2: ${permuted('2, 5, 6', 0)} = aten::permute(%0, [0, 2, 1])
%3: ${permuted('2, 5, 6', 3)} = aten::add.Tensor(%2, %1, 1)
%4: float32[2, 5, 6] @4 = aten::layer_norm(%3, [6], None, None, 1e-05, True)
%5: ${permuted('2, 5, 6', 5)} = aten::mul.Tensor(%3, %4)
%6: float32[2, 5, 6] @6 = aten::rms_norm(%5, [6], None, 1e-05)
return %6
`
  const all = ['aten::permute', 'aten::contiguous', 'aten::add.Tensor', 'aten::layer_norm', 'aten::mul.Tensor', 'aten::rms_norm']
  const after = check(t, rowMajor, text, all)
  t.strictSame(after.values.get(5)!.type.strides, [30, 6, 1])
  for (const [why, other] of [
    ['an output', text.replace('return %6', 'return (%5, %6)')],
    ['a view', text.replace('return %6', `%7: float32[2, 6, 5] @5 = aten::permute(%5, [0, 2, 1])\nreturn (%6, %7)`)],
    ['another reader', text.replace('aten::rms_norm(%5, [6], None, 1e-05)', 'aten::softmax.int(%5, -1, None)')],
  ] as const) {
    const graph = parse(other)
    const left = rowMajor.run(graph)
    t.strictSame(left.values.get(5)!.type.strides, [30, 1, 5], why)
    t.strictSame(left.values.get(3)!.type.strides, [30, 1, 5], `${why} of what is made of it`)
  }
  t.end()
})

t.test('strided operands', (t) => {
  const heads = 'float32[2, 3, 5, 8]'
  const text = `input %0: float32[2, 5, 3, 8] @0
input %1: ${heads} @1
%2: ${heads} strides [120, 8, 24, 1] @0 = aten::transpose.int(%0, 1, 2)
%3: ${heads} @3 = aten::contiguous(%2, 0)
%4: ${heads} @4 = attention(query=%3, key=%1, value=%3, scale=0.5)
return %4
`
  check(t, stridedOperands, text, ['aten::transpose.int', 'ptlite::attention'], 1e-6)
  for (const [why, other] of [
    ['an output', text.replace('return %4', 'return (%3, %4)')],
    [
      'a view',
      text.replace('return %4', '%5: float32[2, 8, 5, 3] strides [120, 1, 8, 40] @3 = aten::transpose.int(%3, 1, 3)\nreturn (%4, %5)'),
    ],
    ['another reader', text.replace('return %4', `%5: ${heads} @5 = aten::exp(%3)\nreturn (%4, %5)`)],
    [
      'columns apart',
      text
        .replace('%0: float32[2, 5, 3, 8]', '%0: float32[2, 8, 5, 3]')
        .replace(
          'strides [120, 8, 24, 1] @0 = aten::transpose.int(%0, 1, 2)',
          'strides [120, 1, 3, 15] @0 = aten::permute(%0, [0, 3, 2, 1])',
        ),
    ],
  ] as const) {
    const graph = parse(other)
    t.equal(stridedOperands.run(graph), graph, why)
  }
  t.end()
})
