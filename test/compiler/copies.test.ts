import t from 'tap'
import { copies } from '../../compiler/passes/canonical/copies.js'
import { operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('redundant copies', (t) => {
  const text = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::clone(%0, None)\n%2: float32[4] @2 = aten::relu(%1)\nreturn %2\n'
  check(t, copies, text, ['aten::relu'])
  t.strictSame(
    operators(copies.run(parse(text.replace('return %2', 'return (%1, %2)')))),
    ['aten::clone', 'aten::relu'],
    'an output stays a tensor of its own',
  )
  t.end()
})
