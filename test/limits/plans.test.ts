import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, memoryStats, type Module, type Tensor, tensor } from '../../src/index.js'
import { answer, method, modelOf } from './programs.js'

/** Products of an argument with itself, one after the other. */
const N = 12
const products = method('forward', `STOREN 1 2\nDROPR 1\n${'LOAD 2\nLOAD 2\nOP 0\nSTORE 2\n'.repeat(N)}MOVE 2\nRET`, {
  operators: [['aten::matmul', 2]],
})
const SIZE = 640
const x = (): Tensor => tensor(new Float32Array(SIZE * SIZE), [SIZE, SIZE])

async function check(t: Test, module: Module): Promise<void> {
  const input = x()
  const whole = module.call('forward', [input]) as Tensor
  whole.dispose()
  t.equal(module.plans().find((plan) => plan.method === 'forward')?.state, 'plan')
  const { live } = memoryStats()
  const message = /^the call took more than 5 ms, in kernel gemm; raise limits\.milliseconds/
  t.throws(() => module.call('forward', [input], { limits: { milliseconds: 5 } }), { code: 'LIMIT_EXCEEDED', message })
  await t.rejects(module.run('forward', [input], { limits: { milliseconds: 5 } }), { code: 'LIMIT_EXCEEDED', message })
  const bytes = { limits: { bytes: 1000 } }
  const tooMuch = /^the call took more than 1000 bytes/
  t.throws(() => module.call('forward', [input], bytes), { code: 'LIMIT_EXCEEDED', message: tooMuch })
  await t.rejects(module.run('forward', [input], bytes), { code: 'LIMIT_EXCEEDED', message: tooMuch })
  const controller = new AbortController()
  const run = module.run('forward', [input], { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 5)
  await t.rejects(run, { message: 'enough' })
  // each with its own
  const [ended, result] = await Promise.allSettled([
    module.run('forward', [input], { limits: { milliseconds: 5 } }),
    module.run('forward', [input], { limits: { milliseconds: 120_000, bytes: 1 << 30 } }),
  ])
  t.match(ended, { status: 'rejected', reason: { code: 'LIMIT_EXCEEDED' } })
  t.equal(result.status, 'fulfilled')
  if (result.status === 'fulfilled') (result.value as Tensor).dispose()
  // an arena for the run beside the other one may be kept
  t.ok(memoryStats().live <= live + 5 * 4 * SIZE * SIZE, 'nothing stays')
  t.equal(module.plans().find((plan) => plan.method === 'forward')?.state, 'plan', 'the plan stays')
  input.dispose()
}

t.test('replays end', async (t) => {
  const module = await loadModule(modelOf([products, answer]), { compile: 'eager' })
  await check(t, module)
  module.dispose()
})

t.test('those of files, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-limits-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'm.ptl')
  writeFileSync(file, modelOf([products, answer]))
  const bytes = compileAhead(file, () => [{ method: 'forward', args: [x()] }])
  writeFileSync(join(folder, 'm.ptlc'), bytes)
  const module = await loadModule(join(folder, 'm.ptlc'))
  await check(t, module)
  module.dispose()
})

t.test('a call that is compiled has its time without that', async (t) => {
  const module = await loadModule(modelOf([products, answer]), { compile: 'eager', limits: { milliseconds: 120_000 } })
  const input = x()
  ;(module.forward(input) as Tensor).dispose()
  t.equal(module.plans().find((plan) => plan.method === 'forward')?.state, 'plan')
  module.dispose()
})
