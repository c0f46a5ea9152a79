import t from 'tap'
import { allocate } from '../../../runtime/native/memory.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Storage } from '../../../runtime/tensor/storage.js'
import { become, empty, Tensor, viewOf } from '../../../runtime/tensor/tensor.js'
import { callOperator, float, int, tensor } from '../../../src/index.js'

const refused = { name: 'PtliteError', code: 'INVALID_ARGUMENT' }

t.test('a tensor lies in its storage', (t) => {
  const base = empty([6], DType.float32)
  const { byteLength } = base.storage
  t.equal(byteLength, 24)
  t.ok(viewOf(base, [2, 3], [3, 1]))
  t.ok(viewOf(base, [2, 2], [-1, 0], 1), 'a walk backwards inside of it')
  t.ok(viewOf(base, [2 ** 40], [0], 5), 'one element many times')
  t.ok(viewOf(base, [0, 100], [1, 1]), 'no elements')
  const wrong: [shape: number[], strides: number[], offset?: number][] = [
    [[7], [1]],
    [[2], [6]],
    [[1], [1], 6],
    [[1], [1], -1],
    [[2], [-1]],
    [[-1], [1]],
    [
      [-2, -3],
      [1, 1],
    ],
    [[2, 3], [1]],
    [[NaN], [1]],
    [[2], [NaN]],
    [[1], [1], NaN],
    [
      [2 ** 30, 2 ** 30],
      [0, 0],
    ],
    [
      [0, 2 ** 53],
      [0, 0],
    ],
  ]
  for (const [shape, strides, offset] of wrong) {
    const title = `[${shape.join()}] by [${strides.join()}] at ${offset ?? 0}`
    t.throws(() => viewOf(base, shape, strides, offset), refused, title)
    t.throws(() => become(base, base.storage, offset ?? 0, shape, strides), refused, `become ${title}`)
  }
  t.strictSame(base.shape, [6], 'what was refused changed nothing')
  t.throws(() => new Tensor(base.storage, 0, [6], [1], DType.float64), refused, 'another dtype')
  t.throws(() => new Tensor(base.storage, 0, [6], [1], DType.complex64), refused, 'pairs')
  t.end()
})

t.test('four-bit tensors count a byte for each element', (t) => {
  const half = Storage.allocate(4)
  t.throws(() => new Tensor(half, 0, [8], [1], DType.quint4x2, { scale: 1, zeroPoint: 0 }), refused)
  t.end()
})

t.test('no block has a negative size', (t) => {
  const before = [allocate(64), allocate(64)]
  for (const bytes of [-1, -(2 ** 60), NaN]) t.throws(() => allocate(bytes), refused, String(bytes))
  for (const bytes of [2 ** 53, Infinity]) t.throws(() => allocate(bytes), { code: 'OUT_OF_MEMORY' }, String(bytes))
  const blocks = [...before, allocate(64), allocate(64)]
  t.equal(new Set(blocks.map(({ address }) => address)).size, 4)
  t.end()
})

t.test('sizes whose product is no size', (t) => {
  t.throws(() => callOperator('aten::zeros', [[int(-2), int(-3)]]), refused)
  t.throws(() => callOperator('aten::zeros', [[int(2 ** 40), int(2 ** 40)]]), { code: 'OUT_OF_MEMORY' })
  const theta = tensor(new Float32Array(12), [2, 2, 3])
  t.throws(() => callOperator('aten::affine_grid_generator', [theta, [int(2), int(1), int(-(2 ** 60)), int(5)], false]), refused)
  t.end()
})

t.test('more elements than an array has', (t) => {
  const huge = callOperator('aten::expand', [tensor([1], [1], 'uint8'), [int(2 ** 50)]]) as Tensor
  t.throws(() => huge.data(), { name: 'PtliteError', code: 'OUT_OF_MEMORY' })
  t.throws(() => void huge.toArray(), { name: 'PtliteError', code: 'OUT_OF_MEMORY' })
  t.end()
})

t.test('fill_diagonal_ with wrap, on any strides', (t) => {
  const rows = (n: number, columns: number): number[][] =>
    Array.from({ length: n }, (_, r) => Array.from({ length: columns }, (__, c) => Number(r % (columns + 1) === c)))
  for (const [n, columns] of [[3, 1], [5, 2], [9, 3], [11, 3], [4, 3], [3, 3], [2, 3]] as const) {
    const dense = tensor(new Float32Array(n * columns), [n, columns])
    const transposed = callOperator('aten::t', [tensor(new Float32Array(n * columns), [columns, n])]) as Tensor
    const wide = tensor(new Float32Array(4 * n * columns), [2 * n, 2 * columns])
    const stepped = callOperator('aten::slice.Tensor', [callOperator('aten::slice.Tensor', [wide, 0, 0, 2 * n, 2]) as Tensor, 1, 1, 2 * columns, 2]) as Tensor
    for (const x of [dense, transposed, stepped]) {
      callOperator('aten::fill_diagonal_', [x, float(1), true])
      t.strictSame(x.toArray(), rows(n, columns), `[${n}, ${columns}] by [${x.strides.join()}]`)
    }
    const sum = (wide.data() as Float32Array).reduce((a, b) => a + b, 0)
    t.equal(sum, rows(n, columns).flat().reduce((a, b) => a + b, 0), 'and nothing beside it')
  }
  t.end()
}) // prettier-ignore
