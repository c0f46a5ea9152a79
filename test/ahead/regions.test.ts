import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule } from '../../src/index.js'
import { near, numbers, row, state } from '../decoder-values.js'
import { fixturePath } from '../module/fixtures.js'

const folder = mkdtempSync(join(tmpdir(), 'ptlite-regions-'))
t.teardown(() => {
  rmSync(folder, { recursive: true })
})
const model = join(folder, 'decoder.ptl')
copyFileSync(fixturePath('decoder.ptl'), model)

t.test('methods in regions are the same called, run, and by way of a compiled file', async (t) => {
  const methods = ['masked', 'forward', 'ring', 'scaled', 'running']
  const path = join(folder, 'decoder.ptlc')
  writeFileSync(
    path,
    compileAhead(model, () => methods.map((method) => ({ method, args: [row(0)] }))),
  )
  for (const method of methods) {
    const off = await loadModule(model, { compile: 'off' })
    const others = { auto: await loadModule(model), run: await loadModule(model), ahead: await loadModule(path) }
    t.match(
      others.ahead.plans().map((p) => [p.method, p.state]),
      methods.map((name) => [name, 'interpreted']),
      'nothing is loaded yet',
    )
    for (let i = 0; i < 10; i++) {
      const want = numbers(off.call(method, [row(i)]))
      for (const [how, m] of Object.entries(others)) {
        const got = numbers(how === 'run' ? await m.run(method, [row(i)]) : m.call(method, [row(i)]))
        t.ok(near(got, want) && near(state(m), state(off)), `${method}, ${how}, call ${i}`)
      }
    }
    for (const [how, m] of Object.entries(others)) {
      const plans = m.plans().filter((p) => p.method === method && p.state === 'plan')
      t.ok(plans.length > 0 && plans.every(({ region }) => region !== null), `${method}, ${how}: plans of regions`)
    }
    for (const m of [off, ...Object.values(others)]) m.dispose()
  }
})
