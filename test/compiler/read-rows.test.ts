import t from 'tap'
import { readRows } from '../../compiler/passes/fuse/read-rows.js'
import { onCanonical } from './pass-checks.js'
import { check } from './pass-weights.js'

t.test('rows that are read', (t) => {
  const run = onCanonical(readRows)
  const graph = (read: string): string => `input %0: float32[2, 9, 8] @0
constant %1: float32[4, 8] @1 = "linear"
constant %2: float32[4] @2 = "bias"
input %3: float32[9, 4] @3
%4: float32[2, 9, 8] @4 = aten::tanh(%0)
%5: float32[2, 9, 4] @5 = aten::linear(%4, %1, %2)
%6: float32[2, 9, 4] @6 = aten::mul.Tensor(%5, %3)
%7: float32[2, 9, 4] @7 = aten::layer_norm(%6, [4], %2, None, 0.00001, True)
%8: float32[2, 9, 4] @8 = aten::add.Tensor(%7, %2, 1)
%9: float32[2, 9, 4] @9 = aten::mul.Tensor(%8, %6)
${read}`
  const last = '%10: float32[2, 1, 4] strides [36, 4, 1] from 32 @9 = aten::slice.Tensor(%9, 1, 8, 9, 1)\n'
  const sliced = [
    'aten::slice.Tensor',
    'aten::tanh',
    'aten::linear',
    'aten::slice.Tensor',
    'aten::mul.Tensor',
    'aten::layer_norm',
    'aten::add.Tensor',
    'aten::mul.Tensor',
  ]
  const after = check(t, run, graph(`${last}%11: float32[2, 1, 4] @10 = aten::neg(%10)\nreturn %11\n`), [...sliced, 'aten::neg'], 1e-6)
  for (const node of after.nodes)
    if (node.kind === 'operator' && node.op !== 'aten::slice.Tensor')
      t.equal(after.values.get(node.results[0]!.kind === 'value' ? node.results[0]!.id : -1)!.type.shape[1], 1)
  const middle = '%10: float32[2, 3, 4] strides [36, 4, 1] from 8 @9 = aten::slice.Tensor(%9, -2, 2, 5, 1)\n'
  check(t, run, graph(`${middle}%11: float32[2, 3, 4] @10 = aten::neg(%10)\nreturn %11\n`), [...sliced, 'aten::neg'], 1e-6)

  const all = ['aten::tanh', 'aten::linear', 'aten::mul.Tensor', 'aten::layer_norm', 'aten::add.Tensor', 'aten::mul.Tensor']
  const left = (read: string, more: string[], returned: string): void => {
    check(t, run, graph(`${read}return ${returned}\n`), [...all, ...more], 1e-6)
  }
  left(last, ['aten::slice.Tensor'], '%10')
  const sum = '%11: float32[1] @10 = aten::sum(%9, None)\n%12: float32[2, 1, 4] @11 = aten::mul.Tensor(%10, %11)\n'
  left(last + sum.replace('[1] @10', '[] @10'), ['aten::slice.Tensor', 'aten::sum', 'aten::mul.Tensor'], '%12')
  const columns =
    '%10: float32[2, 9, 1] strides [36, 4, 1] from 3 @9 = aten::slice.Tensor(%9, 2, 3, 4, 1)\n%11: float32[2, 9, 1] @10 = aten::neg(%10)\n'
  left(columns, ['aten::slice.Tensor', 'aten::neg'], '%11')
  const steps =
    '%10: float32[2, 3, 4] strides [36, 16, 1] @9 = aten::slice.Tensor(%9, 1, 0, 9, 4)\n%11: float32[2, 3, 4] @10 = aten::neg(%10)\n'
  left(steps, ['aten::slice.Tensor', 'aten::neg'], '%11')
  t.end()
})
