import t from 'tap'
import { views } from '../../compiler/passes/canonical/views.js'
import { operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('views', (t) => {
  const text = `input %0: float32[2, 3] @0
%1: float32[3, 2] strides [1, 3] @0 = aten::t(%0)
%2: float32[2, 3] @0 = aten::t(%1)
%3: float32[2, 3] @0 = aten::slice.Tensor(%2, 0, 0, 9223372036854775807, 1)
%4: float32[3, 2] strides [1, 3] @0 = aten::permute(%3, [1, 0])
%5: float32[3, 2] strides [1, 3] @1 = aten::relu(%4)
return %5
`
  check(t, views, text, ['aten::t', 'aten::relu'])
  t.strictSame(
    operators(views.run(parse(text.replace('return %5', 'return (%3, %5)')))),
    ['aten::t', 'aten::slice.Tensor', 'aten::relu'],
    'an output stays a tensor of its own',
  )
  const both = `input %0: float32[2, 3] @0
[%1: float32[3] @0, %2: float32[3] from 3 @0] = aten::unbind.int(%0, 0)
%3: float32[3] @0 = aten::select.int(%0, 0, 0)
%4: float32[3] @1 = aten::mul.Tensor(%1, %3)
%5: float32[3] @2 = aten::add.Tensor(%4, %2, 1)
return %5
`
  check(t, views, both, ['aten::unbind.int', 'aten::mul.Tensor', 'aten::add.Tensor'])
  const written = `input %0: float32[2, 3] @0
%1: float32[2, 3] @1 = aten::clone(%0, None)
%2: float32[2, 3] @1 = aten::view(%1, [2, 3])
%3: float32[2, 3] @1 = aten::relu_(%2!)
%4: float32[2, 3] @2 = aten::neg(%1)
return %4
`
  check(t, views, written, ['aten::clone', 'aten::view', 'aten::relu_', 'aten::neg'])
  t.end()
})
