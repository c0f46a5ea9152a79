import t from 'tap'
import { identities } from '../../compiler/passes/canonical/identities.js'
import { chain, cleaned, operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('identities', (t) => {
  check(t, identities, chain('4', ['mul.Scalar(%0, 1)', 'div.Scalar(%1, 1)', 'sub.Scalar(%2, 0, 1)', 'exp(%3)']), ['aten::exp'])
  check(t, identities, chain('4', ['sigmoid(%0)', 'relu(%1)', 'sin(%2)']), ['aten::sigmoid', 'aten::sin'])
  check(t, identities, chain('4', ['mul.Scalar(%0, 2)', 'relu(%1)', 'sin(%2)']), ['aten::mul.Scalar', 'aten::relu', 'aten::sin'])
  check(t, cleaned(identities), chain('4', ['neg(%0)', 'neg(%1)', 'exp(%2)']), ['aten::exp'])
  check(t, identities, chain('4', ['add.Scalar(%0, 0, 1)', 'exp(%1)']), ['aten::exp'])
  const turned = (order: string, last: string): string => `input %0: float32[2, 3, 4] @0
%1: float32[3, 4, 2] strides [4, 1, 12] @0 = aten::permute(%0, [1, 2, 0])
%2: float32[3, 4, 2] @2 = aten::contiguous(%1, 0)
%3: float32[2, 3, 4] strides [1, 8, 2] @2 = aten::permute(%2, [-1, 0, 1])
%4: float32[${last}] @4 = aten::${order}
%5: float32[${last}] @5 = aten::exp(%4)
return %5
`
  check(t, cleaned(identities), turned('contiguous(%3, 0)', '2, 3, 4'), ['aten::exp'])
  const across = turned('contiguous(%6, 0)', '2, 4, 3').replace(
    '%4:',
    '%6: float32[2, 4, 3] strides [1, 2, 8] @2 = aten::permute(%3, [0, 2, 1])\n%4:',
  )
  check(t, cleaned(identities), across, [
    'aten::permute',
    'aten::contiguous',
    'aten::permute',
    'aten::permute',
    'aten::contiguous',
    'aten::exp',
  ])
  const returned = turned('contiguous(%3, 0)', '2, 3, 4').replace('return %5', 'return (%4, %5)')
  t.ok(operators(identities.run(parse(returned))).includes('aten::contiguous'), 'an output stays a tensor of its own')
  const expanded = (call: string): string => `input %0: float32[2, 3, 4] @0
input %1: float32[3, 1] @1
%2: float32[2, 3, 4] strides [0, 1, 0] @1 = aten::expand(%1, [2, 3, 4], False)
%3: float32[2, 3, 4] @3 = aten::${call}
return %3
`
  for (const call of ['mul.Tensor(%0, %2)', 'mul.Tensor(%2, %0)', 'sub.Tensor(%0, %2, 1)', 'maximum(%2, %0)'])
    check(t, cleaned(identities), expanded(call), [`aten::${call.split('(')[0]!}`])
  check(t, cleaned(identities), expanded('contiguous(%2, 0)'), ['aten::expand', 'aten::contiguous'])
  check(t, cleaned(identities), expanded('cat([%2], 0)'), ['aten::expand', 'aten::cat'])
  const scalar = expanded('mul.Tensor(%0, %2)').replace('float32[3, 1] @1', 'float32[] @1').replace('[0, 1, 0]', '[0, 0, 0]')
  check(t, cleaned(identities), scalar, ['aten::expand', 'aten::mul.Tensor'])
  const casts = `input %0: float32[4] @0
%1: float64[4] @1 = aten::to.dtype(%0, 7, False, False, None)
%2: float32[4] @2 = aten::to.dtype(%1, 6, False, False, None)
%3: float32[4] @3 = aten::exp(%2)
return %3
`
  check(t, cleaned(identities), casts, ['aten::exp'])
  const narrow = casts.replace('float64[4] @1 = aten::to.dtype(%0, 7', 'int32[4] @1 = aten::to.dtype(%0, 3')
  check(t, identities, narrow, ['aten::to.dtype', 'aten::to.dtype', 'aten::exp'])
  t.end()
})
