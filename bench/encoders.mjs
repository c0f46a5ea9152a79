// Times encoders whose weights have few bits: ptlite in float32, with `weights: 'int8'` and in bfloat16, and onnxruntime in float32 and as its quantize_dynamic makes
// them, in turns, round by round, in one run. Prints medians in Markdown, with the largest difference from onnxruntime's float32 result.
//
//   node encoders.mjs [--encoders encoder,bert_layer_128,vit_tiny,whisper_tiny] [--threads 1,2] [--rounds 7] [--seconds 5] [--python PATH] [--minimum]
//
// --python, or PYTHON in the environment, names a Python with PyTorch 2, timm, transformers, onnx and onnxruntime, which writes the models, once.
// --minimum prints the fastest runs in place of the medians: for machines with other work.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../dist/index.js'
import { compare, relativeError } from './lib/compare.mjs'
import { modelPath } from './lib/models.mjs'
import { OnnxRuntime, Ptlite } from './lib/peers.mjs'

const { values: options } = parseArgs({
  options: {
    encoders: { type: 'string', default: 'encoder,bert_layer_128,vit_tiny,whisper_tiny' },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    minimum: { type: 'boolean', default: false },
  },
})
const statistic = options.minimum ? 'minimum' : 'median'
const path = (name, kind) => modelPath(name, kind, { script: 'export_encoders.py', python: options.python })

const onnx = [await OnnxRuntime.start(), await OnnxRuntime.start()]
if (onnx.includes(null)) process.exit(1)
const PEERS = [
  { peer: new Ptlite('float32', 'eager'), kind: 'ptl' },
  { peer: new Ptlite('int8', 'eager', undefined, { weights: 'int8' }), kind: 'ptl' },
  { peer: new Ptlite('bfloat16', 'eager'), kind: 'bfloat16.ptl' },
  { peer: Object.assign(onnx[0], { name: 'onnxruntime float32' }), kind: 'onnx' },
  { peer: Object.assign(onnx[1], { name: 'onnxruntime int8' }), kind: 'int8.onnx' },
]
const RATIOS = [
  ['int8', 'float32'],
  ['int8', 'onnxruntime int8'],
  ['bfloat16', 'float32'],
]

const cells = (list) => console.log(`| ${list.join(' | ')} |`)
console.log(`${cpus()[0].model}, kernels at ${cpu.currentLevel()}, onnxruntime ${onnx[0].version}; ${statistic}s in milliseconds\n`)
cells(['encoder', 'threads', ...PEERS.map(({ peer }) => peer.name), ...RATIOS.map(([a, b]) => `${a} / ${b}`), 'differences'])
console.log(`|---|${'---:|'.repeat(PEERS.length + RATIOS.length + 2)}`)
for (const name of options.encoders.split(',')) {
  for (const threads of options.threads.split(',').map(Number)) {
    const results = []
    for (const { peer, kind } of PEERS) results.push(await peer.load(path(name, kind), path(name, 'npy'), threads))
    const times = await compare(
      PEERS.map(({ peer }) => peer),
      { rounds: Number(options.rounds), milliseconds: (1000 * Number(options.seconds)) / Number(options.rounds) },
    )
    const time = (peer) => times[peer][statistic]
    const differences = results.map((result) => relativeError(result, results[3]).toExponential(0)).filter((_, i) => i !== 3)
    cells([
      name,
      threads,
      ...PEERS.map(({ peer }) => time(peer.name).toPrecision(3)),
      ...RATIOS.map(([a, b]) => (time(a) / time(b)).toFixed(2)),
      differences.join(', '),
    ])
  }
}
for (const { peer } of PEERS) await peer.close()
