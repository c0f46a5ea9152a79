import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Input, loadModule, type Module, type Output, PtliteError, Tensor, tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/** State in lists, tuples, dicts and the like, however it is called; test/fixtures/make_state.py has the programs. */

type Plain = number | 'fails' | { readonly shape: readonly number[]; readonly data: readonly number[] } | readonly Plain[]
const RESULTS = JSON.parse(readFileSync(fixturePath('state/results.json'), 'utf8')) as Record<string, readonly Plain[]>

function argument(i: number): Tensor {
  const x = new Float32Array(12)
  x[(i % 3) * 4 + (i % 4)] = (i % 5) - 1
  for (let j = 0; j < 4; j++) x[j]! += 0.125 * (i % 3)
  return tensor(x, [3, 4])
}

function isLike(value: unknown, expected: Plain): boolean {
  if (typeof expected === 'number') return value === expected
  if (Array.isArray(expected))
    return Array.isArray(value) && value.length === expected.length && value.every((v, i) => isLike(v, expected[i] as Plain))
  const { shape, data } = expected as Exclude<Plain, number | string | readonly Plain[]>
  if (!(value instanceof Tensor) || value.shape.join() !== shape.join()) return false
  return Array.from(value.data() as Float32Array).every((v, i) => Math.abs(v - data[i]!) <= 1e-5 + 1e-5 * Math.abs(data[i]!))
}

const sync = async (module: Module, x: Tensor): Promise<Output> => module.call('forward', [x])
const background = (module: Module, x: Tensor): Promise<Output> => module.run('forward', [x])
const WAYS = [
  ['interpreted', 'off', sync],
  ['compiled at the second call', 'auto', sync],
  ['compiled at once', 'eager', sync],
  ['in the background', 'auto', background],
  ['in the background, compiled at once', 'eager', background],
  ['now here, now there', 'auto', (module: Module, x: Tensor, i: number) => (i % 3 === 1 ? background : sync)(module, x)],
] as const

for (const [name, calls] of Object.entries(RESULTS)) {
  for (const [way, compile, call] of WAYS) {
    t.test(`${name}, ${way}, is as in PyTorch`, async (t) => {
      const module = await loadModule(fixturePath(`state/${name}.pt`), { compile })
      for (const [i, expected] of calls.entries()) {
        try {
          const value = await call(module, argument(i), i)
          t.ok(expected !== 'fails' && isLike(value, expected), `call ${i}`)
        } catch (error) {
          t.ok(expected === 'fails' && error instanceof PtliteError && error.code === 'MODEL_ERROR', `call ${i}: ${String(error)}`)
        }
      }
      module.dispose()
    })
  }
}

t.test('a weight as an argument is told from the weight', async (t) => {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    const module = await loadModule(fixturePath('state/isweight.pt'), { compile })
    const other = await loadModule(fixturePath('state/isweight.pt'), { compile: 'off' })
    const weight = module.getAttribute('weight') as Tensor
    for (let i = 0; i < 10; i++) {
      const x = i % 4 < 3 ? weight : argument(i)
      const [got, expected] = [module, other].map((m) =>
        (m.call('forward', [x === weight && m === other ? m.getAttribute('weight') : x]) as Tensor[]).map((y) => [
          ...(y.data() as Float32Array),
        ]),
      )
      t.strictSame(
        got!.flat().map((v) => v.toFixed(5)),
        expected!.flat().map((v) => v.toFixed(5)),
        `${compile}, call ${i}`,
      )
    }
  }
})

t.test('compile() of a method that changes its arguments', async (t) => {
  const args = () => [tensor(new Float32Array(12).fill(4), [3, 4]), 1, new Map([['b', argument(1)]]), [argument(2)]] as const
  for (const calls of [0, 1, 2, 3]) {
    for (const compile of ['auto', 'eager'] as const) {
      const module = await loadModule(fixturePath('state/arguments.pt'), { compile })
      for (let i = 0; i < calls; i++) module.call('forward', [...args()] as Input[])
      const given = [...args()] as Input[]
      await module.compile('forward', given)
      t.strictSame(
        [(given[2] as Map<string, Tensor>).size, (given[3] as Tensor[]).length],
        [1, 1],
        'lists and dicts of the caller stay as they are',
      )
      const before = module.getAttribute('count') as number
      const result = module.call('forward', given) as [Tensor, number, number]
      t.strictSame([result[0].toArray(), result[1], result[2]], [[1, 1, 3], 66, before + 1])
      t.strictSame([(given[2] as Map<string, Tensor>).size, (given[3] as Tensor[]).length], [2, 2])
      t.strictSame((given[3] as Tensor[])[1]!.toArray(), [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]) // prettier-ignore
      module.dispose()
    }
  }
})

t.test('states are equal where a module goes on alike, whatever its state is held in', async (t) => {
  for (const name of Object.keys(RESULTS).filter((each) => each !== 'fails')) {
    const bytes = readFileSync(fixturePath(`state/${name}.pt`))
    const [module, other] = [await loadModule(bytes), await loadModule(bytes)]
    const fresh = module.saveState()
    t.ok(fresh.equals(module.saveState()), `${name}: nothing has changed`)
    module.call('forward', [argument(0)])
    const first = module.saveState()
    module.call('forward', [argument(1)])
    const second = module.saveState()
    t.ok(second.equals(module.saveState()))
    if (name !== 'isweight') t.notOk(first.equals(second), `${name}: another call`)
    module.loadState(first)
    t.ok(module.saveState().equals(first), `${name}: the state that was put back`)
    module.call('forward', [argument(1)])
    t.ok(module.saveState().equals(second), `${name}: the same call again`)
    t.notOk(fresh.equals(other.saveState()), 'of another module')
    t.notOk(fresh.equals(undefined as unknown as typeof fresh))
  }
})
