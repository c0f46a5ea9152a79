import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { loadModule, tensor, type Tensor } from '../src/index.js'
import { fixturePath } from './module/fixtures.js'
import { runnable } from './support/node.js'

const library = pathToFileURL(runnable(fileURLToPath(new URL('../src/index.ts', import.meta.url)))).href
const model = fixturePath('models/resnet18.ptl')

/** What a worker does with the library `p`; nothing is disposed. */
const uses = {
  tensors: `globalThis.kept = [1, 2, 3].map(() => p.callOperator('aten::ones', [[4 << 20], 'float32', null, null, null]))`,
  load: `globalThis.kept = await p.loadModule(model)`,
  forward: `const m = await p.loadModule(model, { compile: 'eager' }); for (let i = 0; i < 3; i++) m.forward(x())`,
  run: `const m = await p.loadModule(model, { compile: 'eager' }); for (let i = 0; i < 3; i++) await m.run('forward', [x()])`,
}
/** How it ends. */
const ends = { natural: '', exit: 'process.exit(0)', terminate: 'setInterval(() => 0, 1e6)' }

function runWorker(use: string, end: keyof typeof ends): Promise<void> {
  const code = `
    const { parentPort, workerData: { library, model } } = require('node:worker_threads')
    import(library).then(async (p) => {
      const x = () => p.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
      ${use}
      parentPort.postMessage('done')
      ${ends[end]}
    })`
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: { library, model }, execArgv: ['--enable-source-maps=false'] })
    worker.once('message', () => {
      if (end === 'terminate') void worker.terminate()
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

const maps = (): string[] => readFileSync('/proc/self/maps', 'utf8').split('\n')
/** Mappings of the model's file, and of generated code. */
const mapped = (): number => maps().filter((line) => line.endsWith('/resnet18.ptl')).length
const generated = (): number => maps().filter((line) => /^\S+ r-xp 00000000 00:00 0 *$/.test(line)).length

const ROUNDS = 3
for (const end of Object.keys(ends) as (keyof typeof ends)[]) {
  t.test(`what a worker owns goes with it: ${end}`, async (t) => {
    await runWorker(uses.run, end)
    const code = generated()
    for (const [name, use] of Object.entries(uses)) {
      const before = process.memoryUsage.rss()
      for (let i = 0; i < ROUNDS; i++) await runWorker(use, end)
      t.equal(mapped(), 0, `${name}: no mapping is left`)
      t.equal(generated(), code, `${name}: no generated code is left`)
      // of 48 MB of tensors in each round, or of a heap of V8 that is about to go
      t.ok(process.memoryUsage.rss() - before < 60e6, `${name}: memory went back`)
    }
  })
}

/** What a worker says before each step; it is terminated so many milliseconds after it has come to one. */
const STEPS = ['import', 'tensor', 'load', 'call', 'again']
const DELAYS = [0, 3, 12]

function terminateAt(step: string, delay: number): Promise<void> {
  const code = `
    const { parentPort, workerData: { library, model } } = require('node:worker_threads')
    const step = (name) => parentPort.postMessage(name)
    async function main() {
      step('import')
      const p = await import(library)
      step('tensor')
      const x = p.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
      step('load')
      const m = await p.loadModule(model, { compile: 'eager' })
      step('call')
      for (;;) {
        m.forward(x)
        await m.run('forward', [x])
        step('again')
      }
    }
    main()`
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: { library, model }, execArgv: ['--enable-source-maps=false'] })
    worker.on('message', (name) => {
      if (name === step) setTimeout(() => void worker.terminate(), delay)
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

// a fault would end this process
t.test('a worker can be terminated at any moment', async (t) => {
  for (const step of STEPS) {
    for (const delay of DELAYS) await terminateAt(step, delay)
    t.equal(mapped(), 0, `${step}: no mapping is left`)
  }
})

t.test('the background thread ends when it has nothing to do, and another one is started; plans stay', async (t) => {
  process.env['PTLITE_BACKGROUND_IDLE'] = '20'
  t.teardown(() => delete process.env['PTLITE_BACKGROUND_IDLE'])
  const m = await loadModule(model, { compile: 'eager' })
  const image = (batch: number): Tensor =>
    tensor(
      Float32Array.from({ length: batch * 3 * 32 * 32 }, (_, i) => Math.cos(i)),
      [batch, 3, 32, 32],
    )
  const bits = async (x: Tensor): Promise<unknown> => ((await m.run('forward', [x])) as Tensor).toArray()
  const alone = await loadModule(model, { compile: 'eager' })
  const threads = (): number => readdirSync('/proc/self/task').length
  const expected = [1, 2, 3].map((batch) => {
    alone.forward(image(batch))
    return (alone.forward(image(batch)) as Tensor).toArray()
  })
  const before = threads()
  for (const batch of [1, 2, 3]) {
    await bits(image(batch))
    t.same(await bits(image(batch)), expected[batch - 1])
    for (let i = 0; i < 200 && threads() > before; i++) await new Promise((go) => setTimeout(go, 20))
    t.ok(threads() <= before, `after ${batch}: no thread more than before`)
    // memory of a thread that is gone
    for (let b = 1; b <= batch; b++) t.same(await bits(image(b)), expected[b - 1])
  }
  t.strictSame(
    m.plans().map(({ state }) => state),
    ['plan', 'plan', 'plan'],
  )
  alone.dispose()
  m.dispose()
})
