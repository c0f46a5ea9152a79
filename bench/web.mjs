// Times ptlite/web beside onnxruntime-web, and beside the native kernels, in one run of Node: the runtimes take turns, round by round, with the same input.
// With more than one thread, beside itself on one, too. Prints a table in Markdown, with the geometric mean of the ratios.
//
//   node [--experimental-wasm-relaxed-simd --no-liftoff] web.mjs [--models mobilenet_v2,mlp] [--seconds 6] [--rounds 5] [--minimum] [--processor]
//                                                   [--kernels FILE] [--threads 2]
//
// The options of Node are for versions below 22, where relaxed SIMD is not switched on. --minimum prints the fastest runs in place of the medians: for
// machines with other work; --processor takes the time that processors spend on this process, which other work changes least. --kernels takes a file of
// kernels in place of the best that the engine knows.
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import * as web from '../dist/web.js'
import { countProcessorTime } from './lib/clock.mjs'
import { compare, geometricMean, relativeError } from './lib/compare.mjs'
import { modelPath, WEB_MODELS } from './lib/models.mjs'
import { OnnxRuntimeWeb, Ptlite } from './lib/peers.mjs'

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: WEB_MODELS.join() },
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    minimum: { type: 'boolean', default: false },
    processor: { type: 'boolean', default: false },
    kernels: { type: 'string' },
    threads: { type: 'string', default: '1' },
  },
})
const [rounds, threads] = [Number(options.rounds), Number(options.threads)]
if (options.processor) countProcessorTime()
if (options.kernels !== undefined) web.setKernels(pathToFileURL(options.kernels))
const statistic = options.minimum ? 'minimum' : 'median'

const ours = new Ptlite('ptlite/web', 'eager', web)
const native = new Ptlite('ptlite, native', 'eager')
const theirs = await OnnxRuntimeWeb.start(threads)
const alone = new Ptlite('ptlite/web, 1 thread', 'eager', web)
const PEERS = threads === 1 ? [ours, native, theirs] : [ours, alone, native, theirs]

console.log(
  `Node ${process.version}, kernels for ${web.cpu.currentLevel()}, onnxruntime-web ${theirs.version}, ${threads === 1 ? '1 thread' : `${threads} threads`}, ${statistic} in ms${options.processor ? ' of processor time' : ''}\n`,
)
const [headOfAlone, lineOfAlone] = threads === 1 ? ['', ''] : [' on 1 thread | ratio |', '---:|---:|']
console.log(`| network | ptlite/web |${headOfAlone} onnxruntime-web | ratio | ptlite, native | ratio | difference |`)
console.log(`|---|---:|${lineOfAlone}---:|---:|---:|---:|---:|`)
const ratios = []
for (const model of options.models.split(',')) {
  const outputs = new Map()
  for (const peer of PEERS) {
    try {
      outputs.set(
        peer,
        await peer.load(modelPath(model, peer === theirs ? 'onnx' : 'traced.ptl'), modelPath(model, 'npy'), peer === alone ? 1 : threads),
      )
    } catch (error) {
      console.error(`${model}: ${peer.name} fails: ${String(error.message).split('\n')[0]}`)
    }
  }
  const times = await compare([...outputs.keys()], { rounds, milliseconds: (1000 * Number(options.seconds)) / rounds })
  const time = (peer) => times[peer.name]?.[statistic]
  const ms = (peer) => (time(peer) === undefined ? 'n/a' : String(Number(time(peer).toPrecision(3))))
  const ratio = (peer) => (time(peer) === undefined ? 'n/a' : `${(time(ours) / time(peer)).toFixed(2)}×`)
  if (time(theirs) !== undefined) ratios.push(time(ours) / time(theirs))
  const error = outputs.has(native) ? relativeError(outputs.get(ours), outputs.get(native)).toExponential(1) : 'n/a'
  const besideAlone = threads === 1 ? '' : ` ${ms(alone)} | ${ratio(alone)} |`
  console.log(`| ${model} | ${ms(ours)} |${besideAlone} ${ms(theirs)} | ${ratio(theirs)} | ${ms(native)} | ${ratio(native)} | ${error} |`)
}
console.log(`\ngeometric mean against onnxruntime-web: ${geometricMean(ratios).toFixed(2)}×`)
await Promise.all(PEERS.map((peer) => peer.close()))
