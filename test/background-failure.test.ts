import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { loadModule, type Tensor } from '../src/index.js'
import { fixturePath, type Golden, inputOf } from './module/fixtures.js'

const folder = fixturePath('models')
const golden = JSON.parse(readFileSync(`${folder}/resnet18.json`, 'utf8')) as Golden

t.test('calls that wait for a background thread which fails reject, and the next one starts another', async (t) => {
  const workers: Worker[] = []
  const note = (worker: Worker): void => void workers.push(worker)
  process.on('worker', note)
  const module = await loadModule(`${folder}/resnet18.ptl`, { compile: 'off' })
  const inputs = golden.inputs.map(inputOf)
  // weights are packed at their second use, and packed products add in another order
  module.forward(...inputs)
  const expected = (module.forward(...inputs) as Tensor).toArray()
  await new Promise((resolve) => setImmediate(resolve))
  const waiting = Promise.allSettled([1, 2, 3].map(() => module.run('forward', inputs)))
  // the thread is started by the first of them, perhaps in a later turn
  while (workers.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await workers[0]!.terminate()
  // those that had not begun have another thread
  const [first, ...others] = await waiting
  t.equal(first!.status, 'rejected')
  for (const run of [first!, ...others])
    if (run.status === 'rejected') t.match(run.reason, { code: 'INTERNAL', message: /background thread/ })
  t.strictSame(((await module.run('forward', inputs)) as Tensor).toArray(), expected)
  t.ok(workers.length > 1)
  process.off('worker', note)
  module.dispose()
})

const dist = fileURLToPath(new URL('../dist/index.js', import.meta.url))
t.test('where Node forbids workers, run() says so and forward() works', (t) => {
  const code = `
    import { loadModule, tensor } from ${JSON.stringify(dist)}
    const module = await loadModule(${JSON.stringify(`${folder}/resnet18.ptl`)})
    const x = tensor(new Float32Array(${golden.inputs[0]!.shape!.reduce((a, b) => a * b, 1)}), ${JSON.stringify(golden.inputs[0]!.shape)})
    console.log(module.forward(x).shape.join())
    console.log(await module.run('forward', [x]).catch((error) => error.name + ' ' + error.code + ': ' + error.message))`
  const flags = [
    '--experimental-permission',
    '--allow-fs-read=*',
    '--allow-fs-write=*',
    '--allow-addons',
    '--no-warnings',
    '--input-type=module',
  ]
  // without what tap preloads
  const { stdout, stderr } = spawnSync('env', ['NODE_OPTIONS=', 'NODE_V8_COVERAGE=', process.execPath, ...flags, '-e', code], {
    encoding: 'utf8',
  })
  t.match(stdout, /^2,10\nPtliteError UNSUPPORTED_HOST: .*--allow-worker/, stderr)
  t.end()
})
