// Times a layer of BERT-base and one like Llama's (rotary positions, grouped heads, RMSNorm, SwiGLU) at several lengths: ptlite,
// interpreted and as a compiled plan, PyTorch 2 in eager mode and onnxruntime take turns, round by round, in one run. Prints medians
// in Markdown.
//
//   node transformers.mjs [--layers bert_layer_128,llama_layer_512] [--threads 1,2] [--file ptl|matmul.ptl] [--rounds 7]
//                         [--seconds 6] [--python PATH] [--json FILE] [--minimum]
//
// --python, or PYTHON in the environment, names a Python with PyTorch 2, onnx and numpy: it exports the layers and runs as a peer.
// --minimum prints the fastest runs in place of the medians: for machines with other work.
// --file matmul.ptl has attention written out as products and a softmax.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../dist/index.js'
import { compare, relativeError } from './lib/compare.mjs'
import { modelPath } from './lib/models.mjs'
import { OnnxRuntime, Ptlite, TorchEager } from './lib/peers.mjs'

const LENGTHS = [128, 512, 2048]
const LAYERS = ['bert', 'llama'].flatMap((kind) => LENGTHS.map((tokens) => `${kind}_layer_${tokens}`))

const { values: options } = parseArgs({
  options: {
    layers: { type: 'string', default: LAYERS.join() },
    threads: { type: 'string', default: '1,2' },
    file: { type: 'string', default: 'ptl' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '6' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    json: { type: 'string' },
    minimum: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const statistic = options.minimum ? 'minimum' : 'median'
const path = (layer, kind) => modelPath(layer, kind, { script: 'export_transformers.py', python: options.python })

const plan = new Ptlite('plan', 'eager')
const torch = await TorchEager.start(options.python)
const onnx = await OnnxRuntime.start()
const peers = [new Ptlite('interpreter', 'off'), plan, torch, ...(onnx === null ? [] : [onnx])]
const others = peers.filter((peer) => peer !== plan)
const source = (peer, layer) => (peer === torch ? layer : path(layer, peer === onnx ? 'onnx' : options.file))

console.log(
  `${cpus()[0].model}, kernels at ${cpu.currentLevel()}, PyTorch ${torch.version}, onnxruntime ${onnx?.version ?? 'absent'}; ${statistic}s in milliseconds\n`,
)
const cells = (list) => `| ${list.join(' | ')} |`
console.log(cells(['layer', 'threads', ...peers.map((peer) => peer.name), ...others.map((peer) => `plan / ${peer.name}`), 'max error']))
console.log(`|---|${'---:|'.repeat(peers.length + others.length + 2)}`)
const rows = []
for (const layer of options.layers.split(',')) {
  for (const threads of options.threads.split(',').map(Number)) {
    const row = await measure(layer, threads)
    rows.push(row)
    const time = (peer) => row.times[peer.name]?.[statistic] ?? NaN
    const ratios = others.map((peer) => `${(time(plan) / time(peer)).toFixed(2)}×`)
    console.log(cells([layer, threads, ...peers.map((peer) => time(peer).toPrecision(3)), ...ratios, row.error.toExponential(0)]))
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
  }
}
await Promise.all(peers.map((peer) => peer.close()))

/** One layer at one number of threads. A runtime that cannot load it is left out; errors are relative to PyTorch's largest value. */
async function measure(layer, threads) {
  const outputs = new Map()
  for (const peer of peers) {
    try {
      outputs.set(peer, await peer.load(source(peer, layer), path(layer, 'npy'), threads))
    } catch (error) {
      console.error(`${layer}: ${peer.name} fails: ${String(error.message).split('\n')[0]}`)
    }
  }
  const want = outputs.get(torch)
  const error = Math.max(...[...outputs.values()].map((got) => relativeError(got, want)))
  const times = await compare([...outputs.keys()], { rounds, milliseconds: (1000 * Number(options.seconds)) / rounds })
  return { layer, threads, error, times }
}
