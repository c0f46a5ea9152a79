import t from 'tap'
import { functionalize, functionalName } from '../../compiler/passes/canonical/functionalize.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { operators as operatorTable } from '../../src/index.js'
import { check } from './pass-weights.js'

t.test('functionalize', (t) => {
  const chain = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::sigmoid(%0)\n%2: float32[4] @1 = aten::relu_(%1!)\nreturn %2\n'
  check(t, functionalize, chain, ['aten::sigmoid', 'aten::relu'])
  const longer = chain.replace('return %2', '%3: float32[4] @1 = aten::mul_.Scalar(%2!, 3)\nreturn %3')
  check(t, functionalize, longer, ['aten::sigmoid', 'aten::relu', 'aten::mul.Scalar'])
  const beyond = `input %0: float32[2, 4] @0
%1: float32[2, 4] @1 = aten::exp(%0)
%2: float32[4] @1 = aten::select.int(%1, 0, 0)
%3: float32[4] @1 = aten::sqrt_(%2!)
%4: float32[2, 4] @1 = aten::as_strided(%3, [2, 4], [4, 1], None)
%5: float32[2, 4] @2 = aten::relu(%4)
return %5
`
  check(t, functionalize, beyond, ['aten::exp', 'aten::select.int', 'aten::sqrt_', 'aten::as_strided', 'aten::relu'])
  check(t, functionalize, beyond.replaceAll('[2, 4], [4, 1]', '[2, 2], [2, 1]').replace('%4: float32[2, 4]', '%4: float32[2, 2]').replace('%5: float32[2, 4]', '%5: float32[2, 2]'), ['aten::exp', 'aten::select.int', 'aten::sqrt', 'aten::as_strided', 'aten::relu']) // prettier-ignore
  const seen = chain.replace('return %2', '%3: float32[4] @2 = aten::add.Tensor(%1, %2, 1)\nreturn %3')
  check(t, functionalize, seen, ['aten::sigmoid', 'aten::relu_', 'aten::add.Tensor'])
  t.end()
})

t.test('operators in place whose functional form has results of another dtype', (t) => {
  const compared =
    'input %0: float32[4] @0\n%1: float32[4] @1 = aten::sigmoid(%0)\n%2: float32[4] @1 = aten::lt_.Scalar(%1!, 0.5)\nreturn %2\n'
  check(t, functionalize, compared, ['aten::sigmoid', 'aten::lt_.Scalar'])
  check(t, functionalize, compared.replace('aten::lt_.Scalar(%1!, 0.5)', 'aten::logical_not_(%1!)'), [
    'aten::sigmoid',
    'aten::logical_not_',
  ])
  t.equal(functionalName('aten::logical_not_', DType.bool), 'aten::logical_not')
  t.end()
})

t.test('operators in place that have no functional form', (t) => {
  const inPlace = operatorTable()
    .map(({ name, overload }) => (overload === '' ? name : `${name}.${overload}`))
    .filter((name) => /^aten::\w*[a-z0-9]_(\.|$)/.test(name))
  t.ok(inPlace.length > 250)
  const gaps = [
    // random numbers, whose functional forms draw others or have other arguments
    ...[
      '_no_grad_normal_',
      '_no_grad_uniform_',
      '_sobol_engine_ff_',
      '_sobol_engine_scramble_',
      'bernoulli_.float',
      'normal_',
      'rrelu_with_noise_',
    ],
    // the second argument of the functional form is the first one here
    'polygamma_',
    // copies and fills, which need nothing of what they write to
    ...['_no_grad_fill_', '_no_grad_zero_', 'copy_.Tensor', 'copy_.float', 'copy_.int', 'fill_diagonal_'],
    // views, which are recorded as such, and flags
    ...['transpose_', 'requires_grad_', '_coalesced_', 'set_.source_Tensor_storage_offset', 'sparse_resize_and_clear_'],
    ...['_index_put_impl_.hacked_twin', '_no_grad_embedding_renorm_', 'mul_.t'],
  ]
  t.strictSame(inPlace.filter((name) => functionalName(name, DType.bool) === null).sort(), gaps.map((name) => `aten::${name}`).sort())
  const power = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::exp(%0)\n%2: float32[4] @1 = aten::pow_.Scalar(%1!, 3)\nreturn %2\n'
  check(t, functionalize, power, ['aten::exp', 'aten::pow.Tensor_Scalar'])
  t.end()
})
