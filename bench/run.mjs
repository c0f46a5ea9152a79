// Times ptlite, interpreted and as a compiled plan, beside onnxruntime and PyTorch's lite interpreter in one run: the runtimes take
// turns, round by round, on the same machine, with the same input and as many threads each. Prints a table of medians in Markdown.
//
//   node run.mjs [--models mobilenet_v2,mlp] [--threads 1,2] [--files traced.ptl,ptl,mobile.ptl,ff] [--seconds 8] [--rounds 9]
//                [--json FILE] [--minimum]
//
// --files says in which forms, as models/export.py names them, with traced networks by default; onnxruntime gets the same network each
// time. --json keeps every row in a file as soon as it is measured; rows that are there already are printed, not measured again, so that
// a run that was interrupted goes on. --minimum prints the fastest runs in place of the medians: for machines with other work.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../dist/index.js'
import { compare, relativeError } from './lib/compare.mjs'
import { modelPath, MODELS } from './lib/models.mjs'
import { OnnxRuntime, Ptlite, TorchLite } from './lib/peers.mjs'

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: MODELS.join() },
    threads: { type: 'string', default: '1,2' },
    files: { type: 'string', default: 'traced.ptl' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
    minimum: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const budget = (1000 * Number(options.seconds)) / rounds

const INTERPRETER = 'interpreter'
const PLAN = 'plan'
const ptlite = [new Ptlite(INTERPRETER, 'off'), new Ptlite(PLAN, 'eager')]
const torch = await TorchLite.start()
const onnx = await OnnxRuntime.start()
const PEERS = [...ptlite, ...(onnx === null ? [] : [onnx]), torch]

const rows = options.json !== undefined && existsSync(options.json) ? JSON.parse(readFileSync(options.json, 'utf8')) : []
for (const model of options.models.split(',')) {
  for (const file of options.files.split(',')) {
    for (const threads of options.threads.split(',').map(Number)) {
      if (rows.some((row) => row.model === model && row.file === file && row.threads === threads)) continue
      const row = await measure(model, file, threads)
      rows.push(row)
      if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
      const figures = Object.entries(row.times).map(
        ([peer, t]) => `${peer} ${t.median.toPrecision(3)} (least ${t.minimum.toPrecision(3)}) ms`,
      )
      console.error(`${model}.${file}, ${threads} thread${threads === 1 ? '' : 's'}: ${figures.join(', ')}`)
    }
  }
}
await Promise.all(PEERS.map((peer) => peer.close()))
print(rows)

/** One model at one number of threads. A runtime that cannot load it is left out of the row. */
async function measure(model, file, threads) {
  const input = modelPath(model, 'npy')
  const outputs = new Map()
  for (const peer of PEERS) {
    try {
      outputs.set(peer, await peer.load(modelPath(model, peer === onnx ? 'onnx' : file), input, threads))
    } catch (error) {
      console.error(`${model}: ${peer.name} fails: ${String(error.message).split('\n')[0]}`)
    }
  }
  const want = outputs.get(torch)
  const errors = ptlite.filter((peer) => outputs.has(peer)).map((peer) => relativeError(outputs.get(peer), want))
  const times = await compare([...outputs.keys()], { rounds, milliseconds: budget })
  return { model, file, threads, error: Math.max(...errors), times }
}

function print(all) {
  const statistic = options.minimum ? 'minimum' : 'median'
  const time = (row, name) => row.times[name]?.[statistic]
  const ms = (row, name) => (time(row, name) === undefined ? 'n/a' : Number(time(row, name).toPrecision(3)).toString())
  const ratio = (row, name) =>
    time(row, name) === undefined || time(row, PLAN) === undefined ? 'n/a' : `${(time(row, PLAN) / time(row, name)).toFixed(2)}×`
  console.log(
    `${cpus()[0].model}, kernels at ${cpu.currentLevel()}, Node ${process.version}, PyTorch ${torch.version}, onnxruntime ${onnx?.version ?? 'absent'}; ${statistic}s in milliseconds\n`,
  )
  const names = [INTERPRETER, PLAN, 'onnxruntime', 'PyTorch lite']
  const others = names.filter((name) => name !== PLAN)
  console.log(`| model | file | threads | ${names.join(' | ')} | ${others.map((name) => `plan / ${name}`).join(' | ')} | max error |`)
  console.log(`|---|---|---:|${'---:|'.repeat(names.length + others.length + 1)}`)
  for (const row of all) {
    const cells = [row.model, row.file, row.threads, ...names.map((name) => ms(row, name)), ...others.map((name) => ratio(row, name))]
    console.log(`| ${[...cells, row.error.toExponential(0)].join(' | ')} |`)
  }
}
