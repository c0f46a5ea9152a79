import t from 'tap'
import { callOperator, type DTypeName, type Input, type Tensor, tensor } from '../../src/index.js'
import { Random } from './support/random.js'

/** Eigenvectors are unique up to a factor only, and eigenvalues have no order, so that the properties are tested that define them. */

const random = new Random(2)
const run = (op: string, ...args: Input[]) => callOperator(`aten::${op}`, args)
const one = (op: string, ...args: Input[]): Tensor => run(op, ...args) as Tensor
const parts = (z: Tensor): Float64Array => one('view_as_real', z).data() as Float64Array

interface Matrix {
  readonly n: number
  readonly re: Float64Array
  readonly im: Float64Array | null
}

function matrix(n: number, element: (i: number, j: number) => number, imaginary?: (i: number, j: number) => number): Matrix {
  const fill = (f: (i: number, j: number) => number): Float64Array =>
    Float64Array.from({ length: n * n }, (_, at) => f(Math.floor(at / n), at % n))
  return { n, re: fill(element), im: imaginary === undefined ? null : fill(imaginary) }
}

function tensorOf({ n, re, im }: Matrix): Tensor {
  if (im === null) return tensor(re, [n, n])
  const pairs = Float64Array.from({ length: 2 * n * n }, (_, i) => (i % 2 === 0 ? re : im)[i >> 1]!)
  return one('view_as_complex', tensor(pairs, [n, n, 2]))
}

/** Largest element of A V - V diag(w), beside the largest of A. */
function residual({ n, re, im }: Matrix, w: Float64Array, v: Float64Array): number {
  let [worst, size] = [0, Number.MIN_VALUE]
  for (const x of [...re, ...(im ?? [])]) size = Math.max(size, Math.abs(x))
  for (let k = 0; k < n; k++) {
    for (let i = 0; i < n; i++) {
      let [sr, si] = [0, 0]
      for (let j = 0; j < n; j++) {
        const [a, b, x, y] = [re[i * n + j]! / size, (im?.[i * n + j] ?? 0) / size, v[2 * (j * n + k)]!, v[2 * (j * n + k) + 1]!]
        sr += a * x - b * y
        si += a * y + b * x
      }
      const [lr, li, x, y] = [w[2 * k]! / size, w[2 * k + 1]! / size, v[2 * (i * n + k)]!, v[2 * (i * n + k) + 1]!]
      worst = Math.max(worst, Math.hypot(sr - (lr * x - li * y), si - (lr * y + li * x)))
    }
  }
  return worst
}

/** Columns have norm 1 and a real element of the largest size. */
function isNormalised(n: number, v: Float64Array): boolean {
  return Array.from({ length: n }, (_, k) => k).every((k) => {
    const column = Array.from({ length: n }, (_, i) => [v[2 * (i * n + k)]!, v[2 * (i * n + k) + 1]!] as const)
    const most = Math.max(...column.map(([x, y]) => Math.hypot(x, y)))
    const norm = Math.hypot(...column.flat())
    return Math.abs(norm - 1) < 1e-12 && column.some(([x, y]) => Math.abs(y) < 1e-12 && Math.abs(x) > most * (1 - 1e-12))
  })
}

/** Pairs of a real matrix are exact conjugates, the positive imaginary part first; other values and their vectors are real. */
function arePaired(n: number, w: Float64Array, v: Float64Array): boolean {
  for (let k = 0; k < n; k++) {
    const isPair = w[2 * k + 1] !== 0
    if (isPair && !(w[2 * k + 1]! > 0 && w[2 * k + 2] === w[2 * k] && w[2 * k + 3] === -w[2 * k + 1]!)) return false
    for (let i = 0; i < n; i++) {
      const at = 2 * (i * n + k)
      if (isPair ? v[at + 2] !== v[at] || v[at + 3] !== -v[at + 1]! : v[at + 1] !== 0) return false
    }
    if (isPair) k++
  }
  return true
}

const draw = (): number => random.data(1)[0]!
const KINDS: Readonly<Record<string, (n: number) => (i: number, j: number) => number>> = {
  random: () => draw,
  symmetric: (n) => {
    const values = random.data(n * n)
    return (i, j) => values[Math.min(i, j) * n + Math.max(i, j)]!
  },
  'skew-symmetric': (n) => {
    const values = random.data(n * n)
    return (i, j) => Math.sign(i - j) * values[Math.min(i, j) * n + Math.max(i, j)]!
  },
  'cyclic permutation': (n) => (i, j) => Number(j === (i + 1) % n),
  'Jordan block': () => (i, j) => (i === j ? 2 : Number(j === i + 1)),
  'of rank 1': (n) => {
    const u = random.data(n)
    return (i, j) => u[i]! * u[j]!
  },
  ones: () => () => 1,
  zeros: () => () => 0,
  huge: () => () => draw() * 1e300,
  tiny: () => () => draw() * 1e-300,
  'badly scaled': () => (i, j) => draw() * 10 ** (3 * (i - j)),
}

for (const [name, make] of Object.entries(KINDS)) {
  t.test(`eigenvalues and vectors of matrices: ${name}`, (t) => {
    for (const n of [1, 2, 3, 4, 7, 20]) {
      for (const a of [matrix(n, make(n)), matrix(n, make(n), make(n))]) {
        const [values, vectors] = run('linalg_eig', tensorOf(a)) as [Tensor, Tensor]
        const [w, v] = [parts(values), parts(vectors)]
        const title = `${n}, ${a.im === null ? 'real' : 'complex'}`
        t.ok(residual(a, w, v) < 1e-13 * n, `A V = V W: ${title}`)
        t.ok(isNormalised(n, v), `vectors are normalised: ${title}`)
        if (a.im === null) t.ok(arePaired(n, w, v), `conjugate pairs: ${title}`)
      }
    }
    t.end()
  })
}

t.test('eigvals gives the roots of a polynomial from its companion matrix', (t) => {
  // (x - 1) (x - 2) (x^2 + 4) = x^4 - 3 x^3 + 6 x^2 - 12 x + 8
  const companion = tensor([3, -6, 12, -8, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], [4, 4], 'float64')
  const w = parts(one('linalg_eigvals', companion))
  const roots = Array.from({ length: 4 }, (_, k) => [w[2 * k]!, w[2 * k + 1]!] as const)
  const want = [[0, -2], [0, 2], [1, 0], [2, 0]] // prettier-ignore
  roots.sort((a, b) => (Math.abs(a[0] - b[0]) < 1e-9 ? a[1] - b[1] : a[0] - b[0]))
  t.ok(roots.every(([x, y], k) => Math.hypot(x - want[k]![0]!, y - want[k]![1]!) < 1e-12), roots.join(' ')) // prettier-ignore
  t.end()
})

t.test('dtypes, batches, empty matrices and out', (t) => {
  const pairs: [DTypeName, DTypeName][] = [['float32', 'complex64'], ['float64', 'complex128']] // prettier-ignore
  for (const [real, complex] of pairs) {
    const x = tensor(random.data(18), [2, 3, 3], real)
    const [values, vectors] = run('linalg_eig', x) as [Tensor, Tensor]
    t.match(
      [values, vectors],
      [
        { dtype: complex, shape: [2, 3] },
        { dtype: complex, shape: [2, 3, 3] },
      ],
    )
    t.match(run('linalg_eig', one('slice.Tensor', x, 0, 0, 0)), [{ shape: [0, 3] }, { shape: [0, 3, 3] }])
    t.match(run('linalg_eigvals', tensor([], [2, 0, 0], real)), { dtype: complex, shape: [2, 0] })
    const out = one('zeros', [0], 'complex128')
    t.equal(run('linalg_eigvals.out', x, out), out)
    t.match(out, { shape: [2, 3], dtype: 'complex128' })
    const outs = [one('zeros', [0], complex), one('zeros', [0], complex)] as const
    t.same(
      (run('linalg_eig.out', x, ...outs) as Tensor[]).map((o) => o.toArray()),
      [values.toArray(), vectors.toArray()],
    )
  }
  t.end()
})

t.test('what has no eigenvalues is refused', (t) => {
  for (const op of ['linalg_eig', 'linalg_eigvals']) {
    t.throws(() => run(op, tensor([1, 2, 3, 4, 5, 6], [2, 3])), { code: 'INVALID_ARGUMENT' })
    t.throws(() => run(op, tensor([1, NaN, 3, 4], [2, 2])), { code: 'INVALID_ARGUMENT' })
    t.throws(() => run(op, tensor([1, Infinity, 3, 4], [2, 2])), { code: 'INVALID_ARGUMENT' })
    t.throws(() => run(op, tensor([1, 2, 3, 4], [2, 2], 'int64')), { code: 'INVALID_DTYPE' })
    t.throws(() => run(op, tensor([1, 2])), { code: 'INVALID_ARGUMENT' })
  }
  t.throws(() => run('linalg_eigvals.out', tensor([1, 2, 3, 4], [2, 2]), tensor([0])), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('pivots that linalg_ldl_factor cannot give are refused', (t) => {
  const factors = tensor([2, 0, 0, 1, 2, 0, 0, 1, 2], [3, 3])
  const b = tensor([1, 2, 3], [3, 1])
  for (const pivots of [
    [0, 2, 3],
    [1, 2, 4],
    [1, 2, -3],
    [-2, -3, 3],
    [1, 2, 2 ** 31 - 1],
  ]) /* prettier-ignore */ {
    t.throws(() => run('linalg_ldl_solve', factors, tensor(pivots, [3], 'int32'), b), { code: 'INVALID_ARGUMENT' }, pivots.join())
  }
  t.end()
})
