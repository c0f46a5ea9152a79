// TorchScript archives beside torch.jit in the same run: the time to load one, by megabyte, and the time of each chunk of audio that a model with state is
// given in order, whose results have to agree. Both sides have one thread and take turns; ratios are of medians.
//
//   node torchscript.mjs MODEL.pt... [--stream VAD.pt] [--python python3] [--runs 15] [--chunks 200]
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadModule, setNumThreads, tensor } from '../dist/index.js'

const { values, positionals } = parseArgs({
  options: {
    stream: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    runs: { type: 'string', default: '15' },
    chunks: { type: 'string', default: '200' },
  },
  allowPositionals: true,
})
const SIZE = 512
const RATE = 16000
const TOLERANCE = 1e-4
const chunks = Number(values.chunks)
setNumThreads(1)

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1]

/** PyTorch's side: `turn()` gives the milliseconds and results of one turn. */
function peer(what, path) {
  const script = fileURLToPath(new URL('lib/torchscript_peer.py', import.meta.url))
  const child = spawn(values.python, [script, what, path, `${chunks}`, `${SIZE}`, `${RATE}`], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async turn() {
      child.stdin.write('\n')
      const { value, done } = await lines.next()
      if (done) throw new Error(`${values.python} ended: is PyTorch installed?`)
      return JSON.parse(value)
    },
    close: () => child.stdin.end(),
  }
}

/** Lets both sides take turns, the first of which does not count. */
async function measure(what, path, own) {
  const other = peer(what, path)
  const times = { own: [], torch: [] }
  let results = { own: [], torch: [] }
  for (let run = -1; run < Number(values.runs); run++) {
    const theirs = await other.turn()
    const start = performance.now()
    const result = await own()
    const ms = performance.now() - start
    results = { own: result, torch: theirs.results }
    if (run < 0) continue
    times.own.push(ms)
    times.torch.push(theirs.ms)
  }
  other.close()
  return { own: median(times.own), torch: median(times.torch), results }
}

for (const path of positionals) {
  const megabytes = statSync(path).size / 1e6
  const { own, torch } = await measure('load', path, async () => (await loadModule(path)).dispose())
  const of = (ms) => `${ms.toFixed(1)} ms (${(ms / megabytes).toFixed(2)} ms/MB)`
  console.log(
    `load ${basename(path)}, ${megabytes.toFixed(1)} MB: ptlite ${of(own)}, torch ${of(torch)}, torch / ptlite ${(torch / own).toFixed(2)}`,
  )
}

if (values.stream !== undefined) {
  const module = await loadModule(values.stream)
  const input = (i) =>
    Float32Array.from({ length: SIZE }, (_, k) => {
      const n = i * SIZE + k
      return Math.sin(n * 0.05) * Math.sin(n * 0.0007) * 0.4
    })
  const inputs = Array.from({ length: chunks }, (_, i) => tensor(input(i), [1, SIZE]))
  const { own, torch, results } = await measure('stream', values.stream, () => {
    module.call('reset_states', [])
    return inputs.map((x) => module.forward(x, RATE).data()[0])
  })
  const furthest = Math.max(...results.own.map((y, i) => Math.abs(y - results.torch[i])))
  const of = (ms) => `${(ms / chunks).toFixed(3)} ms`
  console.log(
    `stream ${basename(values.stream)}, per chunk: ptlite ${of(own)}, torch ${of(torch)}, torch / ptlite ${(torch / own).toFixed(2)}`,
  )
  console.log(`largest difference of ${chunks} results: ${furthest.toExponential(1)}`)
  if (!(furthest < TOLERANCE)) process.exitCode = 1
}
