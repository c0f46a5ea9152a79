import t from 'tap'
import { functionalize } from '../../compiler/passes/canonical/functionalize.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { optimize } from '../../compiler/passes/pipeline.js'
import { chain } from './pass-checks.js'
import { check } from './pass-weights.js'

/* Methods whose loops were unrolled, as tracing does it: where the time of a pass grows with the cube of a graph, these take minutes. */

const all: Pass = { name: 'all', run: (graph) => optimize(graph) }
const repeated = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i))

t.test('values that are used twice, again and again', (t) => {
  // as one product these would be 2 ** 48 factors
  const squares = ['sigmoid(%0)', ...repeated(48, (i) => `mul.Tensor(%${i + 1}, %${i + 1})`)]
  check(
    t,
    all,
    chain('8', squares),
    repeated(2, () => 'ptlite::fused'),
  )
  const powers = ['sigmoid(%0)', ...repeated(30, (i) => `pow.Tensor_Scalar(%${i + 1}, 3)`)]
  check(t, all, chain('8', powers), ['aten::sigmoid', ...repeated(30, () => 'aten::pow.Tensor_Scalar')])
  t.end()
})

t.test('operators in place, one behind the other', (t) => {
  const count = 1500
  const start = 'input %0: float32[8] @0\n%1: float32[8] @1 = aten::sigmoid(%0)\n'
  const steps = repeated(count, (i) => `%${i + 2}: float32[8] @1 = aten::add_.Scalar(%${i + 1}!, 0.5, 1)\n`).join('')
  check(t, functionalize, `${start}${steps}return %${count + 1}\n`, ['aten::sigmoid', ...repeated(count, () => 'aten::add.Scalar')])
  t.end()
})

t.test('operators in place on a tensor and its parts', (t) => {
  const count = 700
  const start = 'input %0: float32[2, 8] @0\n%1: float32[2, 8] @1 = aten::sigmoid(%0)\n'
  const steps = repeated(count, (i) => {
    const [whole, part] = [3 * i + 1, i % 2]
    const view = `float32[8]${part === 0 ? '' : ' from 8'} @1`
    return `%${whole + 1}: ${view} = aten::select.int(%${whole}, 0, ${part})
%${whole + 2}: ${view} = aten::mul_.Scalar(%${whole + 1}!, 0.5)
%${whole + 3}: float32[2, 8] @1 = aten::add_.Scalar(%${whole}!, 0.25, 1)
`
  }).join('')
  // what a part was changed to is seen by the operator on the whole
  const left = ['aten::sigmoid', ...repeated(count, () => ['aten::select.int', 'aten::mul_.Scalar', 'aten::add.Scalar']).flat()]
  check(t, functionalize, `${start}${steps}return %${3 * count + 1}\n`, left)
  t.end()
})
