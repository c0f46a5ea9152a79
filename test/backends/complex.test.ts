import t from 'tap'
import { callOperator, complex, type Input, type Tensor, tensor } from '../../src/index.js'

const z = callOperator('aten::view_as_complex', [tensor([1, 2, 3, 4], [2, 2], 'float32')]) as Tensor
const pairs = (x: unknown): unknown => (callOperator('aten::view_as_real', [x as Tensor]) as Tensor).toArray()

t.test('complex tensors are filled with real numbers', (t) => {
  for (const dtype of ['complex64', 'complex128']) {
    t.strictSame(pairs(callOperator('aten::full', [[2], 2.5, dtype])), [[2.5, 0], [2.5, 0]]) // prettier-ignore
    t.strictSame(pairs(callOperator('aten::ones', [[1], dtype])), [[1, 0]])
    t.strictSame(pairs(callOperator('aten::zeros', [[1], dtype])), [[0, 0]])
    const strided = callOperator('aten::slice.Tensor', [callOperator('aten::zeros', [[3], dtype]) as Tensor, 0, 0, 3, 2]) as Tensor
    t.strictSame(pairs(callOperator('aten::fill_.Scalar', [strided, -3])), [[-3, 0], [-3, 0]]) // prettier-ignore
  }
  t.end()
})

t.test('elements of complex tensors are complex numbers', (t) => {
  t.strictSame(z.toArray(), [complex(1, 2), complex(3, 4)])
  const double = tensor([0.1, -0.2], [], 'complex128')
  t.strictSame([double.toArray(), double.item(), callOperator('aten::item', [double])], new Array(3).fill(complex(0.1, -0.2)))
  t.equal(callOperator('aten::is_nonzero', [tensor([0, 1], [1], 'complex64')]), true)
  t.throws(() => z.item(), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('elements are put by index', (t) => {
  const put = callOperator('aten::index_put', [z, [tensor([0], [1], 'int64')], callOperator('aten::full', [[1], 7, 'complex64'])])
  t.strictSame(pairs(put), [[7, 0], [3, 4]]) // prettier-ignore
  t.end()
})

/** Of these dtypes and values, which count up. */
const counted = (shape: number[], part: 'float32' | 'float64'): Tensor => {
  const values = Array.from({ length: 2 * shape.reduce((a, b) => a * b, 1) }, (_, i) => i + 1)
  return callOperator('aten::view_as_complex', [tensor(values, [...shape, 2], part)]) as Tensor
}

t.test('operators that move elements move both parts', (t) => {
  const mask = tensor([1, 0, 1], [3], 'bool')
  const index = tensor([1n, 0n], [2], 'int64')
  const calls: [string, (z: (shape: number[]) => Tensor) => Input[], number[]][] = [
    ['aten::masked_fill.Scalar', (z) => [z([3]), mask, 7], [7, 0, 3, 4, 7, 0]],
    ['aten::masked_select', (z) => [z([3]), mask], [1, 2, 5, 6]],
    ['aten::masked_scatter', (z) => [z([3]), mask, z([3])], [1, 2, 3, 4, 3, 4]],
    ['aten::index_select', (z) => [z([3]), 0, index], [3, 4, 1, 2]],
    ['aten::gather', (z) => [z([3]), 0, index], [3, 4, 1, 2]],
    ['aten::index_fill.int_Scalar', (z) => [z([3]), 0, tensor([1n], [1], 'int64'), 7], [1, 2, 7, 0, 5, 6]],
    ['aten::scatter.value', (z) => [z([3]), 0, tensor([1n], [1], 'int64'), 7], [1, 2, 7, 0, 5, 6]],
    ['aten::scatter.src', (z) => [z([3]), 0, index, z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::index_copy', (z) => [z([3]), 0, index, z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::index_put', (z) => [z([3]), [index], z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::replication_pad1d', (z) => [z([1, 3]), [1, 2]], [1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6]],
    ['aten::constant_pad_nd', (z) => [z([1, 3]), [1, 1], 3], [3, 0, 1, 2, 3, 4, 5, 6, 3, 0]],
    ['aten::upsample_nearest1d', (z) => [z([1, 1, 2]), [4]], [1, 2, 1, 2, 3, 4, 3, 4]],
    ['aten::flip', (z) => [z([3]), [0]], [5, 6, 3, 4, 1, 2]],
  ]
  for (const part of ['float32', 'float64'] as const) {
    for (const [name, args, want] of calls) {
      const got = callOperator(
        name,
        args((shape) => counted(shape, part)),
      ) as Tensor
      t.strictSame(Array.from(got.data(), Number), want, `${name} of ${got.dtype}`)
    }
  }
  t.end()
})

t.test('kernels of real numbers refuse complex ones', (t) => {
  const calls: [string, Input[]][] = [
    ['aten::max', [z]],
    ['aten::amax', [z, [0]]],
    ['aten::aminmax', [z]],
    ['aten::sort', [z]],
    ['aten::topk', [z, 1]],
    ['aten::cummax', [z, 0]],
    ['aten::argmax', [z]],
    ['aten::softmax.int', [z, 0]],
    ['aten::unique_dim', [z, 0]],
    ['aten::relu', [z]],
    ['aten::searchsorted.Tensor', [z, z]],
  ]
  for (const [name, args] of calls) t.throws(() => callOperator(name, args), { name: 'PtliteError' }, name)
  t.end()
})

t.test("random complex numbers are PyTorch's after a seed", (t) => {
  // what PyTorch 2.13 gives after torch.manual_seed(3)
  const known: [string, Input[], number[]][] = [
    ['aten::rand', [[2], 'complex64'], [0.0042635202, 0.10556936, 0.28584248, 0.02695483]],
    ['aten::randn', [[2], 'complex64'], [0.56800199, 0.12362587, 0.062917016, -0.43396416]],
    [
      'aten::randn',
      [[9], 'complex64'],
      [
        -0.054195698, 0.25447467, -0.36377954, -1.1679038, 0.73964977, 0.36924195, -0.11795188, 0.037500277, 0.28610045, 0.43225411,
        1.3217665, -0.84515828, 0.70563769, 0.3246896, 1.7227929, -0.10380906, 0.34302741, 0.14512262,
      ],
    ],
    ['aten::randn', [[2], 'complex128'], [0.56800196, 0.12362588, 0.062917014, -0.43396417]],
  ]
  for (const [name, args, want] of known) {
    callOperator('aten::manual_seed', [3])
    const got = Array.from((callOperator(name, args) as Tensor).data(), Number)
    t.ok(
      want.every((x, i) => Math.abs(x - got[i]!) < 1e-6),
      `${name}(${JSON.stringify(args)}): ${got.join(' ')}`,
    )
  }
  t.end()
})

t.test('decompositions of complex matrices multiply to what they are of', (t) => {
  const product = (...factors: Tensor[]): Tensor => factors.reduce((a, b) => callOperator('aten::matmul', [a, b]) as Tensor)
  const adjoint = (x: Tensor): Tensor => callOperator('aten::mH', [x]) as Tensor
  const scaled = (x: Tensor, by: Tensor): Tensor => callOperator('aten::mul.Tensor', [x, by]) as Tensor
  const distance = (a: Tensor, b: Tensor): number => (callOperator('aten::dist', [a, b]) as Tensor).item() as number
  callOperator('aten::manual_seed', [5])
  for (const dtype of ['complex64', 'complex128'] as const) {
    const near = (a: Tensor, b: Tensor, what: string): void =>
      void t.ok(distance(a, b) < (dtype === 'complex64' ? 1e-4 : 1e-10), `${what} ${dtype}`)
    for (const n of [1, 2, 5]) {
      const a = callOperator('aten::randn', [[n, n], dtype]) as Tensor
      const hermitian = callOperator('aten::add.Tensor', [a, adjoint(a)]) as Tensor
      const [values, vectors] = callOperator('aten::linalg_eigh', [hermitian]) as [Tensor, Tensor]
      near(product(scaled(vectors, values), adjoint(vectors)), hermitian, 'eigh')
      const positive = product(a, adjoint(a))
      const root = callOperator('aten::linalg_matrix_sqrth', [positive]) as Tensor
      near(product(root, root), positive, 'matrix_sqrth')
      for (const upper of [false, true]) {
        const factor = callOperator('aten::linalg_cholesky', [positive, upper]) as Tensor
        near(upper ? product(adjoint(factor), factor) : product(factor, adjoint(factor)), positive, `cholesky ${upper}`)
      }
      for (const shape of [
        [n, n],
        [n + 2, n],
        [n, n + 3],
      ]) {
        // prettier-ignore
        const x = callOperator('aten::randn', [shape, dtype]) as Tensor
        const [u, s, vh] = callOperator('aten::linalg_svd', [x, false]) as [Tensor, Tensor, Tensor]
        near(product(scaled(u, s), vh), x, 'svd')
        const inverse = callOperator('aten::linalg_pinv.atol_rtol_float', [x]) as Tensor
        near(product(x, inverse, x), x, 'pinv')
        if (shape[0]! < shape[1]!) continue
        const [unitary, rest] = callOperator('aten::linalg_polar', [x]) as [Tensor, Tensor]
        near(product(unitary, rest), x, 'polar')
        near(adjoint(rest), rest, 'the Hermitian factor of polar')
      }
    }
  }
  t.end()
})
