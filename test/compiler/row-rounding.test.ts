import t from 'tap'
import { weightOnly } from '../../compiler/passes/canonical/weight-only.js'
import { printGraph } from '../../compiler/graph/print.js'
import { type Tensor, tensor } from '../../src/index.js'
import { cleaned, passChecks, random } from './pass-checks.js'

/** Rows that become bytes by their own range, in front of products with integers. */

const integers = (rows: number, columns: number, most: number): Int8Array =>
  Int8Array.from({ length: rows * columns }, (_, i) => ((i * 37) % (2 * most)) - most)
const scales = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => 0.01 + (i % 7) * 0.003)

/** Numbers in bfloat16, which they are without rounding. */
const halves = (numbers: Float32Array, shape: number[]): Tensor => tensor(numbers, shape).to('bfloat16')
const exact = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => 2 ** -(i % 5) * (1 + (i % 3) / 4))

const { check, parse } = passChecks({
  /** Products with it are what they are made of. */
  one: tensor(
    Int8Array.from({ length: 64 * 64 }, (_, i) => (i % 65 === 0 ? 1 : 0)),
    [64, 64],
  ),
  'ones of float32': tensor(new Float32Array(128).fill(1), [64, 2]),
  'ones of bfloat16': halves(new Float32Array(128).fill(1), [64, 2]),
  'groups of bfloat16': halves(exact(32), [16, 2]),
  'no zeros': tensor(new Int8Array(128), [64, 2]),
  'small zeros': tensor(
    Int8Array.from({ length: 32 }, (_, i) => (i % 5) - 2),
    [16, 2],
  ),
  'bias of bfloat16': halves(exact(16), [16]),
  bytes: tensor(integers(16, 64, 128), [16, 64]),
  halves: tensor(integers(16, 64, 8), [16, 64]),
  rows: tensor(scales(16), [16]),
  column: tensor(scales(16), [16, 1]),
  groups: tensor(scales(32), [16, 2]),
  zeros: tensor(
    BigInt64Array.from({ length: 32 }, (_, i) => BigInt((i % 5) - 2)),
    [16, 2],
  ),
  bias: random([16]),
})
const pass = cleaned(weightOnly)

const LAYER = ['ptlite::integer_linear']
const AFFINE = ['choose_qparams_affine', 'quantize_affine', 'dequantize_affine'].map((name) => `torchao::${name}`)

interface Affine {
  readonly mapping?: string
  readonly block?: string
  readonly least?: string
  readonly eps?: string
  readonly domain?: string
  readonly quantized?: string
  readonly dequantized?: string
}

/** A linear layer on rows that torchao rounds. */
function affine({ mapping = 'ASYMMETRIC', block = '[1, 64]', least = '-128', eps = 'None', domain = 'INT', ...others }: Affine): string {
  const { quantized = '%5, %6', dequantized = '%5, %6' } = others
  return `input %0: float32[3, 64] @0
input %9: float32[3] @9
constant %1: int8[16, 64] @1 = "bytes"
constant %2: float32[16] @2 = "rows"
constant %3: float32[16] @3 = "bias"
%4: float32[16, 64] @4 = torchao::dequantize_affine(%1, [1, 64], %2, None, 1, None, None, 6, "INT")
%5: float32[3] @5, %6: int8[3] @6 = torchao::choose_qparams_affine(%0, "${mapping}", ${block}, 1, ${least}, 127, ${eps}, None, 1, False, True, "${domain}")
%7: int8[3, 64] @7 = torchao::quantize_affine(%0, [1, 64], ${quantized}, 1, ${least}, 127, "INT")
%8: float32[3, 64] @8 = torchao::dequantize_affine(%7, [1, 64], ${dequantized}, 1, ${least}, 127, 6, "INT")
%10: float32[3, 16] @10 = aten::linear(%8, %4, %3)
return %10
`
}

t.test('rows that torchao rounds', async (t) => {
  const roundingOf = (how: Affine): string | undefined =>
    /"i8", %\d+, None, 0, (\(.*?\))\)/.exec(printGraph(check(t, pass, affine(how), LAYER, 2e-6)))?.[1]
  t.equal(roundingOf({}), `("affine", -128, ${2 ** -126})`)
  t.equal(roundingOf({ least: '-127', eps: '0.015625' }), '("affine", -127, 0.015625)')
  t.equal(roundingOf({ mapping: 'SYMMETRIC' }), `("symmetric", -128, ${2 ** -126})`)
  t.equal(roundingOf({ mapping: 'SYMMETRIC', least: '-127' }), `("symmetric", -127, ${2 ** -126})`)
})

t.test('rows that are rounded otherwise stay as they are written, and weights are read as integers', async (t) => {
  for (const how of [{ mapping: 'SYMMETRIC_NO_CLIPPING_ERR' }, { mapping: 'SYMMETRIC', least: '-100' }, { eps: '0.' }] as const)
    check(t, pass, affine(how), [...AFFINE, ...LAYER], 2e-6)
  // by other scales than those of the rows
  check(t, pass, affine({ quantized: '%9, %6', dequantized: '%9, %6' }), [AFFINE[0]!, AFFINE[1]!, AFFINE[2]!, ...LAYER], 2e-6)
  check(t, pass, affine({ dequantized: '%9, %6' }), [...AFFINE, ...LAYER], 2e-6)
  check(t, pass, affine({ dequantized: '%5, None' }), [...AFFINE, ...LAYER], 2e-6)
})

/** The same as quantized_decomposed writes it, above a weight in groups. */
const tokens = (chooser: string, scale: string, zero: string, least = -128): string => `input %0: float32[2, 3, 64] @0
constant %1: int8[16, 64] @1 = "halves"
constant %2: float32[16, 2] @2 = "groups"
constant %3: int64[16, 2] @3 = "zeros"
%4: float32[16, 64] @4 = quantized_decomposed::dequantize_per_channel_group(%1, %2, %3, -8, 7, 1, 32, 6)
%5: ${scale}[2, 3, 1] @5, %6: ${zero}[2, 3, 1] @6 = quantized_decomposed::${chooser}(%0, 1)
%7: int8[2, 3, 64] @7 = quantized_decomposed::quantize_per_token(%0, %5, %6, ${least}, 127, 1)
%8: float32[2, 3, 64] @8 = quantized_decomposed::dequantize_per_token(%7, %5, %6, ${least}, 127, 1, 6)
%9: float32[2, 3, 16] @9 = aten::linear(%8, %4, None)
return %9
`

t.test('rows that quantized_decomposed rounds', async (t) => {
  for (const chooser of ['choose_qparams_per_token_asymmetric', '_choose_qparams_per_token_asymmetric_impl']) {
    const graph = check(t, pass, tokens(chooser, 'float64', 'int64'), LAYER, 2e-6)
    t.match(printGraph(graph), `"i4", %2, %10, 32, ("tokens", -128, ${2 ** -23})`)
  }
  check(t, pass, tokens('choose_qparams_per_token', 'float32', 'float32'), LAYER, 2e-6)
  check(t, pass, tokens('choose_qparams_per_token', 'float32', 'float32', -127), LAYER, 2e-6)
  const left = ['choose_qparams_per_token_asymmetric', 'quantize_per_token', 'dequantize_per_token']
  const narrow = tokens('choose_qparams_per_token_asymmetric', 'float64', 'int64', -127)
  check(t, pass, narrow, [...left.map((name) => `quantized_decomposed::${name}`), ...LAYER], 2e-6)
})

/** A product of bytes and its scales, as torchao writes it; with 128 more for each byte where `moved`. */
function byBytes(moved: boolean, rowScale = '%5', up = 128): string {
  const [product, sums] = moved
    ? [
        `%12: int32[6, 64] @12 = aten::to.dtype(%8, 3, False, False, None)
%13: int32[6, 64] @13 = aten::add.Scalar(%12, 128, 1)
%14: uint8[6, 64] @14 = aten::to.dtype(%13, 0, False, False, None)
%15: int32[6, 16] @15 = aten::_int_mm(%14, %4)
%16: int32[1, 16] @16 = aten::sum.dim_IntList(%4, [0], True, 3)
%17: int32[1, 16] @17 = aten::mul.Scalar(%16, ${up})
%18: int32[6, 16] @18 = aten::sub.Tensor(%15, %17, 1)
`,
        '%18',
      ]
    : ['%15: int32[6, 16] @15 = aten::_int_mm(%8, %4)\n', '%15']
  return `input %0: float32[2, 3, 64] @0
input %11: float32[2, 3, 1] @11
constant %1: int8[16, 64] @1 = "bytes"
constant %2: float32[16, 1] @2 = "column"
constant %3: float32[16] @3 = "bias"
%4: int8[64, 16] strides [1, 64] @1 = aten::t(%1)
%5: float32[2, 3, 1] @5, %6: int8[2, 3, 1] @6 = torchao::choose_qparams_affine(%0, "SYMMETRIC", [1, 1, 64], 1, -128, 127, 0.0000001, 6, 1, True, True, "INT")
%7: int8[2, 3, 64] @7 = torchao::quantize_affine(%0, [1, 1, 64], %5, %6, 1, -128, 127, "INT")
%8: int8[6, 64] @7 = aten::reshape(%7, [-1, 64])
%9: float32[6, 1] @${rowScale === '%5' ? 5 : 11} = aten::reshape(${rowScale}, [-1, 1])
%10: float32[16] @2 = aten::flatten.using_ints(%2, 0, -1)
${product}%19: float32[6, 16] @19 = aten::to.dtype(${sums}, 6, False, False, None)
%20: float32[6, 16] @20 = aten::mul.Tensor(%19, %9)
%21: float32[6, 16] @21 = aten::mul.Tensor(%20, %10)
%22: float32[6, 16] @22 = aten::add.Tensor(%21, %3, 1)
return %22
`
}

t.test('products of bytes', async (t) => {
  for (const moved of [false, true]) {
    const graph = check(t, pass, byBytes(moved), ['aten::reshape', ...LAYER, 'aten::add.Tensor'], 1e-6)
    t.match(printGraph(graph), '"i8", %2, None, 0, ("symmetric", -128,')
    t.notMatch(printGraph(pass.run(graph)), '_int_mm')
  }
  const found = (text: string): string => printGraph(check(t, pass, text, operatorsIn(text)))
  t.match(found(byBytes(false, '%11')), '_int_mm', 'scales of something else')
  t.match(found(byBytes(true, '%5', 127)), '_int_mm', 'something else is taken away')
})

/** Rows of bfloat16 that torchao's operators round, by a weight in groups. */
const ofBfloat16 = (mapping: string, n: number, weight: string, groups: string, zeros: string): string => `input %0: float32[40, 64] @0
constant %1: int8[${n}, 64] @1 = "${weight}"
constant %2: bfloat16[${n}, 2] @2 = "${groups}"
constant %3: int8[${n}, 2] @3 = "${zeros}"
%4: bfloat16[40, 64] @4 = aten::to.dtype(%0, 15, False, True, None)
%5: bfloat16[40] @5, %6: int8[40] @6 = torchao::choose_qparams_affine(%4, "${mapping}", [1, 64], 1, -128, 127, None, None, 1, False, True, "INT")
%7: int8[40, 64] @7 = torchao::quantize_affine(%4, [1, 64], %5, %6, 1, -128, 127, "INT")
%8: bfloat16[40, 64] @8 = torchao::dequantize_affine(%7, [1, 64], %5, %6, 1, -128, 127, 15, "INT")
%9: bfloat16[${n}, 64] @9 = torchao::dequantize_affine(%1, [1, 32], %2, %3, 1, -8, 7, 15, "INT")
%10: bfloat16[40, ${n}] @10 = aten::linear(%8, %9, None)
%11: float32[40, ${n}] @11 = aten::to.dtype(%10, 6, False, False, None)
return %11
`

/** What is left of a layer on rows of bfloat16: they are widened, and results rounded. */
const WIDENED = ['aten::to.dtype', 'aten::to.dtype', ...LAYER, 'aten::to.dtype', 'aten::to.dtype']

t.test('rows of bfloat16 that torchao rounds', async (t) => {
  for (const [mapping, kind] of [
    ['ASYMMETRIC', 'affine_bfloat16'],
    ['SYMMETRIC', 'symmetric_bfloat16'],
  ] as const) {
    // the same bits, where each result is one byte: its floats are rounded as torchao's are
    const graph = check(t, pass, ofBfloat16(mapping, 64, 'one', 'ones of bfloat16', 'no zeros'), WIDENED)
    t.match(printGraph(graph), `None, 32, ("${kind}", -128, ${2 ** -126})`)
    // floats that torchao multiplies are rounded, each by less than 2^-8
    check(t, pass, ofBfloat16(mapping, 16, 'halves', 'groups of bfloat16', 'small zeros'), WIDENED, 2 ** -7)
  }
})

/** Rows of a dtype that are rounded step by step, as run_decompositions() writes it, by a weight that leaves them as they are. */
function bySteps(dtype: 'float32' | 'bfloat16', ...changes: readonly (readonly [from: string, to: string])[]): string {
  const code = dtype === 'float32' ? 6 : 15
  const text = `input %0: float32[40, 64] @0
constant %1: int8[64, 64] @1 = "one"
constant %2: ${dtype}[64, 2] @2 = "ones of ${dtype}"
constant %3: int8[64, 2] @3 = "no zeros"
%4: ${dtype}[40, 64] @4 = aten::to.dtype(%0, ${code}, False, True, None)
%5: ${dtype}[40] @5 = aten::amin(%4, [1], False)
%6: ${dtype}[40] @6 = aten::amax(%4, [1], False)
%7: ${dtype}[40] @7 = aten::full_like(%5, 0, None, None, None, False, 1)
%8: ${dtype}[40] @8 = aten::minimum(%5, %7)
%9: ${dtype}[40] @9 = aten::full_like(%6, 0, None, None, None, False, 1)
%10: ${dtype}[40] @10 = aten::maximum(%6, %9)
%11: ${dtype}[40] @11 = aten::sub.Tensor(%10, %8, 1)
%12: ${dtype}[40] @12 = aten::div.Scalar(%11, 255.)
%13: ${dtype}[40] @13 = aten::clamp(%12, 0.125, None)
%14: ${dtype}[40] @14 = aten::div.Tensor(%8, %13)
%15: ${dtype}[40] @15 = aten::round(%14)
%16: ${dtype}[] @16 = aten::scalar_tensor(-128, ${code}, None, None, None)
%17: ${dtype}[40] @17 = aten::sub.Tensor(%16, %15, 1)
%18: ${dtype}[40] @18 = aten::clamp(%17, -128, 127)
%19: int8[40] @19 = aten::_to_copy(%18, 1, None, None, None, False, None)
%20: ${dtype}[40, 1] @13 = aten::reshape(%13, [40, 1])
%21: int8[40, 1] @19 = aten::reshape(%19, [40, 1])
%22: ${dtype}[40, 1] @22 = aten::reciprocal(%20)
%23: ${dtype}[40, 1] @23 = aten::mul.Scalar(%22, 1.)
%24: ${dtype}[40, 64] @24 = aten::mul.Tensor(%4, %23)
%25: ${dtype}[40, 64] @25 = aten::round(%24)
%26: ${dtype}[40, 64] @26 = aten::add.Tensor(%25, %21, 1)
%27: ${dtype}[40, 64] @27 = aten::clamp(%26, -128, 127)
%28: int8[40, 64] @28 = aten::_to_copy(%27, 1, None, None, None, False, None)
%29: ${dtype}[40, 64] @29 = aten::_to_copy(%28, ${code}, None, None, None, False, None)
%30: ${dtype}[40, 1] @30 = aten::_to_copy(%21, ${code}, None, None, None, False, None)
%31: ${dtype}[40, 64] @31 = aten::sub.Tensor(%29, %30, 1)
%32: ${dtype}[40, 64] @32 = aten::mul.Tensor(%31, %20)
%33: int8[64, 2, 32] @1 = aten::reshape(%1, [64, 2, 32])
%34: ${dtype}[64, 2, 1] @2 = aten::reshape(%2, [64, 2, 1])
%35: int8[64, 2, 1] @3 = aten::reshape(%3, [64, 2, 1])
%36: ${dtype}[64, 2, 32] @36 = aten::_to_copy(%33, ${code}, None, None, None, False, None)
%37: ${dtype}[64, 2, 1] @37 = aten::_to_copy(%35, ${code}, None, None, None, False, None)
%38: ${dtype}[64, 2, 32] @38 = aten::sub.Tensor(%36, %37, 1)
%39: ${dtype}[64, 2, 32] @39 = aten::mul.Tensor(%38, %34)
%40: ${dtype}[64, 64] @39 = aten::reshape(%39, [64, 64])
%41: ${dtype}[64, 64] strides [1, 64] @39 = aten::permute(%40, [1, 0])
%42: ${dtype}[40, 64] @42 = aten::mm(%32, %41)
%43: float32[40, 64] @43 = aten::to.dtype(%42, 6, False, True, None)
return %43
`
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`no ${from}`)
    return changed.replace(from, to)
  }, text)
}

t.test('rows that are rounded step by step', async (t) => {
  const eps = ['0.125', String(2 ** -126)] as const
  for (const changes of [[], [eps]] as const) {
    const least = changes.length === 0 ? 0.125 : 2 ** -126
    const graph = check(t, pass, bySteps('float32', ...changes), ['aten::to.dtype', ...LAYER, 'aten::to.dtype'])
    t.match(printGraph(graph), `"i4", %2, None, 32, ("affine", -128, ${least})`)
    t.match(printGraph(check(t, pass, bySteps('bfloat16', ...changes), WIDENED)), `None, 32, ("affine_bfloat16", -128, ${least})`)
  }
  // bounds that are numbers
  const numbers = [
    ['aten::minimum(%5, %7)', 'aten::clamp(%5, None, 0)'],
    ['aten::maximum(%6, %9)', 'aten::clamp_min(%6, 0)'],
    ['aten::sub.Tensor(%16, %15, 1)', 'aten::rsub.Scalar(%15, -128, 1)'],
  ] as const
  check(t, pass, bySteps('bfloat16', eps, ...numbers), WIDENED)
})

t.test('steps that are others', async (t) => {
  for (const dtype of ['float32', 'bfloat16'] as const) {
    for (const change of [
      ['%11, 255.', '%11, 254.'],
      ['0.125, None', '0.125, 4.'],
      ['0.125, None', '0., None'],
      ['aten::round(%24)', 'aten::floor(%24)'],
      ['aten::round(%14)', 'aten::floor(%14)'],
      ['%26, -128, 127', '%26, -127, 127'],
      ['%17, -128, 127', '%17, -128, 126'],
      ['%25, %21, 1', '%25, %21, 2'],
      ['%10, %8, 1', '%10, %8, 2'],
      ['%29, %30, 1', '%29, %30, -1'],
      ['scalar_tensor(-128', 'scalar_tensor(-127'],
      ['mul.Scalar(%22, 1.)', 'mul.Scalar(%22, 1.5)'],
      ['div.Tensor(%8, %13)', 'div.Tensor(%10, %13)'],
      ['aten::amin(%4', 'aten::amax(%4'],
      ['full_like(%5, 0', 'full_like(%5, -1'],
      ['full_like(%6, 0', 'full_like(%6, 1'],
      ['mul.Tensor(%31, %20)', 'mul.Tensor(%31, %22)'],
      ['mul.Tensor(%4, %23)', 'div.Tensor(%4, %23)'],
    ] as const) {
      const graph = parse(bySteps(dtype, change))
      t.equal(weightOnly.run(graph), graph, change.join(' → '))
    }
  }
})

/** A product of bytes step by step, on rows of bfloat16: what it is times the scales of rows is rounded before other scales follow. */
const BYTES_BY_STEPS = `input %0: float32[2, 20, 64] @0
constant %1: int8[16, 64] @1 = "bytes"
constant %2: float32[16, 1] @2 = "column"
constant %3: bfloat16[16] @3 = "bias of bfloat16"
%4: bfloat16[2, 20, 64] @4 = aten::to.dtype(%0, 15, False, True, None)
%5: bfloat16[2, 20, 1] @5 = aten::amin(%4, [2], True)
%6: bfloat16[2, 20, 1] @6 = aten::amax(%4, [2], True)
%7: bfloat16[2, 20, 1] @7 = aten::full_like(%5, 0, None, None, None, False, 1)
%8: bfloat16[2, 20, 1] @8 = aten::minimum(%5, %7)
%9: bfloat16[2, 20, 1] @9 = aten::full_like(%6, 0, None, None, None, False, 1)
%10: bfloat16[2, 20, 1] @10 = aten::maximum(%6, %9)
%11: bfloat16[2, 20, 1] @11 = aten::neg(%8)
%12: bfloat16[2, 20, 1] @12 = aten::maximum(%11, %10)
%13: bfloat16[2, 20, 1] @13 = aten::div.Scalar(%12, 127.5)
%14: bfloat16[2, 20, 1] @14 = aten::full_like(%13, 0, None, None, None, False, None)
%15: bfloat16[2, 20, 1] @15 = aten::clamp(%13, 0.00000011920928955078125, None)
%16: float32[2, 20, 1] @16 = aten::_to_copy(%15, 6, None, None, None, False, None)
%17: int8[2, 20, 1] @17 = aten::_to_copy(%14, 1, None, None, None, False, None)
%18: float32[2, 20, 1] @18 = aten::reciprocal(%16)
%19: float32[2, 20, 64] @19 = aten::mul.Tensor(%4, %18)
%20: float32[2, 20, 64] @20 = aten::round(%19)
%21: float32[2, 20, 64] @21 = aten::add.Tensor(%20, %17, 1)
%22: float32[2, 20, 64] @22 = aten::clamp(%21, -128, 127)
%23: int8[2, 20, 64] @23 = aten::_to_copy(%22, 1, None, None, None, False, None)
%24: int8[64, 16] strides [1, 64] @1 = aten::permute(%1, [1, 0])
%25: int8[40, 64] @23 = aten::reshape(%23, [-1, 64])
%26: float32[40, 1] @16 = aten::reshape(%16, [-1, 1])
%27: int32[40, 16] @27 = aten::_int_mm(%25, %24)
%28: float32[40, 16] @28 = aten::_to_copy(%27, 6, None, None, None, False, None)
%29: float32[40, 16] @29 = aten::mul.Tensor(%28, %26)
%30: bfloat16[40, 16] @30 = aten::_to_copy(%29, 15, None, None, None, False, None)
%31: float32[16] @2 = aten::reshape(%2, [16])
%32: float32[40, 16] @32 = aten::mul.Tensor(%30, %31)
%33: float32[40, 16] @33 = aten::add.Tensor(%32, %3, 1)
return %33
`

t.test('products of bytes on rows of bfloat16, step by step', async (t) => {
  const left = ['to.dtype', 'reshape', 'to.dtype', '', '_to_copy', 'reshape', 'mul.Tensor', 'add.Tensor']
  const graph = check(
    t,
    pass,
    BYTES_BY_STEPS,
    left.map((name) => (name === '' ? LAYER[0]! : `aten::${name}`)),
  )
  t.match(printGraph(graph), 'None, 0, ("symmetric_widened", -128, 1.1920928955078125e-7)')
  // both scales in a row
  const wide = BYTES_BY_STEPS.replace('%32: float32[40, 16] @32 = aten::mul.Tensor(%30', '%32: float32[40, 16] @32 = aten::mul.Tensor(%29')
  check(t, pass, wide, ['aten::to.dtype', 'aten::reshape', 'aten::to.dtype', ...LAYER, 'aten::add.Tensor'], 1e-6)
})

function operatorsIn(text: string): string[] {
  return [...text.matchAll(/= (\w+::[\w.]+)\(/g)].map(([, name]) => name!)
}
