import t from 'tap'
import { callOperator, type Input, int, float, type Tensor, tensor } from '../../src/index.js'

const ones = (...shape: number[]): Tensor => tensor(new Array<number>(shape.reduce((n, size) => n * size, 1)).fill(1), shape)
const rows = tensor([0, 2], [2], 'int64')
const zeros = tensor(new Array<number>(12).fill(0), [3, 4], 'int64')
const mask = tensor([true, false, false, true, true, false, false, true, true, false, false, true], [3, 4])
const five = tensor([5], [])

/** 0, 1, 2 in a column, each repeated four times in the same memory. */
const repeated = (): Tensor => callOperator('aten::expand', [tensor([0, 1, 2], [3, 1]), [3, 4]]) as Tensor

// what PyTorch 2.13 does
const TAKEN: [string, Input[], number[]][] = [
  ['aten::index_put_', [[rows], five], [5, 1, 5]],
  ['aten::index_put_', [[rows], five, true], [20, 1, 22]],
  ['aten::index_put_', [[mask], five], [5, 5, 5]],
  ['aten::index_put_', [[mask], tensor([1, 2, 3, 4, 5, 6])], [2, 4, 6]],
  ['aten::index_put_', [[null, rows], five], [5, 5, 5]],
  ['aten::_index_put_impl_', [[rows], five], [5, 1, 5]],
  ['aten::index_fill_.int_Scalar', [int(0), rows, float(5)], [5, 1, 5]],
  ['aten::index_fill_.int_Tensor', [int(1), rows, five], [5, 5, 5]],
  ['aten::masked_fill_.Scalar', [mask, float(5)], [5, 5, 5]],
  ['aten::masked_fill_.Tensor', [mask, five], [5, 5, 5]],
  ['aten::fill_.Scalar', [float(5)], [5, 5, 5]],
  ['aten::zero_', [], [0, 0, 0]],
  ['aten::fill_diagonal_', [float(1)], [1, 1, 1]],
]
const REFUSED: [string, Input[]][] = [
  ['aten::index_copy_', [int(0), rows, ones(2, 4)]],
  ['aten::index_copy_', [int(1), rows, ones(3, 2)]],
  ['aten::index_add_', [int(0), rows, ones(2, 4)]],
  ['aten::index_reduce_', [int(0), rows, ones(2, 4), 'amax']],
  ['aten::scatter_.src', [int(0), zeros, ones(3, 4)]],
  ['aten::scatter_.src', [int(1), zeros, ones(3, 4)]],
  ['aten::scatter_.value', [int(0), zeros, float(1)]],
  ['aten::scatter_add_', [int(0), zeros, ones(3, 4)]],
  ['aten::scatter_reduce_.two', [int(0), zeros, ones(3, 4), 'sum']],
  ['aten::masked_scatter_', [mask, ones(12)]],
  ['aten::put_', [rows, ones(2)]],
  ['aten::copy_', [ones(3, 4)]],
  ['aten::add_.Scalar', [float(1)]],
  ['aten::relu_', []],
  ['aten::clamp_', [float(0), float(1)]],
  ['aten::addmm_', [ones(3, 2), ones(2, 4)]],
  ['aten::normal_', []],
  ['aten::bernoulli_.float', [float(0.5)]],
  ['aten::cumsum_', [int(0)]],
  ['aten::renorm_', [float(2), int(0), float(1)]],
  ['aten::lerp_.Scalar', [ones(3, 4), float(0.5)]],
]

t.test('operators that write to elements which share memory', (t) => {
  for (const [name, args, wanted] of TAKEN) {
    const x = repeated()
    callOperator(name, [x, ...args])
    t.same(x.toArray(), wanted.map((n) => [n, n, n, n]), name) // prettier-ignore
  }
  for (const [name, args] of REFUSED) {
    t.throws(
      () => callOperator(name, [repeated(), ...args]),
      { code: 'INVALID_ARGUMENT', message: /refers to a single memory location/ },
      name,
    )
  }
  t.end()
})
