// Times ptlite beside PyTorch's lite interpreter and onnxruntime, in one run: the runtimes take turns, round by round,
// on the same machine, the same input and one thread each. Prints a table of medians in Markdown.
//
//   node run.mjs [--models mobilenet_v2,mlp] [--files ptl,mobile.ptl,ff] [--seconds 6] [--rounds 9] [--json FILE]
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../dist/index.js'
import { modelPath, MODELS } from './lib/models.mjs'
import { OnnxRuntime, Ptlite, TorchLite } from './lib/peers.mjs'

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: MODELS.join() },
    files: { type: 'string', default: 'ptl,mobile.ptl,ff' },
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
  },
})
const rounds = Number(options.rounds)
const budget = (1000 * Number(options.seconds)) / rounds

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

/** Largest difference relative to the largest value of the reference. */
function relativeError(got, want) {
  const scale = want.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-30)
  return want.reduce((m, x, i) => Math.max(m, Math.abs(x - got[i])), 0) / scale
}

/** Medians in milliseconds by runtime. Each gets the same share of every round. */
async function compare(peers) {
  const times = new Map(peers.map((peer) => [peer, []]))
  const runs = new Map()
  for (const peer of peers) {
    const warm = await peer.time(3)
    runs.set(peer, Math.max(1, Math.min(2000, Math.round(budget / peers.length / Math.max(warm.at(-1), 0.002)))))
  }
  for (let round = 0; round < rounds; round++) {
    // a different one begins each round, so that none always runs on a core that the one before has heated
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[(round + i) % peers.length]
      times.get(peer).push(...(await peer.time(runs.get(peer))))
    }
  }
  return new Map(peers.map((peer) => [peer, { ms: median(times.get(peer)), runs: times.get(peer).length }]))
}

const ptlite = new Ptlite()
const torch = await TorchLite.start()
const onnx = await OnnxRuntime.start()
const rows = []

for (const name of options.models.split(',')) {
  const input = modelPath(name, 'npy')
  await onnx?.load(modelPath(name, 'onnx'), input)
  for (const kind of options.files.split(',')) {
    const file = modelPath(name, kind)
    const want = await torch.load(file, input)
    const got = await ptlite.load(file, input)
    const result = await compare([ptlite, torch, ...(onnx === null ? [] : [onnx])])
    const row = { model: name, file: kind, error: relativeError(got, want) }
    for (const [peer, { ms, runs }] of result) row[peer.name] = { ms, runs }
    rows.push(row)
    console.error(
      `${name}.${kind}: ${[...result].map(([peer, { ms, runs }]) => `${peer.name} ${ms.toPrecision(3)} ms (${runs} runs)`).join(', ')}`,
    )
  }
}
await Promise.all([torch.close(), onnx?.close()])

const ms = (row, name) => (row[name] === undefined ? '' : Number(row[name].ms.toPrecision(3)).toString())
const ratio = (row, name) => (row[name] === undefined ? '' : `${(row.ptlite.ms / row[name].ms).toFixed(2)}×`)
console.log(
  `${cpus()[0].model}, one thread, kernels at ${cpu.currentLevel()}, Node ${process.version}, PyTorch ${torch.version}, onnxruntime ${onnx?.version ?? 'absent'}\n`,
)
console.log('| model | file | ptlite ms | PyTorch lite ms | ptlite / PyTorch | onnxruntime ms | ptlite / onnxruntime | max error |')
console.log('|---|---|---:|---:|---:|---:|---:|---:|')
for (const row of rows) {
  const cells = [
    row.model,
    row.file,
    ms(row, 'ptlite'),
    ms(row, 'PyTorch lite'),
    ratio(row, 'PyTorch lite'),
    ms(row, 'onnxruntime'),
    ratio(row, 'onnxruntime'),
  ]
  console.log(`| ${[...cells, row.error.toExponential(0)].join(' | ')} |`)
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
