import t from 'tap'
import { callOperator, loadModule, memoryStats, type Module, type Output, tensor, type Tensor } from '../src/index.js'
import { fixturePath } from './module/fixtures.js'

const load = (compile: 'auto' | 'off' | 'eager'): Promise<Module> => loadModule(fixturePath('compile.ptl'), { compile })
const matrix = (...data: number[]): Tensor => tensor(data, [data.length / 4, 4])
const image = (batch: number): Tensor =>
  tensor(
    Float32Array.from({ length: batch * 3 * 32 * 32 }, (_, i) => Math.cos(i)),
    [batch, 3, 32, 32],
  )
const rows = (output: Output): unknown => (output as Tensor).toArray()
const planOf = (m: Module, method: string) => m.plans().find((p) => p.method === method)

t.test('plans made in the background share weights, and give what the interpreter gives', async (t) => {
  const file = fixturePath('models/resnet18.ptl')
  const [m, off] = [await loadModule(file, { compile: 'eager' }), await loadModule(file, { compile: 'off' })]
  for (const batch of [1, 2]) {
    const x = image(batch)
    const want = (off.forward(x) as Tensor).data() as Float32Array
    const scale = Math.max(...want.map(Math.abs))
    for (let i = 0; i < 3; i++) {
      const got = ((await m.run('forward', [x])) as Tensor).data() as Float32Array
      t.ok(want.every((v, k) => Math.abs(v - got[k]!) <= 1e-5 * scale))
    }
    // calls on this thread use the same plan
    const here = (m.forward(x) as Tensor).data() as Float32Array
    t.ok(want.every((v, k) => Math.abs(v - here[k]!) <= 1e-5 * scale))
  }
  t.strictSame(
    m.plans().map(({ state }) => state),
    ['plan', 'plan'],
  )
  for (const { weights, frames, choices, operators } of m.plans()) {
    t.ok(weights!.bytes > 50_000 && weights!.shared === weights!.bytes)
    t.ok(frames > 10 && choices.length > 3 && operators.recorded > operators.optimized)
  }
  m.dispose()
  off.dispose()
})

t.test('compile works in the background where the weights are large, and says the same as elsewhere', async (t) => {
  const m = await loadModule(fixturePath('models/efficientnet.ptl'))
  const x = image(2)
  const want = (m.forward(x) as Tensor).data() as Float32Array
  const compilation = m.compile('forward', [x])
  let turns = 0
  const ticks = setInterval(() => turns++, 1)
  await compilation
  clearInterval(ticks)
  t.ok(turns > 3, 'the event loop goes on')
  t.match(planOf(m, 'forward'), { state: 'plan', signature: m.plans()[0]!.signature })
  const scale = Math.max(...want.map(Math.abs))
  const got = (m.forward(x) as Tensor).data() as Float32Array
  t.ok(want.every((v, k) => Math.abs(v - got[k]!) <= 1e-5 * scale))
  // nothing is left to do
  await m.compile('forward', [x])
  t.equal(m.plans().length, 1)
  await t.rejects(m.compile('forward', [matrix(1, 2, 3, 4)]), { code: 'INVALID_ARGUMENT' }, 'what the call throws')
  const ended = m.compile('forward', [image(1)])
  m.dispose()
  await t.rejects(ended, { code: 'DISPOSED' })
})

t.test('attributes and weights that change while a plan is made, and afterwards', async (t) => {
  const m = await load('eager')
  const x = matrix(1, 2, 3, 4)
  for (const factor of [1, 2, 3]) {
    const run = m.run('by_factor', [x])
    m.call('set_factor', [factor])
    await run
    for (let i = 0; i < 3; i++) t.strictSame(rows(await m.run('by_factor', [x])), [[factor, 2 * factor, 3 * factor, 4 * factor]])
  }
  await m.run('forward', [x])
  t.equal(planOf(m, 'forward')?.state, 'plan')
  const compiling = m.run('forward', [matrix(1, 2, 3, 4, 5, 6, 7, 8)])
  // the next runs wait for the one that is compiled
  const waiting = m.run('forward', [matrix(1, 2, 3, 4, 5, 6, 7, 8)])
  await new Promise((resolve) => setImmediate(resolve))
  callOperator('aten::fill_.Scalar', [m.parameters().get('layer.weight')!, 0])
  callOperator('aten::fill_.Scalar', [m.parameters().get('layer.bias')!, 2])
  await Promise.all([compiling, waiting])
  for (let i = 0; i < 3; i++) {
    t.strictSame(rows(await m.run('forward', [x])), [[3, 3, 3, 3]])
    t.strictSame(rows(await m.run('forward', [matrix(1, 2, 3, 4, 5, 6, 7, 8)])), [
      [3, 3, 3, 3],
      [3, 3, 3, 3],
    ])
  }
  m.dispose()
})

t.test('results are arguments, lists and tuples as they are in calls', async (t) => {
  const [m, off] = [await load('eager'), await load('off')]
  const x = matrix(5, 2, -3, 4)
  const [, wanted] = off.call('several', [x, x]) as [Output, Tensor[]]
  for (let i = 0; i < 3; i++) {
    const [, list] = (await m.run('several', [x, x])) as [Output, Tensor[]]
    t.equal(list[0], x, `an argument comes back itself, run ${i + 1}`)
    t.strictSame(list.map(rows), wanted.map(rows))
  }
  t.equal(planOf(m, 'several')?.state, 'plan')
  const overlapping = callOperator('aten::alias', [x]) as Tensor
  for (let i = 0; i < 2; i++) {
    const [, list] = (await m.run('several', [x, overlapping])) as [Output, Tensor[]]
    t.strictSame(list.map(rows), wanted.map(rows), 'arguments that share memory')
  }
  m.dispose()
  off.dispose()
})

t.test('what cannot be replayed says why, and becomes a region', async (t) => {
  const m = await load('eager')
  await m.run('noise', [matrix(0, 0, 0, 0)])
  t.equal(planOf(m, 'noise')?.state, 'interpreted')
  t.match(planOf(m, 'noise')?.reason, /^aten::rand_like gives another result each time[^]*line 41, in noise/)
  const seen = new Set<string>()
  for (let i = 0; i < 4; i++) seen.add(String(rows(await m.run('noise', [matrix(0, 0, 0, 0)]))))
  t.equal(seen.size, 4, 'other numbers each time')
  t.strictSame(
    m.plans().map(({ state, region }) => [state, region]),
    [['plan', { from: null, until: null }]],
  )
  m.dispose()
})

t.test('a compilation that nobody waits for any more', async (t) => {
  const x = image(1)
  const { live } = memoryStats()
  for (const end of ['abort', 'dispose', 'evict'] as const) {
    const m = await loadModule(fixturePath('models/squeezenet.ptl'), { compile: 'eager' })
    const controller = new AbortController()
    const run = m.run('forward', [x], { signal: controller.signal })
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (end === 'abort') controller.abort(new Error('enough'))
    if (end === 'dispose') m.dispose()
    if (end === 'evict') for (let i = 2; i < 12; i++) ((await m.run('forward', [image(i)])) as Tensor).dispose()
    await run.then(
      (output) => (output as Tensor).dispose(),
      (error: unknown) => t.match(error, end === 'abort' ? { message: 'enough' } : { code: 'DISPOSED' }),
    )
    if (end === 'evict') t.equal(m.plans().length, 8)
    if (end !== 'dispose') {
      const y = (await m.run('forward', [x])) as Tensor
      const again = (await m.run('forward', [x])) as Tensor
      t.strictSame(y.shape, again.shape)
      y.dispose()
      again.dispose()
      m.dispose()
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.ok(memoryStats().live - live < 1 << 21, `${memoryStats().live - live} bytes`)
})
