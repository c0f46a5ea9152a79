import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadModule, memoryStats, type Output, Tensor, tensor } from '../src/index.js'
import { fixturePath, type Golden, inputOf } from './module/fixtures.js'

const root = fileURLToPath(new URL('../', import.meta.url))

function bits(output: Output): Buffer {
  const tensors = (Array.isArray(output) ? output.flat(3) : [output]).filter((x) => x instanceof Tensor)
  return Buffer.concat(tensors.map((x) => Buffer.from(x.data().buffer)))
}

const folder = fixturePath('models')

t.test('attributes, lists and arguments change here too', async (t) => {
  const module = await loadModule(fixturePath('state.ptl'))
  const alone = await loadModule(fixturePath('state.ptl'))
  for (const method of module.methods) t.ok(alone.methods.includes(method))
  const x = tensor([1, 2])
  for (let i = 0; i < 4; i++) {
    const [found, expected] = [await module.run('forward', [x]), alone.forward(x)]
    t.same(bits(found), bits(expected), `run ${i}`)
    // in turn, so that changes go both ways
    t.same(bits(module.forward(x)), bits(alone.forward(x)), `call ${i}`)
  }
  module.dispose()
  alone.dispose()
})

t.test('errors arrive as they are', async (t) => {
  const module = await loadModule(fixturePath('models/resnet18.ptl'))
  await t.rejects(module.run('nothing'), { code: 'UNKNOWN_METHOD' })
  await t.rejects(module.run('forward', []), { code: 'INVALID_ARGUMENT' })
  const wrong = tensor([1, 2, 3])
  let expected = ''
  try {
    module.forward(wrong)
  } catch (error) {
    expected = (error as Error).message.split('\n')[0]!
  }
  await t.rejects(module.run('forward', [wrong]), { message: new RegExp(expected.slice(0, 40).replace(/[^a-z ]/gi, '.')) })
  module.dispose()
})

t.test('a signal ends a run, and the next one is whole', async (t) => {
  const golden = JSON.parse(readFileSync(`${folder}/resnet18.json`, 'utf8')) as Golden
  const inputs = golden.inputs.map(inputOf)
  for (const compile of ['off', 'eager'] as const) {
    const module = await loadModule(`${folder}/resnet18.ptl`, { compile })
    // weights are packed at their second use
    for (let i = 0; i < 2; i++) await module.run('forward', inputs)
    const expected = bits(await module.run('forward', inputs))
    const early = new AbortController()
    early.abort(new Error('not wanted'))
    await t.rejects(module.run('forward', inputs, { signal: early.signal }), { message: 'not wanted' })
    const controller = new AbortController()
    const runs = [1, 2, 3].map(() => module.run('forward', inputs, { signal: controller.signal }))
    controller.abort(new Error('no longer wanted'))
    for (const run of await Promise.allSettled(runs)) {
      t.equal(run.status, 'rejected')
      if (run.status === 'rejected') t.match(run.reason, { message: 'no longer wanted' })
    }
    t.ok(bits(await module.run('forward', inputs)).equals(expected))
    module.dispose()
  }
})

t.test('disposing the module or its arguments during a run is safe', async (t) => {
  const golden = JSON.parse(readFileSync(`${folder}/resnet18.json`, 'utf8')) as Golden
  for (const compile of ['off', 'eager'] as const) {
    const module = await loadModule(`${folder}/resnet18.ptl`, { compile })
    const expected = bits(module.forward(...golden.inputs.map(inputOf)))
    const inputs = golden.inputs.map(inputOf)
    const run = module.run('forward', inputs)
    await new Promise((resolve) => setImmediate(resolve))
    for (const input of inputs) (input as Tensor).dispose()
    const result = bits(await run)
    t.equal(result.length, expected.length)
    const second = module.run('forward', golden.inputs.map(inputOf))
    await new Promise((resolve) => setImmediate(resolve))
    module.dispose()
    // it may have been over before
    await second.catch((error: unknown) => t.match(error, { code: 'DISPOSED' }))
  }
})

t.test('runs leave no memory behind', async (t) => {
  const golden = JSON.parse(readFileSync(`${folder}/squeezenet.json`, 'utf8')) as Golden
  const inputs = golden.inputs.map(inputOf)
  for (const compile of ['off', 'eager'] as const) {
    const module = await loadModule(`${folder}/squeezenet.ptl`, { compile })
    const once = async (): Promise<void> => {
      ;((await module.run('forward', inputs)) as Tensor).dispose()
    }
    for (let i = 0; i < 3; i++) await once()
    const { live } = memoryStats()
    for (let i = 0; i < 10; i++) await once()
    t.equal(memoryStats().live, live, compile)
    module.dispose()
  }
})

const bundled = ['dist/index.js', 'dist/index.cjs', 'dist/worker.cjs', 'dist/libptlite.so'].every((name) => existsSync(`${root}${name}`))
const opening: Readonly<Record<string, string>> = {
  module: `import { loadModule, tensor } from '${root}dist/index.js'\n`,
  commonjs: `const { loadModule, tensor } = require('${root}dist/index.cjs')\n`,
}
for (const [type, first] of Object.entries(opening)) {
  t.test(`${type} bundle: runs in the background, and exits while one is under way`, { skip: bundled ? false : 'not built' }, (t) => {
    const code = (last: string): string => `${first}
const main = async () => {
  for (const compile of ['off', 'eager']) {
    const m = await loadModule('${folder}/squeezenet.ptl', { compile })
    const x = tensor(new Float32Array(2 * 3 * 32 * 32).fill(0.5), [2, 3, 32, 32])
    const y = await m.run('forward', [x])
    console.log(compile, y.shape.join())
    ${last}
  }
}
main()`
    const run = (last: string) =>
      spawnSync(process.execPath, [`--input-type=${type}`, '-e', code(last)], { encoding: 'utf8', timeout: 60_000 })
    const whole = run('')
    t.match(whole, { status: 0, stderr: '' })
    t.match(whole.stdout, /off 2,.*\neager 2,/)
    const cut = run(`m.run('forward', [x]); m.run('forward', [x]); if (compile === 'eager') process.exit(7)`)
    t.match(cut, { status: 7, signal: null, stderr: '' })
    t.end()
  })
}
