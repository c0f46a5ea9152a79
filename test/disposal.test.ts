import t from 'tap'
import { callOperator, type Input, loadModule, type Module, type Output, PtliteError, Tensor, tensor, tuple } from '../src/index.js'

/** What becomes of calls whose arguments or state were disposed of, whoever carries them out. */

const MODEL = new URL('fixtures/disposal.ptl', import.meta.url)
const MODES = ['off', 'auto', 'eager'] as const
/** Enough for recording, compiling and replaying. */
const CALLS = 5

const x = (value = 0.1): Tensor => tensor(new Float32Array(16).fill(value), [2, 8])

function gone(): Tensor {
  const t = x()
  t.dispose()
  return t
}

/** A view on memory that was given back. */
function cutOff(): Tensor {
  const base = x()
  const view = callOperator('aten::view', [base, [16]]) as Tensor
  base.dispose()
  view.dispose()
  return view
}

/** The result, or the code of the error. Errors that are no PtliteError are not caught. */
async function outcome(call: () => Output | Promise<Output | undefined> | undefined): Promise<Output | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof PtliteError) return error.code
    throw error
  }
}

/** Whether two readings say the same: packed weights add up in another order. */
function same(found: unknown, expected: unknown): boolean {
  if (typeof found === 'number' && typeof expected === 'number') return Math.abs(found - expected) < 1e-5
  if (!Array.isArray(found) || !Array.isArray(expected)) return found === expected
  return found.length === expected.length && found.every((item, i) => same(item, expected[i]))
}

type Method = readonly [name: string, make: (a: Tensor, b: Tensor) => Input[]]

const METHODS: readonly Method[] = [
  ['of_two', (a, b) => [a, b]],
  ['of_unused', (a, b) => [a, b]],
  ['of_list', (a, b) => [[a, b]]],
  ['of_tuple', (a, b) => [tuple(a, tuple(b, 1))]],
  ['of_tuple', (a, b) => [[a, [b, 1]]]],
  [
    'of_dict',
    (a, b) => [
      new Map([
        ['x', a],
        ['y', b],
      ]),
    ],
  ],
  ['of_optional', (a, b) => [a, b]],
  ['of_nested', (a, b) => [[new Map([['x', tuple(a, b)]])]]],
  ['in_regions', (a, b) => [a, b]],
]

for (const compile of MODES) {
  t.test(`arguments that were disposed, compile ${compile}`, async (t) => {
    const module = await loadModule(MODEL, { compile })
    for (const [method, make] of METHODS) {
      for (let i = 0; i < CALLS; i++) {
        for (const args of [
          () => make(gone(), x()),
          () => make(x(), gone()),
          () => {
            const late = x()
            const all = make(x(), late)
            late.dispose()
            return all
          },
        ]) {
          t.equal(await outcome(() => module.call(method, args())), 'DISPOSED', `${method}, call ${i}`)
          t.equal(await outcome(() => module.run(method, args())), 'DISPOSED', `${method}, run ${i}`)
          t.equal(await outcome(async () => (await module.compile(method, args()), null)), 'DISPOSED', `${method}, compile ${i}`)
        }
        t.ok((await outcome(() => module.call(method, make(x(), x())))) instanceof Tensor)
        t.ok((await outcome(() => module.run(method, make(x(), x())))) instanceof Tensor)
      }
    }
    t.equal(await outcome(() => module.call('forward', [cutOff()])), 'DISPOSED')
    module.dispose()
  })

  t.test(`arguments that are disposed while a run is under way, compile ${compile}`, async (t) => {
    const module = await loadModule(MODEL, { compile })
    for (const [method, make] of METHODS) {
      const expected = ((await module.run(method, make(x(), x(0.2)))) as Tensor).toArray()
      for (let i = 0; i < CALLS; i++) {
        const [a, b] = [x(), x(0.2)]
        const run = outcome(() => module.run(method, make(a, b)))
        a.dispose()
        b.dispose()
        // what takes its place must not be seen
        const others = [x(9), x(9)]
        const found = await run
        t.ok(found instanceof Tensor ? same(found.toArray(), expected) : found === 'DISPOSED', `${method} ${i}`)
        t.equal(others.length, 2)
      }
    }
    module.dispose()
  })

  t.test(`arguments and modules that are disposed in the middle of a call, compile ${compile}`, async (t) => {
    let interrupt = (): void => undefined
    const module = await loadModule(MODEL, {
      compile,
      onWarning: () => {
        interrupt()
      },
    })
    for (let i = 0; i < CALLS; i++) {
      const a = x()
      interrupt = () => {
        a.dispose()
      }
      t.equal(await outcome(() => module.call('warns', [a])), 'DISPOSED', `call ${i}`)
      interrupt = () => undefined
      t.ok((await outcome(() => module.call('warns', [x()]))) instanceof Tensor)
    }
    interrupt = () => {
      module.dispose()
    }
    t.equal(await outcome(() => module.call('warns', [x()])), 'DISPOSED')
    t.equal(await outcome(() => module.call('warns', [x()])), 'DISPOSED')
  })
}

t.test('operators', async (t) => {
  const calls: readonly (() => Output)[] = [
    () => callOperator('aten::relu', [gone()]),
    () => callOperator('aten::size', [gone()]),
    () => callOperator('aten::cat', [[x(), gone()], 0]),
    () => callOperator('prim::TupleUnpack', [tuple(gone())]),
    () => callOperator('aten::add.Tensor', [x(), gone(), 1]),
    () => gone().add(1),
    () => x().add(gone()),
  ]
  for (const call of calls) t.equal(await outcome(call), 'DISPOSED')
})

function tensorsOf(value: Output | undefined): Tensor[] {
  if (value instanceof Tensor) return [value]
  if (Array.isArray(value)) return value.flatMap(tensorsOf)
  return value instanceof Map ? [...value.values()].flatMap(tensorsOf) : []
}

/** What can be read of a result. */
function reading(value: Output | undefined): unknown {
  if (typeof value === 'string') return value
  return tensorsOf(value).map((one) => {
    try {
      return one.toArray()
    } catch (error) {
      return (error as PtliteError).code
    }
  })
}

/** How calls are made, by their number. */
const WAYS: Readonly<Record<string, (module: Module, method: string, i: number) => Output | Promise<Output>>> = {
  call: (module, method) => module.call(method, [x()]),
  run: (module, method) => module.run(method, [x()]),
  'call and run': (module, method, i) => (i % 2 === 0 ? module.run(method, [x()]) : module.call(method, [x()])),
}

async function stream(method: string, compile: (typeof MODES)[number], way: string, at: number): Promise<unknown[]> {
  const module = await loadModule(MODEL, { compile })
  const results: unknown[] = []
  for (let i = 0; i < 8; i++) {
    const result = await outcome(() => WAYS[way]!(module, method, i))
    results.push(reading(result))
    if (i === at) tensorsOf(result)[0]?.dispose()
  }
  module.dispose()
  return results
}

for (const method of ['step', 'step_in_place', 'step_list', 'step_pair', 'step_dict', 'view_of_state']) {
  t.test(`a result of ${method} that is an attribute, too, and is disposed`, async (t) => {
    for (const at of [0, 2, 5]) {
      const expected = await stream(method, 'off', 'call', at)
      // there a view on the state is given away, which has no memory of its own
      t.equal(expected.includes('DISPOSED'), method !== 'view_of_state')
      for (const way of Object.keys(WAYS)) {
        for (const compile of MODES) {
          const found = await stream(method, compile, way, at)
          t.ok(same(found, expected), `${way}, compile ${compile}, after ${at}`, { found, expected })
        }
      }
    }
  })
}

for (const [method, name] of [
  ['weighted', 'weight'],
  ['forward', 'linear.weight'],
] as const) {
  t.test(`${method} where ${name} is disposed`, async (t) => {
    for (const way of Object.keys(WAYS)) {
      for (const compile of MODES) {
        const module = await loadModule(MODEL, { compile })
        for (let i = 0; i < CALLS; i++) t.ok((await WAYS[way]!(module, method, i)) instanceof Tensor)
        module.parameters().get(name)!.dispose()
        for (let i = 0; i < CALLS; i++)
          t.equal(await outcome(() => WAYS[way]!(module, method, i)), 'DISPOSED', `${way}, compile ${compile}, ${i}`)
        module.dispose()
      }
    }
  })
}
