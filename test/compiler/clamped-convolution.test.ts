import t from 'tap'
import { byteTables } from '../../compiler/passes/fuse/byte-tables.js'
import { cleaned, operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

const QUANTIZED = 'strides [144, 1, 24, 4] quant 0.02 20'

interface Case {
  readonly conv?: string
  readonly dtype?: 'quint8' | 'qint8'
  readonly step: string
  readonly scale?: number
  readonly returned?: string
}

/** A convolution, a step on its floats, and the way back to integers. */
function graphOf({ conv = 'quantized::conv2d.new', dtype = 'quint8', step, scale = 0.02, returned = '%5' }: Case): string {
  const number = dtype === 'quint8' ? 13 : 12
  return `input %0: float32[1, 3, 6, 6] @0
object #0: xnnpack.LinearOpContext
object #1: xnnpack.Conv2dOpContext
object #2: quantized.Conv2dPackedParamsBase
%1: ${dtype}[1, 3, 6, 6] quant 0.05 12 @1 = aten::quantize_per_tensor(%0, 0.05, 12, ${number})
%2: ${dtype}[1, 4, 6, 6] ${QUANTIZED} @2 = ${conv}(%1, #2, 0.02, 20)
%3: float32[1, 4, 6, 6] strides [144, 1, 24, 4] @3 = aten::dequantize.self(%2)
%4: float32[1, 4, 6, 6] strides [144, 1, 24, 4] @4 = aten::${step}
%5: ${dtype}[1, 4, 6, 6] strides [144, 1, 24, 4] quant ${scale} 20 @5 = aten::quantize_per_tensor(%4, ${scale}, 20, ${number})
%6: float32[1, 4, 6, 6] strides [144, 1, 24, 4] @6 = aten::dequantize.self(${returned})
return %6
`
}

const CLAMPED = ['aten::quantize_per_tensor', 'ptlite::clamped_convolution', 'aten::dequantize.self']

t.test('a table that clamps the integers of a convolution becomes its bounds', (t) => {
  const bounds = (one: Case): unknown[] => {
    const after = check(t, cleaned(byteTables), graphOf(one), CLAMPED)
    const node = after.nodes.find(({ op }) => op === 'ptlite::clamped_convolution')!
    return node.kind === 'operator' ? node.args.slice(-2).map((arg) => (arg.kind === 'constant' ? arg.value : null)) : []
  }
  t.strictSame(bounds({ step: 'relu6(%3)' }), [20, 255], 'six lies beyond the integers')
  t.strictSame(bounds({ step: 'hardtanh(%3, -0.1, 0.6)' }), [15, 50])
  t.strictSame(bounds({ step: 'clamp_max(%3, 0.6)' }), [0, 50])
  t.strictSame(bounds({ step: 'hardtanh(%3, -0.1, 0.6)', dtype: 'qint8' }), [15, 50])
  t.strictSame(bounds({ step: 'clamp_max(%3, 0.6)', dtype: 'qint8' }), [-128, 50])
  t.strictSame(bounds({ step: 'hardtanh(%3, -0.1, 0.6)', conv: 'quantized::conv2d_relu.new' }), [20, 50], 'a relu before it')
  t.strictSame(bounds({ step: 'hardtanh(%3, 0.2, 0.6)', conv: 'quantized::conv2d_relu.new' }), [30, 50])
  t.end()
})

t.test('other tables stay, and what others read', (t) => {
  const pass = cleaned(byteTables)
  for (const one of [{ step: 'relu6(%3)', scale: 0.03 }, { step: 'silu(%3)' }, { step: 'leaky_relu(%3, 0.5)' }]) {
    check(t, pass, graphOf(one), ['aten::quantize_per_tensor', 'quantized::conv2d.new', 'ptlite::quantized_table', 'aten::dequantize.self'])
  }
  const both = graphOf({ step: 'relu6(%3)' }).replace(
    'return %6',
    '%7: float32[1, 4, 6, 6] strides [144, 1, 24, 4] @7 = aten::add.Tensor(%6, %3, 1)\nreturn %7',
  )
  t.ok(operators(pass.run(parse(both))).includes('ptlite::quantized_table'), 'the floats before the clamp are read, too')
  t.end()
})
