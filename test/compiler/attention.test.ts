import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { deadCode } from '../../compiler/passes/canonical/dead-code.js'
import { attention } from '../../compiler/passes/fuse/attention.js'
import { narrowRows } from '../../compiler/passes/fuse/narrow-rows.js'
import { onCanonical, operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

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

t.test('the operator of attention, decomposed', (t) => {
  const run = onCanonical(attention)
  const decomposed = (scores: string, guarded = '%12'): string => `input %0: float32[2, 4, 9, 8] @0
input %1: float32[2, 4, 7, 8] @1
input %2: float32[2, 4, 7, 5] @2
input %3: float32[2, 1, 9, 7] @3
%4: float32[2, 4, 9, 8] @4 = aten::mul.Scalar(%0, 0.5)
%5: float32[2, 4, 8, 7] strides [224, 56, 1, 8] @1 = aten::permute(%1, [0, 1, 3, 2])
%6: float32[2, 4, 8, 7] strides [224, 56, 1, 8] @6 = aten::mul.Scalar(%5, 0.25)
%7: float32[2, 4, 8, 7] @7 = aten::clone(%6, 0)
%8: float32[8, 9, 8] @4 = aten::view(%4, [8, 9, 8])
%9: float32[8, 8, 7] @7 = aten::view(%7, [8, 8, 7])
%10: float32[8, 9, 7] @10 = aten::bmm(%8, %9)
%11: float32[2, 4, 9, 7] @10 = aten::view(%10, [2, 4, 9, 7])
%12: float32[2, 4, 9, 7] @12 = aten::add.Tensor(%11, %3, 1)
%13: float32[2, 4, 9, 7] @13 = aten::_softmax(${scores}, -1, False)
%14: bool[2, 4, 9, 7] @14 = aten::eq.Scalar(${guarded}, -inf)
%15: bool[2, 4, 9, 7] @15 = aten::logical_not(%14)
%16: bool[2, 4, 9, 1] @16 = aten::any.dim(%15, -1, True)
%17: bool[2, 4, 9, 1] @17 = aten::logical_not(%16)
%18: float32[2, 4, 9, 7] @18 = aten::full_like(%13, 0, None, None, None, False, 1)
%19: float32[2, 4, 9, 7] @19 = aten::where.self(%17, %18, %13)
%20: float32[8, 9, 7] @19 = aten::view(%19, [8, 9, 7])
%21: float32[8, 7, 5] @2 = aten::view(%2, [8, 7, 5])
%22: float32[8, 9, 5] @22 = aten::bmm(%20, %21)
%23: float32[2, 4, 9, 5] @22 = aten::view(%22, [2, 4, 9, 5])
%24: float32[2, 4, 9, 5] @24 = aten::exp(%23)
return %24
`
  const isFound = (text: string): boolean => operators(run.run(parse(text))).includes('ptlite::attention')
  const form = (text: string, left: readonly string[]): string =>
    / attention\((.*)\)/.exec(printGraph(check(t, onCanonical(attention), text, [...left], 1e-6)))![1]!
  t.equal(form(decomposed('%12'), ['ptlite::attention', 'aten::exp']), 'query=%0, key=%1, value=%2, mask=%3, scale=0.125, safe=True')
  t.equal(form(decomposed('%11', '%11'), ['ptlite::attention', 'aten::exp']), 'query=%0, key=%1, value=%2, scale=0.125, safe=True')
  const fromTruths = (seen: string, hidden: string): string =>
    decomposed('%12').replace(
      'input %3: float32[2, 1, 9, 7] @3\n',
      `input %29: float32[2, 1, 9, 7] @29
constant %31: float32[] @31 = "${seen}"
constant %32: float32[] @32 = "${hidden}"
%30: bool[2, 1, 9, 7] @30 = aten::gt.Scalar(%29, 0.)
%3: float32[2, 1, 9, 7] @3 = aten::where.self(%30, %31, %32)
`,
    )
  const operands = 'query=%0, key=%1, value=%2'
  const left = ['aten::gt.Scalar', 'ptlite::attention', 'aten::exp']
  const whereIs = left.toSpliced(1, 0, 'aten::where.self')
  t.equal(form(fromTruths('zero', 'minusInfinity'), left), `${operands}, mask=%30, scale=0.125, safe=True`, 'truth values')
  t.equal(form(fromTruths('zero', 'minusTwo'), whereIs), `${operands}, mask=%3, scale=0.125, safe=True`, 'what is hidden less')
  t.equal(form(fromTruths('minusTwo', 'minusInfinity'), whereIs), `${operands}, mask=%3, scale=0.125, safe=True`, 'what is seen more')
  t.notOk(isFound(decomposed('%12', '%11')), 'rows are left out by other scores')
  const twice = decomposed('%12').replace('= aten::exp(%23)', '= aten::exp(%23)\n%25: float32[8, 9, 5] @25 = aten::exp(%22)')
  t.notOk(isFound(twice.replace('return %24', 'return (%24, %25)')), 'the product is read elsewhere')
  t.notOk(isFound(decomposed('%12').replace('-inf)', '-1.)')), 'rows of other numbers are left out')
  t.notOk(
    isFound(
      decomposed('%12')
        .replace('any.dim(%15, -1, True)', 'any.dim(%15, 2, True)')
        .replace('[2, 4, 9, 1] @16', '[2, 4, 1, 7] @16')
        .replace('[2, 4, 9, 1] @17', '[2, 4, 1, 7] @17'),
    ),
    'columns are left out',
  )
  t.end()
})

t.test('keys and values of fewer bits', (t) => {
  const run = onCanonical({ name: 'narrow', run: (graph) => deadCode.run(narrowRows.run(attention.run(graph))) })
  const attended = (
    k: string,
    v: string,
  ): string => `%8: float32[2, 4, 3, 8] @8 = aten::scaled_dot_product_attention(%0, ${k}, ${v}, None, 0., False, None, True)
%9: float32[2, 4, 3, 8] @9 = aten::tanh(%8)
return %9
`
  const inputs = `input %0: float32[2, 4, 3, 8] @0
input %1: int8[2, 2, 40, 8] @1
input %2: float32[2, 2, 40, 1] @2
input %3: int8[2, 2, 40, 8] @3
input %4: float32[2, 2, 40, 1] @4
%5: float32[2, 2, 40, 8] @5 = aten::mul.Tensor(%1, %2)
%6: float32[2, 2, 40, 8] @6 = aten::mul.Tensor(%3, %4)
`
  const left = ['aten::as_strided', 'aten::as_strided', 'aten::as_strided', 'aten::as_strided', 'ptlite::attention', 'aten::tanh']
  t.match(printGraph(check(t, run, `${inputs}${attended('%5', '%6')}`, left, 1e-6)), /keyScales=%\d+, valueScales=%\d+/)
  const parts = `${inputs}%10: float32[2, 2, 17, 8] strides [640, 320, 8, 1] from 24 @5 = aten::slice.Tensor(%5, 2, 3, 20, 1)
%11: float32[2, 2, 17, 8] strides [640, 320, 8, 1] from 24 @6 = aten::slice.Tensor(%6, 2, 3, 20, 1)
`
  t.match(printGraph(check(t, run, `${parts}${attended('%10', '%11')}`, left, 1e-6)), /keyScales=%\d+/, 'of parts of them')
  const halves = `input %0: float32[2, 4, 3, 8] @0
input %1: bfloat16[2, 2, 40, 8] @1
input %3: bfloat16[2, 2, 40, 8] @3
%5: float32[2, 2, 40, 8] @5 = aten::to.dtype(%1, 6, False, False, None)
%6: float32[2, 2, 40, 8] @6 = aten::to.dtype(%3, 6, False, False, None)
`
  check(t, run, `${halves}${attended('%5', '%6')}`, ['aten::as_strided', 'aten::as_strided', 'ptlite::attention', 'aten::tanh'], 1e-6)
  const plain = ['aten::mul.Tensor', 'aten::mul.Tensor', 'ptlite::attention', 'aten::tanh']
  const columns = inputs.replaceAll('float32[2, 2, 40, 1]', 'float32[2, 2, 1, 8]')
  check(t, run, `${columns}${attended('%5', '%6')}`, plain, 1e-6)
  const written = `${inputs}%12: int8[2, 2, 40, 8] @1 = aten::zero_(%1!)
${attended('%5', '%6')}`
  t.notMatch(printGraph(run.run(parse(written))), 'keyScales', 'what was read before a write')
  t.end()
})
