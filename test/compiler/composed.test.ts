import t from 'tap'
import { printGraph } from '../../compiler/graph/print.js'
import { canonical } from '../../compiler/passes/canonical/canonical.js'
import { COMPOSED_FORMS } from '../../compiler/passes/canonical/composed-table.js'
import { composed } from '../../compiler/passes/canonical/composed.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { tensor } from '../../src/index.js'
import { chain, cleaned, operators, passChecks } from './pass-checks.js'

const { parse, check } = passChecks({ half: tensor([0.5], []) })

/** As in the pipeline: on canonical operators, and what is superfluous goes. */
const run: Pass = cleaned({ name: composed.name, run: (graph) => composed.run(canonical.run(graph)) })

const ERF = ['erf(%1)', 'add.Scalar(%2, 1, 1)']
const MAXIMUM = 'amax(%0, [-1], True) : 3, 1'

/** By the operator that they are: ways to write it out, one call behind the other on [3, 7]. */
const SPELLINGS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'aten::silu': [
    ['sigmoid(%0)', 'mul.Tensor(%1, %0)'],
    ['sigmoid(%0)', 'mul.Tensor(%0, %1)'],
    ['neg(%0)', 'exp(%1)', 'add.Scalar(%2, 1, 1)', 'div.Tensor(%0, %3)'],
    ['neg(%0)', 'exp(%1)', 'add.Scalar(%2, 1., 1)', 'reciprocal(%3)', 'mul.Tensor(%4, %0)'],
  ],
  'aten::sigmoid': [['neg(%0)', 'exp(%1)', 'add.Scalar(%2, 1, 1)', 'pow.Tensor_Scalar(%3, -1)']],
  'aten::hardsigmoid': [
    ['add.Scalar(%0, 3, 1)', 'relu6(%1)', 'div.Scalar(%2, 6)'],
    ['add.Scalar(%0, 3, 1)', 'clamp(%1, 0, 6)', 'mul.Scalar(%2, 0.16666667)'],
    ['div.Scalar(%0, 6)', 'add.Scalar(%1, 0.5, 1)', 'clamp(%2, 0, 1)'],
    ['mul.Scalar(%0, 0.16666667)', 'add.Scalar(%1, 0.5, 1)', 'hardtanh(%2, 0., 1.)'],
    ['add.Scalar(%0, 3, 1)', 'div.Scalar(%1, 6)', 'clamp(%2, 0, 1)'],
  ],
  'aten::hardswish': [
    ['add.Scalar(%0, 3, 1)', 'hardtanh(%1, 0, 6)', 'mul.Tensor(%0, %2)', 'div.Scalar(%3, 6)'],
    ['add.Scalar(%0, 3, 1)', 'clamp(%1, 0, 6)', 'mul.Tensor(%2, %0)', 'mul.Scalar(%3, 0.16666667)'],
    ['add.Scalar(%0, 3, 1)', 'relu6(%1)', 'div.Scalar(%2, 6)', 'mul.Tensor(%3, %0)'],
    ['add.Scalar(%0, 3, 1)', 'relu6(%1)', 'div.Scalar(%0, 6)', 'mul.Tensor(%3, %2)'],
    ['div.Scalar(%0, 6)', 'add.Scalar(%1, 0.5, 1)', 'clamp(%2, 0, 1)', 'mul.Tensor(%0, %3)'],
    ['hardsigmoid(%0)', 'mul.Tensor(%1, %0)'],
  ],
  'aten::mish': [
    ['softplus(%0, 1, 20)', 'tanh(%1)', 'mul.Tensor(%0, %2)'],
    ['exp(%0)', 'log1p(%1)', 'tanh(%2)', 'mul.Tensor(%3, %0)'],
    ['exp(%0)', 'add.Scalar(%1, 1, 1)', 'log(%2)', 'tanh(%3)', 'mul.Tensor(%0, %4)'],
  ],
  'aten::rsqrt': [
    ['square(%0)', 'sqrt(%1)', 'reciprocal(%2)'],
    ['square(%0)', 'pow.Tensor_Scalar(%1, 0.5)', 'pow.Tensor_Scalar(%2, -1)'],
  ],
  'aten::gelu': [
    ['div.Scalar(%0, 1.4142135)', ...ERF, 'mul.Scalar(%0, 0.5)', 'mul.Tensor(%4, %3)'],
    ['mul.Scalar(%0, 0.70710678)', ...ERF, 'mul.Tensor(%0, %3)', 'mul.Tensor(%4, %10)'],
    ['mul.Scalar(%0, 0.70710678)', ...ERF, 'mul.Scalar(%3, 0.5)', 'mul.Tensor(%4, %0)'],
    [
      'pow.Tensor_Scalar(%0, 3)',
      'mul.Scalar(%1, 0.044715)',
      'add.Tensor(%0, %2, 1)',
      'mul.Scalar(%3, 0.79788456)',
      'tanh(%4)',
      'add.Scalar(%5, 1, 1)',
      'mul.Scalar(%0, 0.5)',
      'mul.Tensor(%7, %6)',
    ],
    [
      'mul.Tensor(%0, %0)',
      'mul.Scalar(%1, 0.044715)',
      'add.Scalar(%2, 1, 1)',
      'mul.Scalar(%0, 0.79788456)',
      'mul.Tensor(%4, %3)',
      'tanh(%5)',
      'add.Scalar(%6, 1, 1)',
      'mul.Tensor(%0, %7)',
      'mul.Scalar(%8, 0.5)',
    ],
  ],
  'aten::softmax.int': [
    [MAXIMUM, 'sub.Tensor(%0, %1, 1)', 'exp(%2)', 'sum.dim_IntList(%3, [-1], True, None) : 3, 1', 'div.Tensor(%3, %4)'],
    [
      'amax(%0, [0], True) : 1, 7',
      'sub.Tensor(%0, %1, 1)',
      'exp(%2)',
      'sum.dim_IntList(%3, [-2], True, None) : 1, 7',
      'div.Tensor(%3, %4)',
    ],
  ],
  'aten::log_softmax.int': [['logsumexp(%0, [1], True) : 3, 1', 'sub.Tensor(%0, %1, 1)']],
}
const CONSTANTS = 'constant %10: float32[] @10 = "half"\n'

for (const [op, spellings] of Object.entries(SPELLINGS)) {
  t.test(op, (t) => {
    for (const calls of spellings) {
      // the square under a root is not negative
      const kept = op === 'aten::rsqrt' ? ['aten::square', op] : [op]
      const after = check(t, run, chain('3, 7', calls, calls.join().includes('%10') ? CONSTANTS : ''), kept, 1e-6)
      t.equal(composed.run(after), after, 'what is an operator stays')
      const dim = op.includes('softmax') ? (calls.join().includes('[0]') ? '0' : '1') : null
      if (dim !== null) t.match(printGraph(after), `(%0, ${dim}, None)`)
    }
    t.end()
  })
}

t.test('every operator that is composed has spellings', (t) => {
  t.strictSame([...new Set(COMPOSED_FORMS.map(({ op }) => op))].sort(), Object.keys(SPELLINGS).sort())
  t.end()
})

t.test('the two kinds of gelu', (t) => {
  const kinds = SPELLINGS['aten::gelu']!.map(
    (calls) => /gelu\(%0, "(\w+)"\)/.exec(printGraph(run.run(parse(chain('3, 7', calls, CONSTANTS)))))?.[1],
  )
  t.strictSame(kinds, ['none', 'none', 'none', 'tanh', 'tanh'])
  t.end()
})

t.test('inputs that are products themselves', (t) => {
  check(
    t,
    run,
    chain('3, 7', ['sin(%0)', 'mul.Tensor(%1, %0)', 'sigmoid(%2)', 'mul.Tensor(%3, %2)']),
    ['aten::sin', 'aten::mul.Tensor', 'aten::silu'],
    1e-6,
  )
  check(
    t,
    run,
    chain('3, 7', ['mul.Scalar(%0, 2)', 'hardsigmoid(%1)', 'mul.Tensor(%1, %2)']),
    ['aten::mul.Scalar', 'aten::hardswish'],
    1e-6,
  )
  t.end()
})

t.test('softmax by the maximum with its place', (t) => {
  const text = chain('3, 7', SPELLINGS['aten::softmax.int']![0]!)
  const pair = text.replace(/%1: .*/, '%1: float32[3, 1] @1, %9: int64[3, 1] @9 = aten::max.dim(%0, 1, True)')
  check(t, run, pair, ['aten::softmax.int'], 1e-6)
  t.end()
})

t.test('permuted inputs keep their layout', (t) => {
  const permuted = (calls: string): string => `input %0: float32[3, 4] @0
%1: float32[4, 3] strides [1, 4] @0 = aten::permute(%0, [1, 0])
${calls}return %3
`
  const silu = permuted(`%2: float32[4, 3] strides [1, 4] @2 = aten::sigmoid(%1)
%3: float32[4, 3] strides [1, 4] @3 = aten::mul.Tensor(%1, %2)
`)
  check(t, run, silu, ['aten::permute', 'aten::silu'], 1e-6)
  const sliced = permuted(`%2: float32[4, 3] @2 = aten::sigmoid(%1)
%3: float32[4, 3] @3 = aten::mul.Tensor(%1, %2)
`)
  t.strictSame(operators(run.run(parse(sliced))), ['aten::permute', 'aten::sigmoid', 'aten::mul.Tensor'], 'another layout')
  t.end()
})

t.test('what is something else stays', (t) => {
  const stays = (calls: readonly string[]): void => {
    const graph = canonical.run(parse(chain('3, 7', calls)))
    t.equal(composed.run(graph), graph, calls.join('; '))
  }
  const but = (op: string, spelling: number, at: number, call: string): readonly string[] => SPELLINGS[op]![spelling]!.with(at, call)
  stays(but('aten::silu', 2, 2, 'add.Scalar(%2, 2, 1)'))
  stays(['sin(%0)', 'sigmoid(%1)', 'mul.Tensor(%0, %2)'])
  stays(but('aten::mish', 0, 0, 'softplus(%0, 2, 20)'))
  stays(but('aten::hardsigmoid', 0, 0, 'add.Scalar(%0, 2, 1)'))
  stays(but('aten::hardsigmoid', 0, 1, 'clamp(%1, 0, 5)'))
  stays(but('aten::hardsigmoid', 2, 1, 'add.Scalar(%1, 0.25, 1)'))
  stays(but('aten::gelu', 0, 0, 'div.Scalar(%0, 1.5)'))
  stays(but('aten::gelu', 3, 1, 'mul.Scalar(%1, 0.05)'))
  stays(but('aten::softmax.int', 0, 0, 'amax(%0, [0], True) : 1, 7'))
  stays(but('aten::softmax.int', 0, 1, 'sub.Tensor(%0, %1, 2)'))
  stays(but('aten::softmax.int', 0, 0, 'sum.dim_IntList(%0, [-1], True, None) : 3, 1'))
  stays(['logsumexp(%0, [1], True) : 3, 1', 'sub.Tensor(%0, %1, 3)'])
  stays(['square(%0)', 'sqrt(%1)', 'neg(%2)'])
  t.end()
})

t.test('memory that is written to is left alone', (t) => {
  const text = `input %0: float32[3, 7] @0
%1: float32[3, 7] @1 = aten::clone(%0, None)
%2: float32[3, 7] @2 = aten::sigmoid(%1)
%3: float32[3, 7] @1 = aten::relu_(%1!)
%4: float32[3, 7] @4 = aten::mul.Tensor(%2, %3)
return %4
`
  check(t, run, text, ['aten::clone', 'aten::sigmoid', 'aten::relu_', 'aten::mul.Tensor'])
  t.end()
})
