import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { prepacked } from '../../compiler/passes/canonical/prepacked.js'
import { check } from './pass-weights.js'

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
