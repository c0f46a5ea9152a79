import t from 'tap'
import { batchNorm } from '../../compiler/passes/fuse/batch-norm.js'
import { check, CONV } from './pass-weights.js'

t.test('batch norm', (t) => {
  const norm = `constant %4: float32[4] @4 = "gamma"
constant %5: float32[4] @5 = "mean"
constant %6: float32[4] @6 = "variance"
%7: float32[1, 4, 6, 6] @7 = aten::batch_norm(%3, %4, %2, %5, %6, False, 0.1, 1e-05, True)
return %7
`
  check(t, batchNorm, CONV + norm, ['aten::conv2d'], 1e-6)
  check(t, batchNorm, CONV.replace('%1, %2,', '%1, None,') + norm, ['aten::conv2d'], 1e-6)
  const both = CONV + norm.replace('return %7', '%8: float32[1, 4, 6, 6] @8 = aten::add.Tensor(%3, %7, 1)\nreturn %8')
  check(t, batchNorm, both, ['aten::conv2d', 'aten::batch_norm', 'aten::add.Tensor'])
  t.end()
})
