import t from 'tap'
import { deadCode } from '../../compiler/passes/canonical/dead-code.js'
import { check } from './pass-weights.js'

t.test('dead code', (t) => {
  check(t, deadCode, 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0)\n%2: float32[4] @2 = aten::sigmoid(%0)\nreturn %1\n', [
    'aten::relu',
  ])
  const written = `input %0: float32[2, 4] @0
%1: float32[2, 4] @1 = aten::clone(%0, None)
%2: float32[4] @1 = aten::select.int(%1, 0, 0)
%3: float32[4] @1 = aten::relu_(%2!)
return %1
`
  check(t, deadCode, written, ['aten::clone', 'aten::select.int', 'aten::relu_'])
  t.end()
})
