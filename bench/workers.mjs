// What workers leave behind: worker threads that load a model, use it and end, one after the other, in every way that one can end. The
// resident set after each, beside that of workers that import nothing, or koffi alone, which leaves some 50 kB each time. What is left after
// the first tenth has to be within 10 % of what workers with koffi leave. Exits 1 where it is not.
//
//   node bench/workers.mjs [--model mobilenet_v2] [--workers 200] [--uses load,forward,run] [--ends natural,terminate,exit]
import { readFileSync, readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'mobilenet_v2' },
    workers: { type: 'string', default: '200' },
    uses: { type: 'string', default: 'nothing,koffi,load,forward,run' },
    ends: { type: 'string', default: 'natural,terminate,exit' },
  },
})
const count = Number(options.workers)
/** What a resident set may grow by after the first tenth, beside what workers with koffi leave. */
const MOST_GROWTH = 0.1

const library = new URL('../dist/index.cjs', import.meta.url).pathname
const koffi = new URL('../node_modules/koffi', import.meta.url).pathname
const kernels = new URL('../dist/libptlite.so', import.meta.url).pathname
const file = modelPath(options.model, 'ptl')
const { dtype, shape, data } = readNpy(modelPath(options.model, 'npy'))

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
  koffi: `${begin} const main = async () => { require(${JSON.stringify(koffi)}).load(${JSON.stringify(kernels)}); ready() }`,
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

console.log(`${options.model}, ${count} workers each; resident set in MB\n`)
console.log('| use | end | after a tenth | at the end | growth | mappings left | threads |\n|---|---|---:|---:|---:|---:|---:|')
let failed = false
let koffiLeft = 0
for (const use of options.uses.split(',')) {
  for (const end of options.ends.split(',')) {
    const work = await runWorker(use, end === 'terminate' ? 'natural' : end, 0)
    let early = 0
    for (let i = 1; i <= count; i++) {
      await runWorker(use, end, 1.5 * work * Math.random())
      if (i === Math.ceil(count / 10)) early = megabytes()
    }
    const late = megabytes()
    const growth = late / early - 1
    const left = mappings()
    if (use === 'koffi') koffiLeft = Math.max(koffiLeft, late - early)
    failed ||= (late - koffiLeft) / early - 1 > MOST_GROWTH || left > 0
    console.log(`| ${use} | ${end} | ${early.toFixed(1)} | ${late.toFixed(1)} | ${(100 * growth).toFixed(1)} % | ${left} | ${threads()} |`)
  }
}
process.exitCode = failed ? 1 : 0
