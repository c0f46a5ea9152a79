import t, { type Test } from 'tap'
import { loadModule, type Module, type PtliteError, setNumThreads, type Tensor, tensor } from '../../src/index.js'
import { type Call, difference, fixturePath, inputOf, readCalls } from './fixtures.js'

/* Models that write to caches in buffers, at positions that are tensors. */

const FORMS = ['static_cache.pt2', 'half_cache.pt2', 'caches.pt2', 'caches.core.pt2']
const callsOf = (form: string): Call[] => readCalls(form.split('.')[0]!).calls

function forward(module: Module, { args }: Call): unknown {
  return module.forward(...args.map(inputOf))
}

function check(t: Test, module: Module, calls: readonly Call[], what: string): void {
  for (const [turn, call] of calls.entries())
    t.equal(difference(forward(module, call) as Tensor, call.result), undefined, `${what}, call ${turn}`)
}

for (const form of FORMS) {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    t.test(`${form}, compile: '${compile}'`, async (t) => {
      const module = await loadModule(fixturePath(form), { compile })
      check(t, module, callsOf(form), compile)
      // with the state that those have left
      check(t, module, callsOf(form), 'again')
      if (compile === 'auto') {
        for (const shape of ['int64[1, 1], int64[1]', 'int64[1, 5], int64[5]']) {
          const plans = module.plans().filter(({ signature }) => signature === shape)
          t.strictSame([plans.length, plans[0]?.state, plans[0]?.region], [1, 'plan', { from: null, until: null }], `${shape} has one plan`)
        }
      }
      module.dispose()
    })
  }

  t.test(`${form}, off the event loop and with two threads`, async (t) => {
    setNumThreads(2)
    t.teardown(() => setNumThreads(1))
    const module = await loadModule(fixturePath(form))
    for (let round = 0; round < 2; round++) {
      for (const [turn, { args, result }] of callsOf(form).entries())
        t.equal(difference((await module.run('forward', args.map(inputOf))) as Tensor, result), undefined, `round ${round}, call ${turn}`)
    }
    check(t, module, callsOf(form), 'on the thread of the module')
    module.dispose()
  })

  t.test(`${form}, a call that fails`, async (t) => {
    const modules = await Promise.all((['off', 'auto'] as const).map((compile) => loadModule(fixturePath(form), { compile })))
    const both = (tokens: readonly number[], from: number): [unknown, unknown] =>
      modules.map((module) => {
        const places = tokens.map((_, i) => BigInt(from + i))
        try {
          return module.forward(
            tensor(BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
            tensor(BigInt64Array.from(places), [tokens.length]),
          )
        } catch (error) {
          return (error as PtliteError).code
        }
      }) as [unknown, unknown]
    const same = (tokens: readonly number[], from: number, what: string): void => {
      const [want, found] = both(tokens, from)
      if (typeof want === 'string') t.equal(found, want, what)
      else {
        const [a, b] = [want, found].map((tensor) => (tensor as Tensor).to('float32').data() as Float32Array) as [
          Float32Array,
          Float32Array,
        ]
        t.ok(
          a.every((x, i) => Math.abs(x - b[i]!) < (form === 'half_cache.pt2' ? 2 ** -6 : 1e-5)),
          what,
        )
      }
    }
    for (let turn = 0; turn < 4; turn++) {
      same([1, 2, 3, 4, 5], 0, 'a prompt')
      same([6], 5, 'a token')
      same([99], 6, 'no such token')
      same([7], 40, 'no such place')
      same([1, 2, 3, 4, 5], 37, 'places of which some are')
      same([8], 6, 'the next token')
    }
    for (const module of modules) module.dispose()
  })
}
