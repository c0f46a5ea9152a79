// How long the event loop has to wait while a model runs: ptlite's `run()` and onnxruntime-node's, round by round in one process, each
// with the delays of a timer of 1 ms (perf_hooks.monitorEventLoopDelay). The first runs, in which ptlite is compiled, have a row of their own.
//
//   node event-loop.mjs [--model resnet50] [--threads 1] [--runs 30] [--rounds 3]
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadModule, setNumThreads, Tensor } from '../dist/index.js'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'resnet50' },
    threads: { type: 'string', default: '1' },
    runs: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
  },
})
const [threads, runs, rounds] = [options.threads, options.runs, options.rounds].map(Number)
const { dtype, shape, data } = readNpy(modelPath(options.model, 'npy'))
/** The timer's own millisecond is no delay. */
const RESOLUTION = 1

/** Milliseconds that the event loop waited beyond the timer's interval while `count` runs follow each other, and those of a run. */
async function measure(run, count) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
  const begin = performance.now()
  for (let i = 0; i < count; i++) await run()
  const each = (performance.now() - begin) / count
  // the timer notices what has blocked it when it fires again
  await setTimeout(2 * RESOLUTION)
  delays.disable()
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION)
  return { each, p50: ms(delays.percentile(50)), p99: ms(delays.percentile(99)), most: ms(delays.max) }
}

async function startPtlite() {
  setNumThreads(threads)
  const input = Tensor.fromStorage(data, { dtype, shape })
  const module = await loadModule(modelPath(options.model, 'ptl'))
  return async () => (await module.run('forward', [input])).dispose()
}

async function startOnnx() {
  const { default: onnx } = await import('onnxruntime-node')
  const session = await onnx.InferenceSession.create(modelPath(options.model, 'onnx'), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  const feeds = { input: new onnx.Tensor(dtype, data, shape) }
  return () => session.run(feeds)
}

const peers = [['ptlite', await startPtlite()]]
try {
  peers.push(['onnxruntime-node', await startOnnx()])
} catch (error) {
  console.error(`onnxruntime-node is left out: ${error.message.split('\n')[0]}; run npm ci in bench/`)
}
const row = (name, what, r) => console.log(`| ${name} | ${what} | ${[r.each, r.p50, r.p99, r.most].map((x) => x.toFixed(1)).join(' | ')} |`)
console.log(`${options.model}, ${threads} thread${threads === 1 ? '' : 's'}; milliseconds\n`)
console.log('| runtime | runs | each | delay p50 | delay p99 | longest |\n|---|---|---:|---:|---:|---:|')
for (const [name, run] of peers) row(name, 'first 5', await measure(run, 5))
for (let round = 1; round <= rounds; round++)
  for (const [name, run] of peers) row(name, `${runs}, round ${round}`, await measure(run, runs))
process.exit()
