import t from 'tap'
import { elementwise } from '../../compiler/passes/fuse/elementwise.js'
import { operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('element-wise chains', (t) => {
  const text = `input %0: float32[2, 3, 5, 5] @0
input %1: float32[3, 1, 1] @1
%2: float32[2, 3, 5, 5] @2 = aten::add.Tensor(%0, %1, 1)
%3: float32[2, 3, 5, 5] @3 = aten::sigmoid(%2)
%4: float32[2, 3, 5, 5] @4 = aten::mul.Tensor(%0, %3)
%5: float32[2, 3, 5, 5] @5 = aten::clamp(%4, -0.25, 0.5)
return %5
`
  check(t, elementwise, text, ['ptlite::fused'])
  check(t, elementwise, text.replace('input %1: float32[3, 1, 1]', 'input %1: float32[5]'), ['ptlite::fused'])
  check(t, elementwise, text.replaceAll('[2, 3, 5, 5]', '[7, 3, 9, 31]'), ['ptlite::fused'])
  const split = `${text.replace('return %5\n', '')}%6: float32[2, 3, 5, 5] @6 = aten::div.Tensor(%5, %3)\nreturn %6\n`
  check(t, elementwise, split, ['ptlite::fused'])
  t.strictSame(operators(elementwise.run(parse(text.replace('return %5', 'return (%3, %5)')))), ['ptlite::fused', 'ptlite::fused'])
  for (const op of ['relu', 'tanh', 'neg', 'abs', 'square', 'exp', 'sin', 'cos', 'erf', 'silu', 'hardswish', 'hardsigmoid', 'reciprocal']) {
    const chain = `input %0: float32[5, 67] @0\n%1: float32[5, 67] @1 = aten::mul.Scalar(%0, 0.75)\n%2: float32[5, 67] @2 = aten::${op}(%1)\nreturn %2\n`
    check(t, elementwise, chain, ['ptlite::fused'])
  }
  t.end()
})
