import t from 'tap'
import { callOperator, float, int, type Tensor, tensor } from '../../../src/index.js'

const f32 = (values: number[], shape?: number[]): Tensor => tensor(Float32Array.from(values), shape ?? [values.length])
const i8 = (values: number[]): Tensor => tensor(Int8Array.from(values))
const run = (op: string, ...args: unknown[]): Tensor => callOperator(`aten::${op}`, args as never[]) as Tensor
const values = (x: Tensor): number[] => Array.from(x.data(), Number)

t.test('types promote by kind: dimensions before 0-d tensors before numbers', (t) => {
  t.equal(run('add.Tensor', i8([1]), tensor(Int32Array.of(1)), int(1)).dtype, 'int32')
  t.equal(run('add.Scalar', i8([1]), int(1000)).dtype, 'int8')
  t.equal(run('add.Scalar', i8([1]), float(1)).dtype, 'float32')
  t.equal(run('mul.Tensor', f32([1]), tensor(Float64Array.of(2), [])).dtype, 'float32')
  t.equal(run('mul.Tensor', i8([1]), tensor(BigInt64Array.of(2n), [])).dtype, 'int8')
  t.equal(run('div.Tensor', i8([1]), i8([2])).dtype, 'float32')
  t.equal(run('eq.Tensor', f32([1]), i8([1])).dtype, 'bool')
  t.end()
})

t.test('integers wrap around', (t) => {
  t.strictSame(values(run('add.Scalar', i8([127]), int(1))), [-128])
  t.strictSame(values(run('mul.Tensor', i8([100]), i8([3]))), [44])
  const big = tensor(BigInt64Array.of(2n ** 63n - 1n))
  t.equal((run('add.Scalar', big, int(1)).data() as BigInt64Array)[0], -(2n ** 63n))
  t.equal((run('add.Scalar', tensor(BigInt64Array.of(0n)), int(2n ** 62n + 1n)).data() as BigInt64Array)[0], 2n ** 62n + 1n)
  t.end()
})

t.test('division of integers', (t) => {
  const a = tensor(Int32Array.of(7, -7, 7, -7))
  const b = tensor(Int32Array.of(2, 2, -2, -2))
  t.strictSame(values(run('div.Tensor_mode', a, b, 'floor')), [3, -4, -4, 3])
  t.strictSame(values(run('div.Tensor_mode', a, b, 'trunc')), [3, -3, -3, 3])
  t.strictSame(values(run('remainder.Tensor', a, b)), [1, 1, -1, -1])
  t.strictSame(values(run('fmod.Tensor', a, b)), [1, -1, 1, -1])
  t.throws(() => run('floor_divide', a, tensor(Int32Array.of(0))), { code: 'INVALID_ARGUMENT' })
  const lowest = tensor(BigInt64Array.of(-(2n ** 63n)))
  t.equal((run('floor_divide', lowest, tensor(BigInt64Array.of(-1n))).data() as BigInt64Array)[0], -(2n ** 63n))
  t.end()
})

t.test('NaN spreads through bounds and comparisons as in PyTorch', (t) => {
  const x = f32([NaN, 1])
  t.strictSame(values(run('maximum', x, f32([0, NaN]))), [NaN, NaN])
  t.strictSame(values(run('fmax', x, f32([0, NaN]))), [0, 1])
  t.strictSame(values(run('clamp', x, float(0), float(0.5))), [NaN, 0.5])
  t.strictSame(values(run('relu', x)), [NaN, 1])
  t.strictSame(values(run('ne.Tensor', x, x)), [1, 0])
  t.end()
})

t.test('results agree with plain loops for any shape and stride', (t) => {
  const shapes = [[3], [2, 5], [4, 1, 3], [2, 3, 4, 5], [1, 70, 50], [65, 3]]
  for (const shape of shapes) {
    const n = shape.reduce((p, c) => p * c, 1)
    const a = f32(
      Array.from({ length: n }, (_, i) => (i % 13) - 6),
      shape,
    )
    const turned = run(
      'permute',
      a,
      shape.map((_, d) => int(shape.length - 1 - d)),
    )
    const b = run('contiguous', turned)
    const sum = values(run('add.Tensor', turned, b, int(1)))
    t.strictSame(
      sum,
      values(b).map((x) => 2 * x),
      `transposed [${shape.join()}]`,
    )
    const last = f32(Array.from({ length: shape.at(-1)! }, (_, i) => i))
    const product = values(run('mul.Tensor', a, last))
    t.strictSame(
      product,
      values(a).map((x, i) => x * (i % shape.at(-1)!)),
      `broadcast [${shape.join()}]`,
    )
    const halves = values(run('to.dtype', run('to.dtype', turned, 'int16'), 'float32'))
    t.strictSame(halves, values(b), `converted [${shape.join()}]`)
  }
  t.end()
})

t.test('in place and out', (t) => {
  const x = f32([1, 2, 3, 4], [2, 2])
  const row = run('select.int', x, int(0), int(1))
  run('mul_.Scalar', row, float(10))
  t.strictSame(values(x), [1, 2, 30, 40], 'a view writes into its base')
  t.throws(() => run('add_.Tensor', f32([1]), f32([1, 2]), int(1)), { code: 'INVALID_ARGUMENT' })
  t.throws(() => run('add_.Scalar', tensor(Int32Array.of(1)), float(0.5)), { code: 'INVALID_DTYPE' })
  const out = f32([9])
  run('add.out', x, x, int(1), out)
  t.strictSame(
    [out.shape, values(out)],
    [
      [2, 2],
      [2, 4, 60, 80],
    ],
    'out is resized',
  )
  const spread = run('expand', f32([1]), [int(3)])
  t.throws(() => run('add_.Scalar', spread, float(1)), { code: 'INVALID_ARGUMENT' }, 'elements that share memory are not written')
  const line = f32([1, 2, 3, 4])
  const ahead = run('slice.Tensor', line, int(0), int(1), int(4))
  const behind = run('slice.Tensor', line, int(0), int(0), int(3))
  t.throws(() => run('copy_', ahead, behind), { code: 'INVALID_ARGUMENT' }, 'nor memory that is read at an offset')
  t.end()
})

t.test('where and lerp take numbers and tensors', (t) => {
  const mask = tensor(Uint8Array.of(1, 0), [2], 'bool')
  t.strictSame(values(run('where.ScalarOther', mask, f32([1, 2]), float(-1))), [1, -1])
  t.strictSame(values(run('where.self', mask, f32([1, 2]), f32([5], [1]))), [1, 5])
  t.strictSame(values(run('lerp.Scalar', f32([0, 0]), f32([4, 8]), float(0.25))), [1, 2])
  t.end()
})

t.test('logic of bools: dense, in place, on shared memory and strided', (t) => {
  const bools = (values: number[], shape?: number[]): Tensor => tensor(Uint8Array.from(values), shape ?? [values.length], 'bool')
  const a = [0, 0, 1, 1]
  const b = [0, 1, 0, 1]
  const table = { and: [0, 0, 0, 1], or: [0, 1, 1, 1], xor: [0, 1, 1, 0] }
  for (const [op, expected] of Object.entries(table)) {
    t.strictSame(values(run(`logical_${op}`, bools(a), bools(b))), expected)
    t.strictSame(values(run(`bitwise_${op}.Tensor`, bools(a), bools(b))), expected)
    const written = bools(a)
    t.equal(run(`logical_${op}_`, written, bools(b)), written)
    t.strictSame(values(written), expected)
    const transposed = callOperator('aten::t', [bools(b, [2, 2])]) as Tensor
    t.strictSame(
      values(run(`bitwise_${op}.Tensor`, bools(a, [2, 2]), transposed)),
      values(run(`logical_${op}`, bools(a, [2, 2]), transposed)),
    )
  }
  t.strictSame(values(run('logical_not', bools(a))), [1, 1, 0, 0])
  t.strictSame(values(run('bitwise_not', bools(a))), [1, 1, 0, 0])
  const long = bools(Array.from({ length: 9 }, (_, i) => i & 1))
  const head = callOperator('aten::slice.Tensor', [long, int(0), int(0), int(8), int(1)]) as Tensor
  const tail = callOperator('aten::slice.Tensor', [long, int(0), int(1), int(9), int(1)]) as Tensor
  t.throws(() => run('logical_xor_', head, tail), { code: 'INVALID_ARGUMENT' })
  t.end()
})
