// What workers leave behind: worker threads that load a model, use it and end, one after the other, in every way that one can end. The
// resident set after each, beside that of workers that import nothing, or that run plain JavaScript of the library's size. It goes up and
// down from worker to worker, so medians count: that of the last tenth of the workers has to be within 10 % of that of
// the second one. Exits 1 where it is not.
//
//   node bench/workers.mjs [--model mobilenet_v2] [--workers 200] [--uses load,forward,run] [--ends natural,terminate,exit]
//
// Or workers that import the library, load a model and call it, and are terminated at random moments, from the start of the thread until
// --within milliseconds after its program has begun. Each must end; the process must go on.
//
//   node bench/workers.mjs --moments 500 [--within 60] [--uses forward,run]
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'mobilenet_v2' },
    workers: { type: 'string', default: '200' },
    uses: { type: 'string' },
    ends: { type: 'string', default: 'natural,terminate,exit' },
    moments: { type: 'string', default: '0' },
    within: { type: 'string', default: '60' },
  },
})
const count = Number(options.workers)
/** What a resident set may grow by from the second tenth of the workers to the last one. */
const MAX_GROWTH = 0.1

const library = new URL('../dist/index.cjs', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'ptlite-workers-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const file = modelPath(options.model, 'ptl')
const { dtype, shape, data } = readNpy(modelPath(options.model, 'npy'))

/** A module with functions of as many bytes as the library has, all of which are called. */
const plain = join(folder, 'plain.cjs')
const functionOf = (i) =>
  `exports.f${i} = (x) => { const list = [x, ${i}]; for (let k = 0; k < 4; k++) list.push(list[k] * ${i}); return list }\n`
writeFileSync(plain, Array.from({ length: 3500 }, (_, i) => functionOf(i)).join(''))

const begin = `
const { parentPort, workerData } = require('node:worker_threads')
const ready = () => parentPort.postMessage('ready')
`
const load = `${begin}
const { loadModule, Tensor } = require(${JSON.stringify(library)})
const { file, data, shape, dtype } = workerData
const start = async () => [await loadModule(file), Tensor.fromStorage(data, { dtype, shape })]
`
/** Programs of workers, which say when they begin to use the model and return when they are done; nothing is disposed. */
const programs = {
  nothing: `${begin} const main = async () => { ready() }`,
  plain: `${begin} const main = async () => { globalThis.kept = Object.values(require(${JSON.stringify(plain)})).map((f) => f(1)); ready() }`,
  load: `${load} const main = async () => { globalThis.kept = await start(); ready() }`,
  forward: `${load} const main = async () => { const [m, x] = await start(); ready(); for (let i = 0; i < 4; i++) m.forward(x) }`,
  run: `${load} const main = async () => { const [m, x] = await start(); ready(); for (let i = 0; i < 4; i++) await m.run('forward', [x]) }`,
}
const tails = {
  natural: 'main()',
  exit: 'main().then(() => process.exit(0))',
  // it goes on until it is stopped
  terminate: 'const forever = async () => { for (;;) { await main(); await new Promise((go) => setTimeout(go, 5)) } }; forever()',
}

/** Runs a worker to its end; milliseconds that it worked. One that is to be terminated is so `after` milliseconds of work. */
function runWorker(use, end, after) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(`${programs[use]}\n${tails[end]}`, { eval: true, workerData: { file, data, shape, dtype } })
    let since = 0
    worker.once('message', () => {
      since = performance.now()
      if (end === 'terminate') setTimeout(() => void worker.terminate(), after)
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve(performance.now() - since))
  })
}

const megabytes = () => process.memoryUsage.rss() / 1e6
const threads = () => readdirSync('/proc/self/task').length
const mappings = () =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes(file)).length

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1]

/** Whether all uses and ends leave no more than they may. */
async function measureLeft(uses, ends) {
  console.log(`${options.model}, ${count} workers each; resident set in MB\n`)
  console.log('| use | end | second tenth | last tenth | growth | mappings left | threads |\n|---|---|---:|---:|---:|---:|---:|')
  let good = true
  for (const use of uses) {
    for (const end of ends) {
      const work = await runWorker(use, end === 'terminate' ? 'natural' : end, 0)
      const samples = []
      for (let i = 0; i < count; i++) {
        await runWorker(use, end, 1.5 * work * Math.random())
        samples.push(megabytes())
      }
      const tenth = Math.ceil(count / 10)
      const [early, late] = [median(samples.slice(tenth, 2 * tenth)), median(samples.slice(-tenth))]
      const growth = late / early - 1
      const left = mappings()
      good &&= growth <= MAX_GROWTH && left === 0
      console.log(
        `| ${use} | ${end} | ${early.toFixed(1)} | ${late.toFixed(1)} | ${(100 * growth).toFixed(1)} % | ${left} | ${threads()} |`,
      )
    }
  }
  return good
}

/** What a worker says that it has come to, in this order. */
const STEPS = ['started', 'imported', 'loaded', 'called']

/** Terminates a worker after so many milliseconds; how many steps it had come to. */
function terminateAfter(use, milliseconds) {
  const steps = new Int32Array(new SharedArrayBuffer(4))
  const call = { forward: 'm.forward(x)', run: `await m.run('forward', [x])` }[use]
  const code = `
const { file, data, shape, dtype, steps } = require('node:worker_threads').workerData
const main = async () => {
  steps[0] = 1
  const { loadModule, Tensor } = require(${JSON.stringify(library)})
  steps[0] = 2
  const [m, x] = [await loadModule(file), Tensor.fromStorage(data, { dtype, shape })]
  steps[0] = 3
  for (;;) {
    ${call}
    steps[0] = 4
    await new Promise(setImmediate)
  }
}
main()`
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: { file, data, shape, dtype, steps } })
    worker.on('error', reject)
    worker.on('exit', () => resolve(steps[0]))
    setTimeout(() => void worker.terminate(), milliseconds)
  })
}

/** Milliseconds from the start of a thread until its program begins: the median of several. */
async function startOfThread() {
  const times = []
  for (let i = 0; i < 9; i++) {
    const since = performance.now()
    const worker = new Worker('', { eval: true })
    worker.on('online', () => times.push(performance.now() - since))
    await new Promise((resolve) => worker.on('exit', resolve))
  }
  return median(times)
}

async function terminateAtRandom(moments, within, uses) {
  const end = within + (await startOfThread())
  console.log(`${options.model}, ${moments} workers each, terminated within ${end.toFixed(0)} ms; what they had come to\n`)
  console.log(`| use | nothing | ${STEPS.join(' | ')} | MB after a tenth | at the end |\n|---|${'---:|'.repeat(STEPS.length + 3)}`)
  for (const use of uses) {
    const reached = new Array(STEPS.length + 1).fill(0)
    let early = 0
    for (let i = 1; i <= moments; i++) {
      reached[await terminateAfter(use, end * Math.random())]++
      if (i === Math.ceil(moments / 10)) early = megabytes()
    }
    console.log(`| ${use} | ${reached.join(' | ')} | ${early.toFixed(1)} | ${megabytes().toFixed(1)} |`)
  }
}

const uses = (fallback) => (options.uses ?? fallback).split(',')
if (Number(options.moments) > 0) await terminateAtRandom(Number(options.moments), Number(options.within), uses('forward,run'))
else if (!(await measureLeft(uses('nothing,plain,load,forward,run'), options.ends.split(',')))) process.exitCode = 1
