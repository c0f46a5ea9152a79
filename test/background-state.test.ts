import t, { type Test } from 'tap'
import { BackgroundThread } from '../engine/background/thread.js'
import {
  callOperator,
  generate,
  type Input,
  int,
  loadModule,
  type Module,
  type Output,
  type RunOptions,
  type Tensor,
  tensor,
} from '../src/index.js'
import { continued, load as loadGenerator, tokensOf } from './generation/fixtures.js'
import { isClose, numbers, PROGRAM, someCalls, step } from './support/state-program.js'

/** Methods that read and write tensors of their module, whose plans `run` replays without the background thread. */

process.env.PTLITE_BACKGROUND_IDLE = '200'

const load = (compile: 'auto' | 'off'): Promise<Module> => loadModule(PROGRAM, { compile })
const argsOf = (name: string, i: number): Tensor[] => (name === 'forward' ? step(i) : [])

/** Runs that the background thread was asked for in `action`. */
async function asked(action: () => Promise<unknown>): Promise<number> {
  const own = t.capture(BackgroundThread.prototype, 'ask', BackgroundThread.prototype.ask) // prettier-ignore
  try {
    await action()
    return own.args().filter(([request]) => request.kind === 'run').length
  } finally {
    own.restore()
  }
}

/** To six digits, or the error's text. */
const outcome = (run: Promise<Output>): Promise<string[] | string> =>
  run.then(
    (value) => numbers(value).map((x) => x.toPrecision(6)),
    (error: Error) => error.message,
  )

/** The same runs of both; how many of them the background thread was asked for. */
async function agree(t: Test, m: Module, off: Module, names: readonly string[], from = 0): Promise<number> {
  return asked(async () => {
    for (const [i, name] of names.entries()) {
      const [found, want] = [await m.run(name, argsOf(name, from + i)), off.call(name, argsOf(name, from + i))]
      t.ok(isClose(numbers(found), numbers(want)), `${name} is call ${i}`)
    }
  })
}
const NAMES = ['forward', 'peek', 'first', 'reset', 'shown']
const WARM = someCalls(NAMES, 80, 2)

t.test('they are the plans of regions, once these are made', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  t.ok((await agree(t, m, off, WARM)) >= 15)
  t.equal(await agree(t, m, off, someCalls(NAMES, 60, 1)), 0)
  // begun at once, they come one after the other
  const runs = Array.from({ length: 12 }, (_, i) => ({ i, found: m.run('forward', step(i)) }))
  for (const { i, found } of runs) t.ok(isClose(numbers(await found), numbers(off.call('forward', step(i)))), `run ${i}`)
  const names = ['forward', 'both', 'doubled', 'anew', 'weighed', 'peek', 'first']
  t.ok((await agree(t, m, off, someCalls(names, 80, 5))) > 0, 'with calls between them that have no such plan')
  for (const name of someCalls(names, 40, 9)) {
    const found = [m.call(name, argsOf(name, 2)), await m.run(name, argsOf(name, 3))]
    const want = [2, 3].map((i) => off.call(name, argsOf(name, i)))
    t.ok(
      found.every((one, i) => isClose(numbers(one), numbers(want[i]))),
      `${name}, here and there`,
    )
  }
  for (const one of [m, off]) one.dispose()
})

t.test('calls here make plans that runs replay, too', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  for (const i of [0, 1, 2, 3, 4, 5]) t.ok(isClose(numbers(m.call('forward', step(i))), numbers(off.call('forward', step(i)))))
  t.equal(await agree(t, m, off, ['forward', 'forward', 'forward']), 0)
  for (const one of [m, off]) one.dispose()
})

t.test('other ints than those of earlier calls', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  const args = (n: number): Input[] => [step(0)[0], int(n)]
  for (const module of [m, off]) for (let n = 0; n < 14; n++) module.call('times', args(n % 7))
  for (const n of [0, 0, 0, 1, 2, 2, 9]) t.same(await outcome(m.run('times', args(n))), await outcome(off.run('times', args(n))), `${n}`)
  for (const one of [m, off]) one.dispose()
})

t.test('states that are put back, and tensors that are changed from outside', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  await agree(t, m, off, WARM)
  const early = [m, off].map((module) => ({ module, state: module.saveState() }))
  for (const i of [1, 2, 3]) {
    await agree(t, m, off, ['forward', 'peek', 'forward'], i)
    for (const { module, state } of early) module.loadState(state)
    t.equal(await agree(t, m, off, ['peek', 'first', 'forward']), 0)
  }
  for (const module of [m, off]) callOperator('aten::mul_.Scalar', [module.getAttribute('rows') as Tensor, 0.5])
  t.equal(await agree(t, m, off, ['peek', 'first', 'forward']), 0, 'what a state holds')
  for (const module of [m, off]) callOperator('aten::add_.Scalar', [module.getAttribute('weight') as Tensor, 1])
  t.ok((await agree(t, m, off, Array<string>(6).fill('forward'))) > 0, 'a weight, which is no state')
  for (const module of [m, off]) callOperator('aten::set_.source_Tensor', [module.getAttribute('rows') as Tensor, tensor([[1, 2, 3]])])
  t.ok((await agree(t, m, off, Array<string>(6).fill('peek'))) > 0, 'another form')
  for (const one of [m, off]) one.dispose()
})

t.test('methods that have no state, beside others that have', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  await agree(t, m, off, WARM)
  const plain = async (change: number, runs: number): Promise<void> => {
    for (const module of [m, off]) callOperator('aten::add_.Scalar', [module.getAttribute('weight') as Tensor, change])
    for (let i = 0; i < runs; i++) {
      const [x] = step(i)
      t.ok(isClose(numbers(await m.run('plain', [x])), numbers(off.call('plain', [x]))), `${change}, ${i}`)
    }
  }
  for (const change of [0, 1, 2]) await plain(change, 6)
  t.equal(await asked(async () => Promise.all([1, 2, 3].map((i) => m.run('plain', [step(i)[0]])))), 0)
  for (const one of [m, off]) one.dispose()
})

t.test('random numbers come from the generator of the thread that interprets', async (t) => {
  const m = await load('auto')
  const run = async (): Promise<void> => (t.same(numbers(await m.run('drawn', [])), [0]), undefined)
  for (let i = 0; i < 7; i++) await run()
  t.equal(await asked(async () => (await run(), await run())), 2)
  for (let i = 0; i < 7; i++) m.call('drawn', [])
  t.equal(await asked(run), 1, 'though calls here have a plan')
  m.dispose()
})

t.test('arguments that lie in memory of the module', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  await agree(t, m, off, WARM)
  for (const [name, at] of [
    ['row', 'aten::view'],
    ['weight', 'aten::narrow'],
  ] as const) {
    const [found, want] = [m, off].map((module) => {
      const own = module.getAttribute(name) as Tensor
      const x = callOperator(at, at === 'aten::view' ? [own, [1, 3]] : [own, int(0), int(0), int(1)]) as Tensor
      return () => outcome(module.run('forward', [x, step(2)[1]]))
    })
    for (const i of [1, 2, 3]) t.same(await found!(), await want!(), `${name}, ${i}`)
  }
  for (const one of [m, off]) one.dispose()
})

t.test('runs that fail or are given up', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  await agree(t, m, off, WARM)
  const wrong = [step(0)[0], tensor(BigInt64Array.of(17n), [1])] as const
  t.same(await outcome(m.run('forward', wrong)), await outcome(off.run('forward', wrong)))
  await agree(t, m, off, ['peek', 'forward', 'peek'])
  const control = new AbortController()
  const given = m.run('forward', step(0), { signal: control.signal })
  control.abort(new Error('enough'))
  await t.rejects(given, { message: 'enough' })
  await agree(t, m, off, ['peek', 'forward', 'peek'])
  for (const one of [m, off]) one.dispose()
})

t.test('runs that end midway', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  const x = tensor(
    Float32Array.from({ length: 490_000 }, (_, i) => Math.cos(i) / 100),
    [700, 700],
  )
  const slow = (options: RunOptions): Promise<Output> => m.run('slow', [x], options)
  for (let i = 0; i < 6; i++) await slow({})
  const state = m.saveState()
  const saved = numbers(m.getAttribute('count'))
  await slow({})
  // a plan with what the row holds
  for (let i = 0; i < 3; i++) await m.run('first', [])
  callOperator('aten::mul_.Scalar', [x, int(5)])
  await t.rejects(slow({ limits: { milliseconds: 3 } }), { code: 'LIMIT_EXCEEDED' })
  for (const name of ['rows', 'count']) callOperator('aten::copy_', [off.getAttribute(name) as Tensor, m.getAttribute(name) as Tensor])
  await agree(t, m, off, ['first', 'peek', 'first'])

  const control = new AbortController()
  const given = slow({ signal: control.signal })
  await new Promise((resolve) => setTimeout(resolve, 3))
  control.abort()
  m.loadState(state)
  await t.rejects(given, { code: 'ABORTED' })
  t.same(numbers(m.getAttribute('count')), saved, 'a state that is put back meanwhile stays')
  for (const one of [m, off]) one.dispose()
})

t.test('the background thread ends before the plans that it has made', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  await agree(t, m, off, WARM)
  await new Promise((resolve) => setTimeout(resolve, 800))
  t.equal(await agree(t, m, off, ['forward', 'peek', 'forward', 'first']), 0)
  t.ok((await agree(t, m, off, ['both', 'both', 'forward', 'peek'])) > 0)
  const last = m.run('forward', step(1))
  for (const one of [m, off]) one.dispose()
  await t.rejects(last, { code: 'DISPOSED' })
})

t.test('tokens are those of PyTorch', async (t) => {
  const m = await loadGenerator('llama-buffers')
  for (const { prompt, tokens } of continued.llama.filter((one) => one.prompt.length < 40)) {
    const found = await tokensOf(generate(m, prompt, { maxTokens: tokens.length }))
    t.same(found, tokens)
  }
  t.equal(await asked(async () => tokensOf(generate(m, [1, 2, 3], { maxTokens: 8 }))), 1, 'but for a prompt of another length')
  m.dispose()
})
