import t from 'tap'
import { permutedSteps } from '../../compiler/passes/canonical/permuted-steps.js'
import { cleaned, passChecks, random } from './pass-checks.js'

const { parse, check } = passChecks({ scale: random([3, 1, 1]), row: random([5]), image: random([1, 3, 4, 5]) })

const LAST = '%1: float32[2, 3, 4, 5] strides [60, 1, 15, 3] @0 = aten::permute(%0, [0, 3, 1, 2])'
const image = (id: number): string => `%${id}: float32[2, 3, 4, 5] strides [60, 1, 15, 3] @${id}`
const graph = (lines: readonly string[]): string => ['input %0: float32[2, 4, 5, 3] @0', ...lines, ''].join('\n')
const BACK = '%9: float32[2, 4, 5, 3] @5 = aten::permute(%5, [0, 2, 3, 1])\n%10: float32[2, 4, 5, 3] @10 = aten::relu(%9)\nreturn %10'

t.test('steps between a permutation and its inverse are dense', (t) => {
  const text = graph([
    'constant %20: float32[3, 1, 1] @20 = "scale"',
    'constant %21: float32[5] @21 = "row"',
    'constant %22: float32[1, 3, 4, 5] @22 = "image"',
    LAST,
    `${image(2)} = aten::mul.Tensor(%1, %20)`,
    `${image(3)} = aten::add.Tensor(%2, %21, 1)`,
    `${image(4)} = aten::gelu(%3, "none")`,
    `${image(5)} = aten::sub.Tensor(%4, %22, 1)`,
    BACK,
  ])
  const left = ['aten::mul.Tensor', 'aten::add.Tensor', 'aten::gelu', 'aten::permute', 'aten::sub.Tensor', 'aten::relu']
  const after = check(t, cleaned(permutedSteps), text, left)
  for (const node of after.nodes.filter((n) => n.op !== 'aten::permute')) {
    const [result] = node.results
    t.strictSame(result?.kind === 'value' ? after.values.get(result.id)!.type.strides : [], [60, 15, 3, 1])
  }
  t.equal(permutedSteps.run(after), after)
  t.end()
})

t.test('an operand of another layout is read through the permutation', (t) => {
  const text = graph(['input %6: float32[2, 3, 4, 5] @6', LAST, `${image(5)} = aten::add.Tensor(%1, %6, 1)`, BACK])
  check(t, cleaned(permutedSteps), text, ['aten::permute', 'aten::add.Tensor', 'aten::relu'])
  t.end()
})

t.test('what stays', (t) => {
  const stays = (lines: readonly string[]): void => {
    const before = parse(graph(lines))
    t.equal(permutedSteps.run(before), before, lines.join('\n'))
  }
  // the layout of an output is that of the interpreter
  stays([LAST, `${image(5)} = aten::relu(%1)`, 'return %5'])
  // a row for each of the channels is no constant
  stays(['input %6: float32[5] @6', LAST, `${image(5)} = aten::add.Tensor(%1, %6, 1)`, BACK])
  t.end()
})
