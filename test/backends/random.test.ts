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
  check('small poisson', call('poisson', call('full', [n], 4, 'float32')), 4, 4)
  check('large poisson', call('poisson', call('full', [n], 40, 'float32')), 40, 40)
  check('dropout', call('dropout', call('ones', [n]), 0.5, true), 1, 1)
  const choices = numbers(call('multinomial', tensor(new Float32Array([1, 0, 3])), n, true))
  t.notOk(choices.includes(1))
  t.ok(Math.abs(choices.filter((c) => c === 2).length / n - 0.75) < 0.02)
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
