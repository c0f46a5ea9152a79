import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import * as ptlite from '../../src/index.js'
import { FUNCTIONS, METHODS } from '../../src/values/generated/tensor-methods.js'
import { rowsOf } from '../../src/values/method-table.js'

const { callOperator, cat, stack, Tensor, tensor } = ptlite

interface Shown {
  readonly dtype: ptlite.DTypeName
  readonly shape: readonly number[]
  readonly data: readonly (number | boolean)[]
}
interface Case {
  readonly name: string
  readonly self: string | null
  readonly args: readonly unknown[]
  readonly expected: Shown | readonly Shown[]
  readonly seed?: number
}
const { inputs, cases } = JSON.parse(readFileSync(new URL('../fixtures/tensor-methods.json', import.meta.url), 'utf8')) as {
  readonly inputs: Readonly<Record<string, Shown>>
  readonly cases: readonly Case[]
}
const given = new Map(Object.entries(inputs).map(([name, { data, shape, dtype }]) => [name, tensor([...data], shape, dtype)]))
const argumentOf = (arg: unknown): unknown =>
  typeof arg === 'string' && given.has(arg) ? given.get(arg) : Array.isArray(arg) ? arg.map(argumentOf) : arg

function same(t: Test, found: ptlite.Tensor, expected: Shown, name: string): void {
  t.equal(found.dtype, expected.dtype, `${name}: dtype`)
  t.same(found.shape, expected.shape, `${name}: shape`)
  const data = found.numbers()
  const differ = expected.data.filter((x, i) => Math.abs(Number(x) - data[i]!) > 1e-6 * Math.max(1, Math.abs(Number(x))))
  t.same(differ, [], `${name}: ${data.join(', ')}`)
}

type Callable = (...args: readonly unknown[]) => unknown

t.test('methods and functions have the results of PyTorch', async (t) => {
  for (const { name, self, args, expected, seed } of cases) {
    if (seed !== undefined) callOperator('aten::manual_seed', [seed])
    const values = args.map(argumentOf)
    const owner = self === null ? null : (given.get(self)! as unknown as Readonly<Record<string, Callable>>)
    const found = owner === null ? (ptlite[name as 'cat'] as Callable)(...values) : owner[name]!(...values)
    const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [value as T])
    const [founds, expecteds] = [listOf<ptlite.Tensor>(found), listOf<Shown>(expected)]
    t.equal(founds.length, expecteds.length, name)
    founds.forEach((one, i) => same(t, one, expecteds[i]!, `${name}(${JSON.stringify(args).slice(1, -1)})`))
  }
})

t.test('each of them is tried', async (t) => {
  const tried = (isMethod: boolean): string[] =>
    [...new Set(cases.filter(({ self }) => (self !== null) === isMethod).map(({ name }) => name))].sort()
  t.same(tried(true), [...rowsOf(METHODS).keys()].sort())
  t.same(tried(false), [...rowsOf(FUNCTIONS).keys()].sort())
})

t.test('arguments that none of their operators takes are refused', async (t) => {
  const x = tensor([[1, 2], [3, 4]]) // prettier-ignore
  const loose = x as unknown as Readonly<Record<string, Callable>>
  for (const [name, ...args] of [
    ['add', '1'],
    ['add'],
    ['max', 'x'],
    ['max', 0, 1],
    ['clamp'],
    ['clamp', x, 1],
    ['where', x.gt(1)],
    ['sum', 'float'],
    ['split', x],
    ['gather', 0],
    ['relu', 1],
  ] as const)
    t.throws(() => loose[name]!(...args), { code: 'INVALID_ARGUMENT' }, `${name}(${args.length})`)
  t.throws(() => ptlite.zeros([-1]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => ptlite.zeros(2 as never), { code: 'INVALID_ARGUMENT' })
  t.throws(() => ptlite.zeros([2], 'float' as never), { code: 'INVALID_ARGUMENT' })
  t.throws(() => ptlite.arange(0, 1, 0), { code: 'INVALID_ARGUMENT' })
  t.throws(() => ptlite.ones([2 ** 40, 2 ** 12]), { code: 'OUT_OF_MEMORY' })
  t.throws(() => cat([]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => cat([x, tensor([[1, 2, 3]])]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => cat(x as unknown as ptlite.Tensor[]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => stack([x, tensor([1])]), { code: 'INVALID_ARGUMENT' })
  const gone = tensor([[1, 2]])
  gone.dispose()
  t.throws(() => cat([x, gone]), { code: 'DISPOSED' })
  t.throws(() => gone.max(0), { code: 'DISPOSED' })
})

t.test('arguments that are left out before others have their defaults', async (t) => {
  const x = tensor([[1, 2, 3]])
  t.same(x.sum(undefined, true).shape, [1, 1])
  t.same(x.amax(undefined, true).shape, [1, 1])
  t.same(x.topk(1, undefined, false)[0].toArray(), [[1]])
  t.same(x.slice(1, undefined, 2).toArray(), [[1, 2]])
  t.same(x.clamp(undefined, 2).toArray(), [[1, 2, 2]])
})

t.test('rows and elements', async (t) => {
  const x = tensor([[1, 2, 3], [4, 5, 6]]) // prettier-ignore
  t.same(x.at(-1).toArray(), [4, 5, 6])
  t.equal(x.at(1, 0).item(), 4)
  t.equal(x.at(), x)
  t.same([...x].map((row) => row.toArray()), [[1, 2, 3], [4, 5, 6]]) // prettier-ignore
  t.same(
    Array.from(x.at(0), (element) => element.item()),
    [1, 2, 3],
  )
  t.same([...tensor([], [0, 2])], [])
  t.throws(() => x.at(2), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.at(0, 0, 0), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.at('0' as never), { code: 'INVALID_ARGUMENT' })
  t.throws(() => [...x.at(0, 0)], TypeError)
  const fake = Object.create(Tensor.prototype) as ptlite.Tensor
  t.throws(() => [...fake], { code: 'INVALID_ARGUMENT' })
  const gone = tensor([1])
  gone.dispose()
  t.throws(() => [...gone], { code: 'DISPOSED' })
})
