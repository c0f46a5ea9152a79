import t, { type Test } from 'tap'
import { loadModule, type Module, type Tensor, tensor } from '../../src/index.js'
import { writeProgram } from '../differential/archive.js'
import type { Program } from '../differential/program.js'
import { ANY, type Type, X } from '../differential/types.js'

const [ROWS, COLUMNS] = [8, 4]

/** A module with a cache of eight rows, and a method of `x` and `at`, whose first element says where. */
function archive(body: readonly string[], result: string, returns: Type = X): Uint8Array {
  const program: Program = {
    family: 'positions',
    seed: 0,
    namedTuples: [],
    classes: [
      {
        name: 'M',
        attributes: [
          { name: 'cache', type: 'Tensor', value: { storage: 0, shape: [ROWS, COLUMNS], strides: [COLUMNS, 1], offset: 0, id: 0 } },
        ],
        methods: [
          {
            name: 'forward',
            parameters: [
              { name: 'x', type: X },
              { name: 'at', type: ANY },
            ],
            returns,
            body: body.map((text) => ({ kind: 'line', text })),
            result,
          },
        ],
      },
    ],
    storages: [{ dtype: 'float32', data: Array.from({ length: ROWS * COLUMNS }, (_, i) => i / 8) }],
    calls: [],
    looks: 'last',
  }
  return writeProgram(program)
}

const input = (call: number): Tensor =>
  tensor(
    Float32Array.from({ length: 2 * COLUMNS }, (_, i) => Math.sin(i + call)),
    [2, COLUMNS],
  )
const place = (at: number): Tensor => tensor(BigInt64Array.of(BigInt(at), 3n), [2])

interface Pair {
  readonly eager: Module
  readonly off: Module
}

async function pairOf(body: readonly string[], result: string, returns?: Type): Promise<Pair> {
  const file = archive(body, result, returns)
  return { eager: await loadModule(file, { compile: 'eager' }), off: await loadModule(file, { compile: 'off' }) }
}

const cacheOf = (module: Module): unknown => (module.getAttribute('cache') as Tensor).toArray()

/** Calls both, whose results, errors and states are to be the same. */
function compare(t: Test, { eager, off }: Pair, places: readonly number[]): void {
  for (const [call, at] of places.entries()) {
    const [found, wanted] = [eager, off].map((module) => {
      try {
        return module.forward(input(call), place(at))
      } catch (error) {
        return (error as Error).message.split('\n')[0]
      }
    })
    const values = (of: unknown): unknown => (typeof of === 'string' ? of : [(of as Tensor).dtype, (of as Tensor).toArray()])
    t.strictSame(values(found), values(wanted), `call ${call}, at ${at}`)
    t.strictSame(cacheOf(eager), cacheOf(off), `the cache after call ${call}`)
  }
}

const READ = 'p = int(torch.select(at, 0, 0))'
const USES = ['m = torch.le(torch.arange(8), torch.add(p, 1))', 'y = torch.matmul(torch.relu(x), torch.t(self.cache))']
const RESULT = 'torch.where(m, torch.tanh(y), torch.mul(y, p))'
const EVERYWHERE = [0, 1, 2, 6, 3, 0, 5, 4]

const WRITES: Readonly<Record<string, string>> = {
  narrow: 'd = torch.copy_(torch.narrow(self.cache, 0, p, 2), torch.tanh(x))',
  slice: 'd = torch.copy_(torch.slice(self.cache, 0, p, torch.add(p, 2)), torch.tanh(x))',
  slice_scatter: 'd = torch.copy_(self.cache, torch.slice_scatter(self.cache, torch.tanh(x), 0, p, torch.add(p, 2)))',
}

for (const [name, write] of Object.entries(WRITES)) {
  t.test(`${name}: a place that a tensor holds is data of one plan`, async (t) => {
    const pair = await pairOf([READ, write, ...USES], RESULT)
    compare(t, pair, EVERYWHERE)
    const plans = pair.eager.plans()
    t.equal(plans.length, 1)
    t.equal(plans[0]!.state, 'plan')
    t.strictSame(plans[0]!.region, { from: null, until: null })
  })

  t.test(`${name}: a place that is out of range is an error, or counts from the end`, async (t) => {
    const pair = await pairOf([READ, write, ...USES], RESULT)
    compare(t, pair, [0, 1, 2, 7, 3, 99, -3, -2, -1, -99, 4, 5])
  })
}

t.test('a write at a place that a tensor holds, to what is read there too', async (t) => {
  const body = [READ, 'd = torch.copy_(torch.slice(self.cache, 0, p, torch.add(p, 2)), torch.slice(self.cache, 0, 0, 2))']
  const pair = await pairOf([...body, ...USES], RESULT)
  compare(t, pair, [4, 5, 2, 0, 1, 3, 6, 1])
})

t.test('a number that was written before it is read', async (t) => {
  const pair = await pairOf(['d = torch.add_(at, 1)', READ, WRITES.narrow!, ...USES], RESULT)
  compare(t, pair, EVERYWHERE)
})

t.test('a number that decides how often, or how much', async (t) => {
  const turns = await pairOf([READ, 'y = torch.repeat(torch.tanh(torch.relu(x)), [p, 1])'], 'torch.sigmoid(torch.exp(y))')
  compare(t, turns, EVERYWHERE)
  t.match(turns.eager.plans()[0]?.reason, /reads the contents of a tensor/)
})

t.test('a number that decides where a call goes on', async (t) => {
  const pair = await pairOf([READ, 'y = torch.tanh(torch.relu(x))', 'z = torch.mul(y, float(torch.gt(p, 2)))'], 'torch.sigmoid(z)')
  compare(t, pair, [0, 1, 2, 3, 4, 0, 5, 1, 6, 6, 0, 2, 3])
})

t.test('a copy of rows at a place that a tensor holds', async (t) => {
  const body = [READ, 'z = torch.slice_copy(self.cache, 0, p, torch.add(p, 2), 1)', 'y = torch.relu(torch.tanh(x))']
  const result = 'torch.add(torch.mul(torch.tanh(z), y), torch.mul(x, p))'
  const pair = await pairOf(body, result)
  compare(t, pair, EVERYWHERE)
  t.strictSame(
    pair.eager.plans().map(({ state }) => state),
    ['plan'],
  )
  compare(t, await pairOf(body, result), [0, 2, 7, 3, 99, -3, -2, -1, -99, 4])
})

t.test('copies of rows of two tensors, at a place that is none of the shorter one', async (t) => {
  const body = [
    READ,
    'd = torch.copy_(self.cache, torch.add(self.cache, 1))',
    'z = torch.slice_copy(self.cache, 0, p, torch.add(p, 2), 1)',
    'w = torch.slice_copy(torch.slice(self.cache, 0, 0, 5), 0, p, torch.add(p, 2), 1)',
    'y = torch.relu(torch.tanh(x))',
  ]
  compare(t, await pairOf(body, 'torch.add(torch.mul(torch.tanh(z), torch.tanh(w)), torch.mul(x, y))'), [0, 1, 3, 4, 2, 4, 3, 7, -1])
})

t.test('a number with an int32 that has no dimensions, whose dtype the result has', async (t) => {
  const body = [READ, 'k = torch._to_copy(torch.select(torch.select(torch.abs(x), 0, 0), 0, 1), dtype=3)', 'y = torch.relu(torch.tanh(x))']
  const pair = await pairOf(body, 'torch.mul(torch.add(k, p), torch.add(torch.mul(k, 2), p))')
  compare(t, pair, EVERYWHERE)
})
