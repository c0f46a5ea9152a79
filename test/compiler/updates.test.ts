import t from 'tap'
import { updates } from '../../compiler/passes/canonical/updates.js'
import { tensor } from '../../src/index.js'
import { operators, passChecks } from './pass-checks.js'

const { check, parse } = passChecks({ places: tensor(BigInt64Array.of(4n, 0n), [2]) })

const GIVEN = `input %0: float32[2, 6] @0
input %1: float32[2, 2] @1
`

/** A program that writes to its first argument what an operator made of it. */
function program(made: string, rest: string, returned: string): string {
  const constants = made.includes('%2') ? 'constant %2: int64[2] @2 = "places"\n' : ''
  return `${GIVEN}${constants}%3: float32[2, 6] @3 = ${made}
${rest}return ${returned}
`
}

const COPY = '%4: float32[2, 6] @0 = aten::copy_(%0!, %3, False)\n'
const SUM = '%5: float32[2, 6] @4 = aten::mul.Tensor(%3, %4)\n'

t.test('updates', (t) => {
  const copied = 'aten::index_copy(%0, 1, %2, %1)'
  const ops = (text: string): string[] => operators(updates.run(parse(text)))
  check(t, updates, program(copied, COPY + SUM, '%5'), ['aten::index_copy_', 'aten::mul.Tensor'])
  check(t, updates, program('aten::index_put(%0, [None, %2], %1, False)', COPY + SUM, '%5'), ['aten::index_put_', 'aten::mul.Tensor'])
  check(t, updates, program('aten::slice_scatter(%0, %1, 1, 3, 5, 1)', COPY + SUM, '%5'), [
    'aten::slice.Tensor',
    'aten::copy_',
    'aten::mul.Tensor',
  ])
  check(t, updates, program('aten::slice_scatter(%0, %1, 1, -3, 9223372036854775807, 2)', COPY + SUM, '%5'), [
    'aten::slice.Tensor',
    'aten::copy_',
    'aten::mul.Tensor',
  ])
  const row = '%6: float32[6] @5 = aten::neg(%7)\n'
  const select = `input %7: float32[6] @6\n${program('aten::select_scatter(%0, %6, 0, 1)', COPY + SUM, '%5').replace('%3: float32', `${row}%3: float32`)}`
  check(t, updates, select, ['aten::neg', 'aten::select.int', 'aten::copy_', 'aten::mul.Tensor'])

  const slices = 'aten::slice_scatter(%0, %1, 1, 3, 5, 1)'
  const left = (rest: string, returned: string): void => {
    const text = program(slices, rest, returned)
    t.strictSame(ops(text), operators(parse(text)))
  }
  left(`%5: float32[2, 6] @4 = aten::neg(%0)\n${COPY}`, '(%3, %5)')
  left(`%6: float32[2, 6] @4 = aten::neg(%0)\n${COPY}${SUM}`, '(%5, %6)')
  left(COPY, '%3')
  left(`${COPY}%5: float32[2, 6] @0 = aten::neg_(%4!)\n%6: float32[2, 6] @4 = aten::mul.Tensor(%3, %5)\n`, '%6')
  left(`%5: float32[2, 6] @3 = aten::neg_(%3!)\n%4: float32[2, 6] @0 = aten::copy_(%0!, %5, False)\n`, '%4')
  t.end()
})
