import t from 'tap'
import { loadModule, memoryStats, type Module, PtliteError, type Tensor } from '../../src/index.js'
import { near, numbers, row, state } from '../decoder-values.js'
import { fixturePath } from '../module/fixtures.js'

/** Of the caches of decoder.ptl. */
const LENGTH = 24

const load = (compile: 'auto' | 'off' | 'eager'): Promise<Module> => loadModule(fixturePath('decoder.ptl'), { compile })

/** What a call gives, or why it fails, and everything that calls can change. */
function after(m: Module, method: string, args: (Tensor | number)[]): { readonly numbers: number[]; readonly error: string } {
  let found: number[] = []
  let error = ''
  try {
    found = numbers(m.call(method, args))
  } catch (cause) {
    if (!(cause instanceof PtliteError)) throw cause
    error = cause.message
  }
  const caches = [...m.parameters()].filter(([name]) => /keys|values|places/.test(name)).flatMap(([, value]) => numbers(value))
  return { numbers: [...found, ...state(m), ...caches], error }
}

const compiled = (m: Module, method: string) => m.plans().filter((p) => p.method === method && p.state === 'plan')

for (const method of ['masked', 'forward', 'ring', 'scaled', 'count', 'running']) {
  t.test(`${method}: 200 calls with a counter of the module`, async (t) => {
    const [auto, off] = [await load('auto'), await load('off')]
    let planned = 0
    let most = 0
    for (let i = 0; i < 200; i++) {
      if (i % LENGTH === 0 && i > 0) for (const m of [auto, off]) m.call('reset', [])
      const [got, want] = [after(auto, method, [row(i)]), after(off, method, [row(i)])]
      if (!near(got.numbers, want.numbers) || got.error !== want.error) t.fail(`call ${i}`)
      planned = Math.max(planned, compiled(auto, method).length)
      most = Math.max(most, auto.plans().length)
    }
    t.ok(planned > 0, 'there are plans')
    t.ok(most < 20, `${most} signatures`)
    for (const m of [auto, off]) m.dispose()
  })
}

t.test('an int that is an argument and changes with every call', async (t) => {
  const [auto, off] = [await load('auto'), await load('off')]
  let planned = false
  for (let i = 0; i < 3 * LENGTH; i++) {
    const at = i < LENGTH ? i : (i * 7) % LENGTH
    const [got, want] = [after(auto, 'at', [row(i), at]), after(off, 'at', [row(i), at])]
    t.ok(near(got.numbers, want.numbers), `call ${i}`)
    planned ||= compiled(auto, 'at').some(({ signature }) => signature.endsWith('int'))
  }
  t.ok(planned)
  for (const at of [LENGTH, -1, LENGTH + 5, -LENGTH - 1, 3]) {
    const [got, want] = [after(auto, 'at', [row(at), at]), after(off, 'at', [row(at), at])]
    t.ok(near(got.numbers, want.numbers), `position ${at}`)
    t.equal(got.error, want.error)
  }
  for (const m of [auto, off]) m.dispose()
})

t.test('the end of a cache', async (t) => {
  const [auto, off] = [await load('auto'), await load('off')]
  for (const method of ['masked', 'forward', 'masked', 'forward']) {
    for (const m of [auto, off]) m.call('reset', [])
    for (let i = 0; i < LENGTH + 2; i++) {
      const [got, want] = [after(auto, method, [row(i)]), after(off, method, [row(i)])]
      t.equal(got.error, want.error)
      t.equal(got.error !== '', i >= LENGTH)
      t.ok(near(got.numbers, want.numbers), `${method} ${i}`)
    }
  }
  for (const m of [auto, off]) m.dispose()
})

t.test('methods in any order, with memory that stays what it was', async (t) => {
  const [eager, off] = [await load('eager'), await load('off')]
  const methods = ['masked', 'forward', 'ring', 'scaled', 'count', 'running', 'at', 'reset']
  let seed = 5
  const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n
  let live = 0
  for (let i = 0; i < 400; i++) {
    const method = methods[random(methods.length)]!
    const args = method === 'reset' ? [] : method === 'at' ? [row(i), random(LENGTH)] : [row(i)]
    const [got, want] = [after(eager, method, args), after(off, method, args)]
    if (!near(got.numbers, want.numbers) || got.error !== want.error) t.fail(`call ${i}: ${method}`)
    if (i === 300) ({ live } = memoryStats())
  }
  t.ok(memoryStats().live < live + 2e6, 'no more memory')
  for (const m of [eager, off]) m.dispose()
})
