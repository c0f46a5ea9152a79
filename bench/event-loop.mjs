// How long the event loop has to wait while a model is loaded, compiled and run: ptlite's `loadModule()`, `compile()` and `run()`, and
// onnxruntime-node's, round by round in one process, each with the delays of a timer of 1 ms (perf_hooks.monitorEventLoopDelay). On a busy
// machine these are the scheduler's, as the row 'nothing' shows: the most processor time that this thread used between two times that
// a timer fired stands beside them. Exits 1 where the 99th percentile of all that ptlite does, load, compilation and runs, is 10 ms or more.
//
//   node event-loop.mjs [--model resnet50] [--threads 1] [--runs 30] [--rounds 3] [--no-peer]
import { readFileSync } from 'node:fs'
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
    'no-peer': { type: 'boolean', default: false },
  },
})
const [threads, runs, rounds] = [options.threads, options.runs, options.rounds].map(Number)
const { dtype, shape, data } = readNpy(modelPath(options.model, 'npy'))
/** The timer's own millisecond is no delay. */
const RESOLUTION = 1

const MAX_P99 = 10
/** Of all that ptlite does. */
const whole = monitorEventLoopDelay({ resolution: RESOLUTION })

/** Milliseconds of processor time of this thread. */
const ownTime = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6

/** Starts to note the most processor time between two turns of the event loop; the returned function says it. */
function watchTurns() {
  let [before, most] = [ownTime(), 0]
  const timer = setInterval(() => {
    const now = ownTime()
    most = Math.max(most, now - before)
    before = now
  }, RESOLUTION)
  return () => {
    clearInterval(timer)
    return most
  }
}

/** Milliseconds that the event loop waited beyond the timer's interval while `count` runs follow each other, and those of a run. */
async function measure(run, count, isOurs) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
  if (isOurs) whole.enable()
  // a delay is what lies between two times that the timer fires
  await setTimeout(3 * RESOLUTION)
  const endWatch = watchTurns()
  const begin = performance.now()
  for (let i = 0; i < count; i++) await run()
  const each = (performance.now() - begin) / count
  // the timer notices what has blocked it when it fires again
  await setTimeout(2 * RESOLUTION)
  delays.disable()
  whole.disable()
  return { each, ...figures(delays), work: endWatch() }
}

function figures(delays) {
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION)
  return { p50: ms(delays.percentile(50)), p99: ms(delays.percentile(99)), most: ms(delays.max) }
}

async function startPtlite() {
  setNumThreads(threads)
  const input = Tensor.fromStorage(data, { dtype, shape })
  const file = modelPath(options.model, 'ptl')
  let module
  row('ptlite', 'load', await measure(async () => (module = await loadModule(file)), 1, true))
  row('ptlite', 'compile', await measure(() => module.compile('forward', [input]), 1, true))
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

const row = (name, what, r) =>
  console.log(
    `| ${name} | ${what} | ${[r.each, r.p50, r.p99, r.most, r.work].map((x) => (x === undefined ? '' : x.toFixed(1))).join(' | ')} |`,
  )
console.log(`${options.model}, ${threads} thread${threads === 1 ? '' : 's'}; milliseconds\n`)
console.log(
  '| runtime | what | each | delay p50 | delay p99 | longest | most processor time of a turn |\n|---|---|---:|---:|---:|---:|---:|',
)
// what other programs make of it
row('nothing', '1 s', await measure(() => setTimeout(1000), 1, false))
const peers = [['ptlite', await startPtlite(), true]]
try {
  if (!options['no-peer']) peers.push(['onnxruntime-node', await startOnnx(), false])
} catch (error) {
  console.error(`onnxruntime-node is left out: ${error.message.split('\n')[0]}; run npm ci in bench/`)
}
for (const [name, run, isOurs] of peers) row(name, 'first 5 runs', await measure(run, 5, isOurs))
for (let round = 1; round <= rounds; round++)
  for (const [name, run, isOurs] of peers) row(name, `${runs} runs, round ${round}`, await measure(run, runs, isOurs))
const all = figures(whole)
row('ptlite', 'all of it', all)
process.exit(all.p99 < MAX_P99 ? 0 : 1)
