import t from 'tap'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { constantFolding } from '../../compiler/passes/canonical/constant-folding.js'
import { operators } from './pass-checks.js'
import { check, parse } from './pass-weights.js'

t.test('constant folding', (t) => {
  const text = `input %0: float32[2, 8] @0
constant %1: float32[4, 8] @1 = "linear"
%2: float32[8, 4] strides [1, 8] @1 = aten::t(%1)
%3: float32[8, 4] @2 = aten::sigmoid(%2)
%4: float32[2, 4] @3 = aten::mm(%0, %3)
return %4
`
  t.ok(parse(text))
  check(t, constantFolding, text.replace('[8, 4] @2', '[8, 4] strides [1, 8] @2'), ['aten::mm'])
  t.strictSame(
    operators(constantFolding.run(parse('constant %0: float32[4] @0 = "bias"\n%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n'))),
    ['aten::relu'],
  )
  t.end()
})

t.test('constants that are larger than their sources take only so much memory', (t) => {
  const count = 40
  const lines = Array.from({ length: count }, (_, i) => {
    const [wide, dense, sum] = [100 + 3 * i, 101 + 3 * i, 102 + 3 * i]
    const before = i === 0 ? '%0' : `%${102 + 3 * (i - 1)}`
    return `%${wide}: float32[262144, 4] strides [0, 1] @2 = aten::expand(%2, [262144, 4], False)
%${dense}: float32[262144, 4] @${dense} = aten::contiguous(%${wide}, 0)
%${sum}: float32[262144, 4] @${sum} = aten::add.Tensor(${before}, %${dense}, 1)
`
  })
  const text = `input %0: float32[262144, 4] @0\nconstant %2: float32[4] @2 = "bias"\n${lines.join('')}return %${102 + 3 * (count - 1)}\n`
  const after = constantFolding.run(parse(text))
  verifyGraph(after)
  const made = after.constants.filter((c) => c.derived && c.tensor.storage.byteLength >= 1 << 20)
  const bytes = made.reduce((sum, c) => sum + c.tensor.storage.byteLength, 0)
  t.ok(made.length > 1 && bytes <= 64 << 20, `${made.length} constants of ${bytes} bytes`)
  t.ok(operators(after).includes('aten::contiguous'), 'the others are made in each run')
  for (const c of after.constants) if (c.derived) c.tensor.release()
  t.end()
})
