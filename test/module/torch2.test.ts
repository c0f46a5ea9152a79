import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Module, type Output } from '../../src/index.js'
import { type Call, errorOfCall, networkNames, readNetwork } from './torch2-networks.js'

/** Of the largest value of an output. */
const MAX_ERROR = 1e-5

/** What these compute depends on contents of tensors, which no plan can hold. */
const STATES: ReadonlyMap<string, string> = new Map([['mixtral', 'interpreted']])

const work = mkdtempSync(join(tmpdir(), 'ptlite-torch2-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

/** Checks calls one after the other, by their indices, and what they return. */
async function checkCalls(
  t: Test,
  how: string,
  calls: readonly Call[],
  order: readonly number[],
  call: (args: Call['inputs']) => Output | Promise<Output>,
): Promise<void> {
  for (const [turn, index] of order.entries()) {
    const error = errorOfCall(await call(calls[index]!.inputs), calls[index]!)
    t.ok(error <= MAX_ERROR, `${how}, call ${turn}: off by ${error.toExponential(1)}`)
  }
}

for (const name of networkNames()) {
  const { files, calls } = readNetwork(name)
  for (const [form, bytes] of files) {
    t.test(`${name}.${form}`, async (t) => {
      const path = join(work, `${name}.${form}`)
      writeFileSync(path, bytes)
      const modules = new Map<string, Module>()
      for (const compile of ['off', 'auto', 'eager'] as const) {
        const module = await loadModule(path, { compile })
        modules.set(compile, module)
        await checkCalls(t, compile, calls, [0, 1, 0], (inputs) => module.forward(...inputs))
      }
      await checkCalls(t, 'in the background', calls, [0, 1], (inputs) => modules.get('auto')!.run('forward', inputs))
      const plan = modules.get('eager')!.plans()[0]!
      t.equal(plan.state, STATES.get(name) ?? 'plan', plan.reason ?? 'a plan')
      if (plan.state === 'plan') {
        const ahead = await loadModule(compileAhead(path, () => [{ method: 'forward', args: calls[0]!.inputs }]))
        modules.set('ahead', ahead)
        await checkCalls(t, 'compiled ahead', calls, [0, 1, 0], (inputs) => ahead.forward(...inputs))
      }
      for (const module of modules.values()) module.dispose()
    })
  }
}
