import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { activation } from '../../compiler/passes/fuse/activation.js'
import { check, CONV } from './pass-weights.js'

t.test('activation', (t) => {
  for (const [call, at] of [
    ['aten::relu(%3)', '0., inf'],
    ['aten::relu6(%3)', '0., 6.'],
    ['aten::clamp(%3, None, 0.25)', '-inf, 0.25'],
    ['aten::clamp_min(%3, 0.25)', '0.25, inf'],
  ]) {
    const after = check(t, activation, `${CONV}%4: float32[1, 4, 6, 6] @4 = ${call!}\nreturn %4\n`, ['ptlite::convolution'])
    t.match(printGraph(after), `clamp=[${at!}])`)
  }
  const twice = `${CONV}%4: float32[1, 4, 6, 6] @4 = aten::relu(%3)\n%5: float32[1, 4, 6, 6] @5 = aten::clamp(%4, -1, 0.5)\nreturn %5\n`
  check(t, activation, twice, ['ptlite::convolution'])
  const linear =
    'input %0: float32[2, 8] @0\nconstant %1: float32[4, 8] @1 = "linear"\n%2: float32[2, 4] @2 = aten::linear(%0, %1, None)\n%3: float32[2, 4] @3 = aten::relu(%2)\nreturn %3\n'
  // weights that are packed by their second use add in another order
  check(t, activation, linear, ['ptlite::linear'], 1e-6)
  t.end()
})
