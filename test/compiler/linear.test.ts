import t from 'tap'
import { constantFolding } from '../../compiler/passes/canonical/constant-folding.js'
import { linearLayers } from '../../compiler/passes/canonical/linear.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { check } from './pass-weights.js'

t.test('linear layers', (t) => {
  const constants = `constant %10: float32[4, 8] @10 = "linear"
constant %11: float32[4] @11 = "bias"
%12: float32[8, 4] strides [1, 8] @10 = aten::t(%10)
`
  const run: Pass = { name: linearLayers.name, run: (graph) => linearLayers.run(constantFolding.run(graph)) }
  const text = (calls: string): string => `input %0: float32[3, 8] @0\n${constants}${calls}`
  check(t, run, text('%1: float32[3, 4] @1 = aten::addmm(%11, %0, %12, 1, 1)\nreturn %1\n'), ['aten::linear'], 1e-6)
  check(t, run, text('%1: float32[3, 4] @1 = aten::matmul(%0, %12)\nreturn %1\n'), ['aten::linear'], 1e-6)
  const sum = text('%1: float32[3, 4] @1 = aten::matmul(%0, %12)\n%2: float32[3, 4] @2 = aten::add.Tensor(%1, %11, 1)\nreturn %2\n')
  t.equal(check(t, run, sum, ['aten::linear'], 1e-6).constants.length, 2, 'the weight itself, not a copy')
  check(
    t,
    run,
    sum.replace('return %2', '%3: float32[3, 4] @3 = aten::mul.Tensor(%1, %2)\nreturn %3'),
    ['aten::linear', 'aten::add.Tensor', 'aten::mul.Tensor'],
    1e-6,
  )
  // factors are part of the constants; a bias that is multiplied by 0 is none
  for (const [factors, constants] of [
    ['2, 1', 2],
    ['1, 0.5', 2],
    ['0.25, -2', 2],
    ['0, 1', 1],
  ] as const) {
    const after = check(t, run, text(`%1: float32[3, 4] @1 = aten::addmm(%11, %0, %12, ${factors})\nreturn %1\n`), ['aten::linear'], 1e-6)
    t.equal(after.constants.length, constants, factors)
  }
  const sums: readonly (readonly [string, number])[] = [
    ['add.Tensor(%1, %11, 2)', 1],
    ['add.Tensor(%11, %1, 1)', 1],
    ['add.Tensor(%11, %1, 2)', 2],
    ['add.Tensor(%1, %1, 1)', 2],
  ]
  for (const [call, left] of sums) {
    const calls = `%1: float32[3, 4] @1 = aten::linear(%0, %10, None)\n%2: float32[3, 4] @2 = aten::${call}\nreturn %2\n`
    check(t, run, text(calls), ['aten::linear', 'aten::add.Tensor'].slice(0, left), 1e-6)
  }
  const batches = (call: string): string => `input %0: float32[2, 3, 8] @0
constant %10: float32[1, 8, 4] @10 = "matrix"
constant %11: float32[1, 1, 4] @11 = "row of four"
constant %12: float32[2, 8, 4] @12 = "matrices"
%13: float32[2, 8, 4] strides [0, 4, 1] @10 = aten::expand(%10, [2, 8, 4], False)
%1: float32[2, 3, 4] @1 = aten::${call}
return %1
`
  for (const call of ['matmul(%0, %10)', 'matmul(%0, %13)', 'baddbmm(%11, %0, %13, 0.5, 2)'])
    check(t, run, batches(call), ['aten::linear'], 1e-6)
  check(t, run, batches('matmul(%0, %12)'), ['aten::matmul'])
  const plain = `input %0: float32[3, 4] @0
constant %10: float32[4, 8] @10 = "linear"
%1: float32[3, 8] @1 = aten::matmul(%0, %10)
return %1
`
  check(t, run, plain, ['aten::linear'], 1e-6)
  t.end()
})
