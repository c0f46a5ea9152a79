import t from 'tap'
import { unpacked } from '../../compiler/passes/canonical/unpacked.js'
import { check } from './pass-weights.js'

const OBJECTS = `object #0: xnnpack.LinearOpContext
object #1: xnnpack.Conv2dOpContext
object #2: quantized.Conv2dPackedParamsBase
`

t.test('packed layers become layers with weights, and clamps', (t) => {
  const linear = `input %0: float32[2, 8] @0\n${OBJECTS}%1: float32[2, 4] @1 = prepacked::linear_clamp_run(%0, #0)\nreturn %1\n`
  check(t, unpacked, linear, ['aten::linear', 'aten::clamp'], 1e-6)
  const image = `input %0: float32[1, 3, 6, 6] @0\n${OBJECTS}%1: float32[1, 4, 6, 6] @1 = prepacked::conv2d_clamp_run(%0, #1)\nreturn %1\n`
  check(t, unpacked, image, ['aten::conv2d', 'aten::clamp'], 1e-6)
  t.end()
})
