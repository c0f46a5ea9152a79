import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { floatFormat, WEIGHT, WEIGHT_FORMATS, type WeightFormat } from '../../compiler/graph/packed-weight.js'
import { printGraph } from '../../compiler/graph/print.js'
import { prepacked } from '../../compiler/passes/canonical/prepacked.js'
import { activation } from '../../compiler/passes/fuse/activation.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { callOperator, int, tensor, type Tensor } from '../../src/index.js'
import { passChecks, random } from './pass-checks.js'

const bytes = Int8Array.from({ length: 16 * 64 }, (_, i) => ((i * 37) % 251) - 125)
const fours = callOperator('aten::_convert_weight_to_int4pack_for_cpu', [
  tensor(
    Int32Array.from({ length: 16 * 64 }, (_, i) => (i * 7) % 16),
    [16, 64],
  ),
  int(2),
]) as Tensor
const { check } = passChecks({
  bytes: tensor(bytes, [16, 64], 'int8'),
  scales: random([16]),
  fours,
  groups: random([2, 16, 2]),
})

const I8 = `input %0: float32[3, 64] @0
constant %1: int8[16, 64] @1 = "bytes"
constant %2: float32[16] @2 = "scales"
%3: float32[3, 16] @3 = aten::_weight_int8pack_mm(%0, %1, %2)
`
const I4 = `input %0: float32[3, 64] @0
constant %1: uint8[16, 32] @1 = "fours"
constant %2: float32[2, 16, 2] @2 = "groups"
%3: float32[3, 16] @3 = aten::_weight_int4pack_mm_for_cpu(%0, %1, 32, %2)
`

t.test('products with integers are linear layers, whose weights say their format', async (t) => {
  const eight = check(t, prepacked, `${I8}return %3\n`, ['ptlite::integer_linear'], 1e-6)
  t.match(printGraph(eight), 'linear(input=%0, weight=(%1, "i8", %2, None, 0, None))')
  const four = check(t, prepacked, `${I4}return %3\n`, ['ptlite::integer_linear'], 1e-6)
  t.match(printGraph(four), 'linear(input=%0, weight=(%1, "pairs", %2, None, 32, None))')
})

t.test('products with scales that are computed stay as they are', async (t) => {
  const computed = I8.replace('constant %2: float32[16] @2 = "scales"', 'input %2: float32[16] @2')
  check(t, prepacked, `${computed}return %3\n`, ['aten::_weight_int8pack_mm'])
})

t.test('their kernel takes bounds', async (t) => {
  const layer = I8.replace(/aten::_weight_int8pack_mm\(.*\)/, 'linear(input=%0, weight=(%1, "i8", %2, None, 0, None))')
  const text = `${layer}%4: float32[3, 16] @4 = aten::relu(%3)\nreturn %4\n`
  check(t, activation, text, ['ptlite::integer_linear'])
})

t.test('each format has a kernel, a packer and an operator that are there', async (t) => {
  const folder = fileURLToPath(new URL('../../codegen/kernels/', import.meta.url))
  const declared = readdirSync(folder).map((name) => readFileSync(folder + name, 'utf8'))
  const has = (kernel: string): boolean => declared.some((text) => text.includes(`- kernel: ${kernel}\n`))
  for (const [name, { dtype, bits, packer, kernel, operator }] of Object.entries(WEIGHT_FORMATS)) {
    t.ok(has(kernel), kernel)
    t.ok(packer === null || has(packer), String(packer))
    t.ok(operator === null || findOperator(operator) !== undefined, String(operator))
    t.equal(operator === null, bits === null, name)
    t.equal(floatFormat(dtype), bits === null ? name : undefined)
    const weight = {
      values: 7,
      format: name as WeightFormat,
      scales: bits === null ? null : 8,
      zeros: bits === 8 ? 9 : null,
      group: bits === null ? 0 : 32,
      rows: bits === null ? null : ({ kind: 'affine', least: -128, eps: 2 ** -126 } as const),
    }
    t.strictSame(WEIGHT.fromArg(WEIGHT.toArg(weight)), weight)
  }
  t.equal(floatFormat(DType.complex64), undefined)
  t.throws(
    () => WEIGHT.fromArg({ kind: 'constant', value: 1 }),
    /expected a weight, its format, scales, zero points, the size of groups and how rows are rounded/,
  )
})
