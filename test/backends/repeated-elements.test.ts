import t from 'tap'
import { callOperator, type Input, int, type Tensor, tensor } from '../../src/index.js'

/** Operators that PyTorch 2.13 lets write into tensors whose elements share memory, and what it leaves there. */

const ints = (list: readonly number[]): Input => list.map(int)
const numbers = tensor([0, 1, 2, 3, 4, 5, 6, 7, 8], [3, 3])
/** Rows, columns that are the same, and diagonals. */
const MADE = {
  rows: () => callOperator('aten::expand', [tensor([1, -2, 3], [3]), ints([3, 3])]),
  columns: () => callOperator('aten::expand', [tensor([1, -2, 3], [3, 1]), ints([3, 3])]),
  diagonals: () => callOperator('aten::as_strided', [tensor([0, 1, 2, 3, 4, 5], [6]), ints([3, 3]), ints([1, 1])]),
} as const

const same = (row: readonly number[]): number[][] => [[...row], [...row], [...row]]
const across = (column: readonly number[]): number[][] => column.map((x) => [x, x, x])

const CASES: readonly [name: string, of: keyof typeof MADE, args: (written: Tensor) => Input[], expected: number[][]][] = [
  ['aten::tril_', 'rows', (x) => [x, int(0)], same([1, 0, 0])],
  ['aten::tril_', 'rows', (x) => [x, int(1)], same([1, -2, 0])],
  ['aten::tril_', 'columns', (x) => [x, int(0)], across([0, 0, 3])],
  ['aten::tril_', 'diagonals', (x) => [x, int(0)], [[0, 0, 0], [0, 0, 0], [0, 0, 4]]], // prettier-ignore
  ['aten::triu_', 'rows', (x) => [x, int(0)], same([0, 0, 3])],
  ['aten::triu_', 'columns', (x) => [x, int(-1)], across([1, -2, 0])],
  ['aten::triu_', 'diagonals', (x) => [x, int(0)], [[0, 0, 0], [0, 0, 0], [0, 0, 4]]], // prettier-ignore
  ['aten::tril.out', 'rows', (x) => [numbers, int(0), x], same([6, 7, 8])],
  ['aten::tril.out', 'columns', (x) => [numbers, int(0), x], across([0, 4, 8])],
  ['aten::triu.out', 'rows', (x) => [numbers, int(0), x], same([0, 0, 8])],
  ['aten::triu.out', 'columns', (x) => [numbers, int(0), x], across([2, 5, 8])],
  ['aten::threshold_', 'rows', (x) => [x, 0.5, 9], same([1, 9, 3])],
  ['aten::threshold_', 'columns', (x) => [x, 0.5, 9], across([1, 9, 3])],
  ['aten::threshold.out', 'rows', (x) => [numbers, 6.5, -1, x], same([-1, 7, 8])],
  ['aten::threshold.out', 'columns', (x) => [numbers, 4.5, -1, x], across([-1, 5, 8])],
  ['aten::conj_physical_', 'rows', (x) => [x], same([1, -2, 3])],
]

t.test('elements that share memory are what PyTorch leaves there', (t) => {
  for (const [name, of, args, expected] of CASES) {
    const written = MADE[of]() as Tensor
    const result = callOperator(name, args(written))
    t.equal(result, written, `${name} returns what it has written to`)
    t.strictSame(written.toArray(), expected, `${name} over ${of}`)
  }
  t.end()
})

t.test('others refuse them', (t) => {
  const refused: [string, Input[]][] = [
    ['aten::fill_.Tensor', [MADE.rows() as Tensor, tensor([1], [])]],
    ['aten::diag.out', [tensor([1, 2, 3], [3]), int(0), MADE.rows() as Tensor]],
    ['aten::vstack.out', [[tensor([1, 2, 3], [3]), tensor([1, 2, 3], [3]), tensor([1, 2, 3], [3])], MADE.rows() as Tensor]],
    ['aten::msort.out', [numbers, MADE.rows() as Tensor]],
  ]
  for (const [name, args] of refused) t.throws(() => callOperator(name, args), { code: 'INVALID_ARGUMENT' }, name)
  t.end()
})
