import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { composed } from '../../compiler/passes/canonical/composed.js'
import { layerNorm } from '../../compiler/passes/fuse/layer-norm.js'
import { chain, onCanonical, operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('layer norm', (t) => {
  const run = onCanonical(layerNorm, composed)
  const constants = 'constant %20: float32[6] @20 = "row"\nconstant %21: float32[6] @21 = "shift"\n'
  const centred = ['mean.dim(%0, [-1], True, None) : 5, 1', 'sub.Tensor(%0, %1, 1)']
  const variance = ['pow.Tensor_Scalar(%2, 2)', 'mean.dim(%3, [-1], True, None) : 5, 1', 'add.Scalar(%4, 1e-05, 1) : 5, 1']
  const root = ['sqrt(%5) : 5, 1', 'div.Tensor(%2, %6)']
  const affine = ['mul.Tensor(%7, %20)', 'add.Tensor(%8, %21, 1)']
  check(t, run, chain('5, 6', [...centred, ...variance, ...root]), ['aten::layer_norm'], 1e-6)
  const whole = check(t, run, chain('5, 6', [...centred, ...variance, ...root, ...affine], constants), ['aten::layer_norm'], 1e-6)
  t.match(printGraph(whole), '(%0, [6], %20, %21, 0.00001, True)')
  const rsqrt = [
    'mul.Tensor(%2, %2)',
    'mean.dim(%3, [1], True, None) : 5, 1',
    'add.Scalar(%4, 1e-05, 1) : 5, 1',
    'rsqrt(%5) : 5, 1',
    'mul.Tensor(%6, %2)',
  ]
  check(t, run, chain('5, 6', [...centred, ...rsqrt, 'mul.Tensor(%20, %7)'], constants), ['aten::layer_norm'], 1e-6)
  const biased = [
    'var.dim(%0, [-1], False, True) : 5, 1',
    'add.Scalar(%3, 1e-05, 1) : 5, 1',
    'pow.Tensor_Scalar(%4, 0.5) : 5, 1',
    'div.Tensor(%2, %5)',
  ]
  check(t, run, chain('5, 6', [...centred, ...biased]), ['aten::layer_norm'], 1e-6)
  const unbiased = chain('5, 6', [...centred, ...biased]).replace('[-1], False, True', '[-1], True, True')
  t.equal(operators(run.run(parse(unbiased))).length, 6, 'the unbiased variance is another number')
  t.end()
})
