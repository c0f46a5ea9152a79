import { inspect } from 'node:util'
import t from 'tap'
import { isContiguous } from '../../runtime/tensor/shape.js'
import { callOperator, tensor, type Tensor } from '../../src/index.js'

/** Nothing, in as many rows as one likes. */
const emptyRows = (shape: readonly number[]): Tensor => callOperator('aten::broadcast_to', [tensor([1]), shape]) as Tensor

t.test('a tensor without elements is contiguous, whatever its strides are', (t) => {
  t.equal(isContiguous([2 ** 31, 1, 0, 4], [0, 0, 0, 0]), true)
  t.equal(isContiguous([0, 4, 4], [1, 1, 1]), true)
  t.equal(isContiguous([2, 4, 4], [1, 1, 1]), false)
  t.equal(emptyRows([2 ** 31, 1, 0, 4]).data().length, 0)
  t.end()
})

t.test('nested arrays around nothing', (t) => {
  t.strictSame(emptyRows([2, 1, 0, 4]).toArray(), [[[]], [[]]])
  t.throws(() => void emptyRows([2 ** 31, 0]).toArray(), /toArray\(\) of shape \[2147483648, 0\]/)
  t.match(inspect(emptyRows([2 ** 31, 0])), /2147483648/)
  t.end()
})
