import t from 'tap'
import { quantizedInput } from '../../compiler/passes/lower/quantized-input.js'
import { check, parse } from './pass-weights.js'

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
