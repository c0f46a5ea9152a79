import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { loadModule, type PtliteError, type Tensor, tensor } from '../src/index.js'
import { fixturePath, type Golden, inputOf } from './module/fixtures.js'
import { PROGRAM } from './support/state-program.js'

const dist = fileURLToPath(new URL('../dist/index.js', import.meta.url))
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

t.test('arguments that are disposed of before a plan fails', async (t) => {
  const module = await loadModule(PROGRAM)
  const picked = (at: bigint): Promise<unknown> => {
    const args = [tensor([[1, 2, 3]]), tensor(BigInt64Array.of(at), [1])]
    const run = module.run('picked', args)
    for (const arg of args) arg.dispose()
    return run
  }
  for (let i = 0; i < 4; i++) await picked(0n)
  await t.rejects(picked(7n), { code: 'INVALID_ARGUMENT', message: /index is out of range/ })
  module.dispose()
})

t.test('a module that is disposed at any time of its run fails by itself', async (t) => {
  const url = new URL('fixtures/disposal.ptl', import.meta.url)
  const x = (rows = 2): Tensor => tensor(new Float32Array(8 * rows).fill(0.1), [rows, 8])
  const codeOf = (error: unknown): unknown => (error as PtliteError).code
  const other = await loadModule(url)
  const turns = [
    () => Promise.resolve(),
    () => new Promise((resolve) => setImmediate(resolve)),
    ...[0, 1, 2, 3].map((ms) => () => new Promise((resolve) => setTimeout(resolve, ms))),
  ]
  for (const compile of ['off', 'auto', 'eager'] as const)
    for (const method of ['forward', 'step', 'in_regions'])
      for (const turn of turns) {
        const module = await loadModule(url, { compile })
        const args = (rows?: number): Tensor[] => (method === 'in_regions' ? [x(rows), x(rows)] : [x(rows)])
        const runs = Promise.allSettled([
          module.run(method, args()),
          module.run(method, args(method === 'step' ? 2 : 3)),
          module.compile(method, args()),
        ])
        const others = Promise.all([other.run('forward', [x(1)]), other.run('step', [x()])])
        await turn()
        module.dispose()
        for (const run of await runs) if (run.status === 'rejected') t.equal(codeOf(run.reason), 'DISPOSED')
        await t.resolves(others)
      }
  other.dispose()
})

/** Runs of two modules, the first of which ends the thread. */
const RUNS = `
  const url = new URL('disposal.ptl', process.env.FIXTURES)
  const x = () => tensor(new Float32Array(16).fill(0.1), [2, 8])
  const [module, other] = [await loadModule(url), await loadModule(url)]
  await other.run('step', [x()])
  const outcomeOf = (run) => run.then(() => 'result', ({ name, code, message }) => [name, code, message].join(' ').split('\\n')[0])
  const runs = [module.run('grow', [Number(process.env.TURNS)]), other.run('step', [x()]), module.run('forward', [x()]), other.compile('forward', [x()])]
  for (const run of runs) console.log(await outcomeOf(run))
  console.log(await outcomeOf(module.run('forward', [x()])), (await other.run('step', [x()])).shape.join())`

function inProcess(
  code: string,
  turns: string,
  flags: readonly string[],
  options: string,
): { readonly lines: string[]; readonly stderr: string } {
  const text = `const { loadModule, tensor } = await import(${JSON.stringify(dist)})\n${code}`
  const variables = [`TURNS=${turns}`, `FIXTURES=${new URL('fixtures/', import.meta.url).href}`, `NODE_OPTIONS=${options}`]
  // without what tap preloads, which would have workers begin after their first message
  const { stdout, stderr } = spawnSync(
    'env',
    [...variables, 'NODE_V8_COVERAGE=', process.execPath, ...flags, '--input-type=module', '-e', text],
    { encoding: 'utf8', timeout: 60_000 },
  )
  return { lines: stdout.trim().split('\n'), stderr }
}

t.test('a thread that runs out of memory, or exits, takes along the run that it was at', { timeout: 120_000 }, (t) => {
  const folder = t.testdir({
    'exits.cjs': `
      const { parentPort, workerData } = require('node:worker_threads')
      if (workerData?.ptlite === 'background') parentPort.on('message', (request) => request.kind === 'run' && request.method.endsWith('grow') && process.exit(3))`,
    'throws.cjs': `
      const { parentPort, workerData } = require('node:worker_threads')
      if (workerData?.ptlite === 'background') parentPort.on('message', (request) => { if (request.kind === 'run' && request.method.endsWith('grow')) throw new Error('by itself') })`,
  })
  for (const [ends, turns, flags, options] of [
    [/^PtliteError OUT_OF_MEMORY the background thread failed in this run: .*memory limit/, '60', ['--max-old-space-size=60'], ''],
    [/^PtliteError INTERNAL the background thread ended in this run, with exit code 3/, '3', [], `--require=${folder}/exits.cjs`],
    [/^result$/, '3', [], `--require=${folder}/throws.cjs`],
  ] as const) {
    const { lines, stderr } = inProcess(RUNS, turns, flags, options)
    t.match(lines, [ends, 'result', 'result', 'result', 'result 2,8'], stderr)
    t.equal(lines.length, 5)
  }
  t.end()
})

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
