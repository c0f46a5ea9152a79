// Times the operators that production models use most, beside PyTorch's lite interpreter: the same module file, which runs one
// operator in a loop, in both, taking turns, one thread each. Prints a table, the slowest against PyTorch first.
//
//   node ops.mjs [--operators aten::add.Tensor,aten::sort] [--elements 16,16384,4194304] [--worst 10] [--rounds 7] [--json FILE]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { int, loadModule, setNumThreads } from '../dist/index.js'
import { TorchOperators } from './lib/torch-operators.mjs'

const { values: options } = parseArgs({
  options: {
    operators: { type: 'string' },
    elements: { type: 'string', default: '16,16384,4194304' },
    worst: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '7' },
    json: { type: 'string' },
  },
})
// V8 counts calls, not time, before it compiles; slow operators need not wait for it
const WARM_UP_MS = 250
const WARM_UP_CALLS = 30_000
const LONGEST_WARM_UP_MS = 1500
const TARGET_MS = 4
const MAX_TIMES = 2000

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

class PtliteOperators {
  #module

  async load(file) {
    this.#module?.dispose()
    this.#module = await loadModule(file, { compile: 'off' })
  }

  async time(times) {
    const start = performance.now()
    this.#module.forward(int(times))
    return performance.now() - start
  }
}

/** Runs a peer until its compilers have done their work. Returns a length of the loop for which neither the call of the module nor the clock counts. */
async function warmUp(peer) {
  let loops = 1
  let calls = 0
  for (let spent = 0; spent < WARM_UP_MS || (calls < WARM_UP_CALLS && spent < LONGEST_WARM_UP_MS);) {
    const ms = await peer.time(loops)
    spent += ms
    calls += loops + 1
    loops = Math.max(1, Math.min(MAX_TIMES, Math.round((TARGET_MS * (loops + 1)) / Math.max(ms, 0.001))))
  }
  return loops
}

/** Microseconds per operator of both runtimes: the least of all rounds, which other work on the machine disturbed least. */
async function measure(peers, rounds) {
  const times = []
  for (const peer of peers) times.push(await warmUp(peer))
  const samples = peers.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < peers.length; i++) samples[i].push(((await peers[i].time(times[i])) * 1000) / (times[i] + 1))
  }
  return samples.map((times) => Math.min(...times))
}

setNumThreads(1)
const folder = mkdtempSync(join(tmpdir(), 'ptlite-ops-'))
const torch = await TorchOperators.start()
const ptlite = new PtliteOperators()
const rows = []
try {
  for (const operator of options.operators?.split(',') ?? torch.operators) {
    for (const elements of options.elements.split(',').map(Number)) {
      const file = join(folder, 'operator.ptl')
      await torch.load(operator, elements, file)
      await ptlite.load(file)
      const [ours, theirs] = await measure([ptlite, torch], Number(options.rounds))
      rows.push({ operator, elements, ours, theirs, ratio: ours / theirs })
      console.error(
        `${operator} ${elements}: ${ours.toPrecision(3)} us, PyTorch lite ${theirs.toPrecision(3)} us, ${(ours / theirs).toFixed(2)}x`,
      )
    }
  }
} finally {
  await torch.close()
  rmSync(folder, { recursive: true })
}

rows.sort((a, b) => b.ratio - a.ratio)
const worst = Math.min(rows.length, Number(options.worst))
const ratios = rows.map((row) => row.ratio)
console.log(
  `${rows.length} measurements, PyTorch ${torch.version}: median ratio ${median(ratios).toFixed(2)}, ${ratios.filter((r) => r > 3).length} above 3\n`,
)
console.log('| operator | elements | ptlite us | PyTorch lite us | ratio |\n|---|---:|---:|---:|---:|')
for (const { operator, elements, ours, theirs, ratio } of rows.slice(0, worst)) {
  console.log(`| \`${operator}\` | ${elements} | ${ours.toPrecision(3)} | ${theirs.toPrecision(3)} | ${ratio.toFixed(2)} |`)
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
