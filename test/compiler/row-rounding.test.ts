import t from 'tap'
import { weightOnly } from '../../compiler/passes/canonical/weight-only.js'
import { printGraph } from '../../compiler/graph/print.js'
import { tensor } from '../../src/index.js'
import { cleaned, passChecks, random } from './pass-checks.js'

/** Rows that become bytes by their own range, in front of products with integers. */

const integers = (rows: number, columns: number, most: number): Int8Array =>
  Int8Array.from({ length: rows * columns }, (_, i) => ((i * 37) % (2 * most)) - most)
const scales = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => 0.01 + (i % 7) * 0.003)

const { check } = passChecks({
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

function operatorsIn(text: string): string[] {
  return [...text.matchAll(/= (\w+::[\w.]+)\(/g)].map(([, name]) => name!)
}
