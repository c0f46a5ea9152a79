import t from 'tap'
import { callOperator, tensor, type Tensor } from '../../src/index.js'

const SEED = 42
const seed = (): void => void callOperator('aten::manual_seed', [SEED])
const numbers = (x: Tensor): number[] => Array.from(x.data(), Number)
const close = (got: number[], want: number[]): boolean => got.length === want.length && got.every((x, i) => Math.abs(x - want[i]!) < 5e-5)

// what PyTorch 1.13 prints on the CPU after torch.manual_seed(42)
const KNOWN: readonly (readonly [string, string, readonly unknown[], readonly number[]])[] = [
  ['uniform', 'rand', [[6]], [0.8823, 0.915, 0.3829, 0.9593, 0.3904, 0.6009]],
  ['uniform in double', 'rand', [[6], 'float64'], [0.0582, 0.0629, 0.1236, 0.0526, 0.5262, 0.4768]],
  ['normal, one by one', 'randn', [[5]], [0.3367, 0.1288, 0.2345, 0.2303, -1.1229]],
  ['integers', 'randint', [10, [6]], [2, 7, 6, 4, 6, 5]],
  ['a permutation', 'randperm', [7], [1, 6, 3, 5, 4, 0, 2]],
  ['gamma', '_standard_gamma', [tensor([0.3, 1, 5, 40])], [1.238, 0.8415, 1.1094, 41.9924]],
  ['gamma in double', '_standard_gamma', [tensor([0.3, 1, 5, 40], [4], 'float64')], [1.237994, 0.84155, 1.109397, 41.992429]],
  ['binomial, few', 'binomial', [tensor([10]), tensor([0.1, 0.3, 0.5, 0.7, 0.9, 1])], [0, 1, 5, 9, 9, 10]],
  ['binomial, many', 'binomial', [tensor([1000], [1], 'float64'), tensor([0.1, 0.4, 0.6, 0.95], [4], 'float64')], [81, 379, 599, 961]],
  ['Dirichlet', '_sample_dirichlet', [tensor([0.5, 2, 1, 3, 3, 3], [2, 3])], [0.3462, 0.4298, 0.224, 0.3027, 0.2709, 0.4264]],
]

t.test("the sequence after a seed is PyTorch's", (t) => {
  for (const [name, op, args, want] of KNOWN) {
    seed()
    const got = numbers(callOperator(`aten::${op}`, args as never[]) as Tensor)
    t.ok(close(got, want as number[]), `${name}: ${got.map((x) => x.toFixed(4)).join(' ')}`)
  }
  seed()
  const block = numbers(callOperator('aten::randn', [[16]]) as Tensor)
  t.ok(close(block.slice(0, 4), [1.9269, 1.4873, 0.9007, -2.1055]), 'normal, in blocks')
  t.end()
})

t.test('a seed starts the same numbers again, in every distribution', (t) => {
  for (const op of ['uniform_', 'normal_', 'exponential_', 'cauchy_', 'log_normal_', 'bernoulli_.float', 'random_']) {
    const draw = (): number[] => numbers(callOperator(`aten::${op}`, [tensor(new Float32Array(40))]) as Tensor)
    seed()
    const first = draw()
    t.notSame(draw(), first, `${op} goes on`)
    seed()
    t.strictSame(draw(), first, `${op} starts again`)
  }
  t.end()
})

t.test('samples have the moments of their distribution', (t) => {
  seed()
  const n = 20_000
  const mean = (x: number[]): number => x.reduce((sum, v) => sum + v, 0) / x.length
  const variance = (x: number[]): number => mean(x.map((v) => (v - mean(x)) ** 2))
  const check = (name: string, x: Tensor, wantMean: number, wantVariance: number): void => {
    const values = numbers(x)
    const sigma = Math.sqrt(wantVariance / n)
    t.ok(Math.abs(mean(values) - wantMean) < 5 * sigma, `mean of ${name}`)
    t.ok(Math.abs(variance(values) / wantVariance - 1) < 0.1, `variance of ${name}`)
  }
  const call = (op: string, ...args: unknown[]): Tensor => callOperator(`aten::${op}`, args as never[]) as Tensor
  check('rand', call('rand', [n]), 0.5, 1 / 12)
  check('randn', call('randn', [n]), 0, 1)
  check('normal', call('normal.float_float', 3, 2, [n]), 3, 4)
  check('exponential_', call('exponential_', call('empty.memory_format', [n]), 2), 0.5, 0.25)
  check('bernoulli', call('bernoulli_.float', call('empty.memory_format', [n]), 0.25), 0.25, 0.1875)
  check('gamma', call('_standard_gamma', call('full', [n], 2.5, 'float32')), 2.5, 2.5)
  check('few of binomial', call('binomial', call('full', [n], 12, 'float32'), tensor([0.2])), 2.4, 1.92)
  check('most of binomial', call('binomial', call('full', [n], 90, 'float32'), tensor([0.75])), 67.5, 16.875)
  check('small poisson', call('poisson', call('full', [n], 4, 'float32')), 4, 4)
  check('large poisson', call('poisson', call('full', [n], 40, 'float32')), 40, 40)
  check('dropout', call('dropout', call('ones', [n]), 0.5, true), 1, 1)
  const choices = numbers(call('multinomial', tensor(new Float32Array([1, 0, 3])), n, true))
  t.notOk(choices.includes(1))
  t.ok(Math.abs(choices.filter((c) => c === 2).length / n - 0.75) < 0.02)
  t.end()
})

t.test('parameters without a distribution end', (t) => {
  const odd = tensor([NaN, -3, Infinity, 1e30])
  for (const op of ['_standard_gamma', '_sample_dirichlet']) t.equal(numbers(callOperator(`aten::${op}`, [odd]) as Tensor).length, 4)
  const half = tensor([0.5])
  const [nan, negative, infinite, many] = numbers(callOperator('aten::binomial', [odd, half]) as Tensor)
  t.match([nan, negative, infinite], [NaN, 0, NaN])
  t.ok(many! > 0.4e30)
  t.same(numbers(callOperator('aten::binomial', [tensor([5, 5, 5]), tensor([NaN, -1, 2])]) as Tensor), [NaN, 0, 5])
  t.throws(() => callOperator('aten::binomial', [half, tensor([0.5], [1], 'float64')]), { code: 'INVALID_DTYPE' })
  t.throws(() => callOperator('aten::_standard_gamma', [tensor([1], [1], 'int64')]), { code: 'INVALID_DTYPE' })
  t.end()
})

t.test('parameters out of range are refused', (t) => {
  const x = tensor(new Float32Array(3))
  for (const [op, ...args] of [
    ['uniform_', 2, 1],
    ['normal_', 0, -1],
    ['bernoulli_.float', 1.5],
    ['random_.from', 3, 3],
    ['dropout', -0.1, true],
    ['multinomial', 4, false],
    ['multinomial', 1, false],
  ] as const) {
    t.throws(() => callOperator(`aten::${op}`, [x, ...args]), { code: 'INVALID_ARGUMENT' }, op)
  }
  t.end()
})
