import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadModule, type Module, tensor } from '../src/index.js'
import { near, numbers, row, state } from './decoder-values.js'
import { fixturePath } from './module/fixtures.js'

const load = (compile: 'auto' | 'off'): Promise<Module> => loadModule(fixturePath('decoder.ptl'), { compile })
for (const method of ['running', 'scaled', 'masked', 'forward', 'count']) {
  t.test(`${method}: by regions in the background as interpreted here`, async (t) => {
    const [m, off] = [await load('auto'), await load('off')]
    for (let i = 0; i < 12; i++) {
      const [got, want] = [await m.run(method, [row(i)]), off.call(method, [row(i)])]
      t.ok(near(numbers(got), numbers(want)), `result ${i}`)
      t.ok(near(state(m), state(off)), `state after call ${i}`)
    }
    const plans = m.plans().filter((p) => p.method === method)
    t.ok(plans.some(({ state, region, frames }) => state === 'plan' && region !== null && frames > 0))
    t.notOk(JSON.stringify(plans).includes('\\u0000'), 'places in the model are filled in')
    // calls here and there in turn see the state that the other has left
    for (let i = 0; i < 6; i++) {
      t.ok(near(numbers(m.call(method, [row(i)])), numbers(off.call(method, [row(i)]))), `call ${i} here`)
      t.ok(near(numbers(await m.run(method, [row(-i)])), numbers(off.call(method, [row(-i)]))), `run ${i} there`)
      t.ok(near(state(m), state(off)), `state after turn ${i}`)
    }
    for (const one of [m, off]) one.dispose()
  })
}

t.test('what a run has set is what plans here read', async (t) => {
  const m = await loadModule(fixturePath('compile.ptl'), { compile: 'eager' })
  const x = tensor([1, 2, 3, 4], [1, 4])
  for (const factor of [1, 2, 3]) {
    await m.run('set_factor', [factor])
    for (let i = 0; i < 3; i++) t.strictSame(numbers(m.call('by_factor', [x])), [1, 2, 3, 4].map((v) => factor * v)) // prettier-ignore
  }
  m.dispose()
})

t.test('a run by regions can be given up, and fails as here', async (t) => {
  const [m, off] = [await load('auto'), await load('off')]
  for (let i = 0; i < 4; i++) for (const one of [m, off]) await one.run('masked', [row(i)])
  const control = new AbortController()
  const given = m.run('masked', [row(4)], { signal: control.signal })
  control.abort(new Error('enough'))
  await t.rejects(given, { message: 'enough' })
  const wrong = tensor(new Float32Array(15), [1, 1, 15])
  const messages = await Promise.all([m, off].map((one) => one.run('masked', [wrong]).then(() => '', (error: Error) => error.message))) // prettier-ignore
  t.ok(messages[0]!.length > 10)
  t.equal(messages[0], messages[1])
  // the end of the cache
  for (const one of [m, off]) await one.run('reset', [])
  for (let i = 0; i < 24; i++) t.ok(near(numbers(await m.run('masked', [row(i)])), numbers(await off.run('masked', [row(i)]))), `${i}`)
  for (const one of [m, off]) await t.rejects(one.run('masked', [row(24)]), { code: 'INVALID_ARGUMENT' })
  t.ok(near(state(m), state(off)), 'state after the error')
  for (const one of [m, off]) one.dispose()
})

t.test('loops of many steps are interpreted, here and there', async (t) => {
  // adds 1 to its first argument so many times
  const m = await loadModule(fileURLToPath(new URL('../serve/test/fixtures/count.ptl', import.meta.url)))
  const steps = 20_000
  for (let i = 0; i < 8; i++) {
    t.same(numbers(await m.run('forward', [tensor([0, i]), steps])), [steps, steps + i])
    t.same(numbers(m.forward(tensor([0, i]), steps)), [steps, steps + i])
  }
  t.match(m.plans(), [{ state: 'interpreted', reason: /a loop has too many steps/ }])
  m.dispose()
})
