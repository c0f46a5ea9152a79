import t from 'tap'
import { embeddingRows } from '../../compiler/passes/canonical/embedding-rows.js'
import { tensor, type Tensor } from '../../src/index.js'
import { cleaned, operators, passChecks } from './pass-checks.js'

/** Embeddings whose table torchao has quantized. */

const [ROWS, WIDTH, GROUPS] = [20, 64, 2]
const numbers = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => 0.01 + (i % 7) * 0.003)
const ofScales = (dtype: 'float32' | 'bfloat16' | 'float16', n: number): Tensor =>
  tensor(numbers(n), n === ROWS ? [ROWS, 1] : [ROWS, GROUPS]).to(dtype)

const dtypes = ['float32', 'bfloat16', 'float16'] as const
const CODES = { float32: 6, bfloat16: 15, float16: 5 } as const

const { check, parse } = passChecks({
  table: tensor(
    Int8Array.from({ length: ROWS * WIDTH }, (_, i) => ((i * 37) % 256) - 128),
    [ROWS, WIDTH],
  ),
  zeros: tensor(
    Int8Array.from({ length: ROWS * GROUPS }, (_, i) => (i % 9) - 4),
    [ROWS, GROUPS],
  ),
  'other zeros': tensor(
    BigInt64Array.from({ length: ROWS * GROUPS }, (_, i) => BigInt(200 + i)),
    [ROWS, GROUPS],
  ),
  ids: tensor(BigInt64Array.from([3n, 0n, 19n, 3n, 7n, 11n]), [2, 3]),
  ...Object.fromEntries(dtypes.flatMap((dtype) => [ROWS, ROWS * GROUPS].map((n) => [`${n} scales of ${dtype}`, ofScales(dtype, n)]))),
})
const pass = cleaned(embeddingRows)

/** An embedding; the input is added to its rows. */
function graphOf(dtype: (typeof dtypes)[number], groups: number, zeros: boolean, block = `[1, ${WIDTH / groups}]`): string {
  const code = CODES[dtype]
  return `input %0: float32[2, 3, ${WIDTH}] @0
constant %1: int8[${ROWS}, ${WIDTH}] @1 = "table"
constant %2: ${dtype}[${ROWS}, ${groups}] @2 = "${ROWS * groups} scales of ${dtype}"
constant %3: int8[${ROWS}, ${GROUPS}] @3 = "zeros"
constant %4: int64[2, 3] @4 = "ids"
%5: ${dtype}[${ROWS}, ${WIDTH}] @5 = torchao::dequantize_affine(%1, ${block}, %2, ${zeros ? '%3' : 'None'}, 1, -128, 127, ${code}, "INT")
%6: ${dtype}[2, 3, ${WIDTH}] @6 = aten::embedding(%5, %4, -1, False, False)
%7: float32[2, 3, ${WIDTH}] @7 = aten::add.Tensor(%6, %0, 1)
return %7
`
}

const LOOKUP = 'aten::embedding'

t.test('rows are looked up as integers, with the same bits', (t) => {
  for (const dtype of dtypes) {
    check(t, pass, graphOf(dtype, 1, false), [LOOKUP, LOOKUP, 'torchao::dequantize_affine', 'aten::add.Tensor'])
    check(t, pass, graphOf(dtype, GROUPS, true), [LOOKUP, LOOKUP, LOOKUP, 'torchao::dequantize_affine', 'aten::add.Tensor'])
  }
  t.end()
})

/** The same of two groups, step by step, with these zero points, which become int8 first. */
const stepByStep = (dtype: (typeof dtypes)[number], zeros: string): string => `input %0: float32[2, 3, ${WIDTH}] @0
constant %1: int8[${ROWS}, ${WIDTH}] @1 = "table"
constant %2: ${dtype}[${ROWS}, 2] @2 = "${ROWS * 2} scales of ${dtype}"
constant %3: ${zeros}
constant %4: int64[2, 3] @4 = "ids"
%10: int8[${ROWS}, 2, 32] @1 = aten::reshape(%1, [${ROWS}, 2, 32])
%11: ${dtype}[${ROWS}, 2, 1] @2 = aten::reshape(%2, [${ROWS}, 2, 1])
%8: int8[${ROWS}, 2] @8 = aten::to.dtype(%3, 1, False, True, None)
%12: int8[${ROWS}, 2, 1] @8 = aten::reshape(%8, [${ROWS}, 2, 1])
%13: ${dtype}[${ROWS}, 2, 32] @13 = aten::_to_copy(%10, ${CODES[dtype]}, None, None, None, False, None)
%14: ${dtype}[${ROWS}, 2, 1] @14 = aten::_to_copy(%12, ${CODES[dtype]}, None, None, None, False, None)
%15: ${dtype}[${ROWS}, 2, 32] @15 = aten::sub.Tensor(%13, %14, 1)
%16: ${dtype}[${ROWS}, 2, 32] @16 = aten::mul.Tensor(%15, %11)
%5: ${dtype}[${ROWS}, ${WIDTH}] @16 = aten::reshape(%16, [${ROWS}, ${WIDTH}])
%6: ${dtype}[2, 3, ${WIDTH}] @6 = aten::embedding(%5, %4, -1, False, False)
%7: float32[2, 3, ${WIDTH}] @7 = aten::add.Tensor(%6, %0, 1)
return %7
`

t.test('step by step', (t) => {
  for (const dtype of dtypes) {
    const whole = stepByStep(dtype, `int8[${ROWS}, 2] @3 = "zeros"`)
    check(t, pass, whole, [LOOKUP, LOOKUP, LOOKUP, 'torchao::dequantize_affine', 'aten::add.Tensor'])
    // what does not fit into int8 is another number there
    const graph = parse(stepByStep(dtype, `int64[${ROWS}, 2] @3 = "other zeros"`))
    t.notOk(operators(pass.run(graph)).includes('torchao::dequantize_affine'))
  }
  t.end()
})

t.test('tables whose blocks are no parts of rows stay as they are', (t) => {
  const graph = parse(graphOf('float32', 1, false, `[${ROWS}, ${WIDTH}]`))
  t.equal(embeddingRows.run(graph), graph)
  t.ok(operators(graph).includes('torchao::dequantize_affine'))
  t.end()
})
