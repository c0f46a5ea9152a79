// What mode 'auto' gives for models of other projects: for each, processor time of a round of all its calls in 'auto' and interpreted
// only, in turns, and of PyTorch's lite interpreter where there is one. Times are first quartiles of all rounds, so that other work of
// the machine counts for little. A model whose calls are all interpreted should take as long in 'auto' as it does without a compiler.
//
//   node real.mjs [FOLDER] [--filter REGEX] [--rounds 201] [--milliseconds 5] [--python PATH | --no-python] [--json FILE]
//
// FOLDER holds a folder for each model, with `meta.json`: { file, kind, cases: [{ method, inputs }] }.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadModule } from '../dist/index.js'
import { LineProcess } from './lib/line-process.mjs'
import { realModels } from './lib/real-models.mjs'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    filter: { type: 'string', default: '' },
    rounds: { type: 'string', default: '201' },
    milliseconds: { type: 'string', default: '5' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    'no-python': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const [root = fileURLToPath(new URL('../../shared/models', import.meta.url))] = positionals
const milliseconds = Number(options.milliseconds)
/** Rounds before any is measured: plans are made, and what cannot be compiled is found out. */
const WARM = 6
/** Milliseconds for a model and mode, where its rounds are long. */
const MOST = 2000

/** Processor time in milliseconds, which does not count what other processes take. */
function cpuTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const quartile = (values) => [...values].sort((a, b) => a - b)[values.length >> 2]

class Runner {
  constructor(module, calls) {
    this.module = module
    this.calls = calls.map(({ method, makeArgs }) => [method, makeArgs()])
  }

  time(times) {
    const begin = cpuTime()
    for (let i = 0; i < times; i++) for (const [method, args] of this.calls) this.module.call(method, args)
    return (cpuTime() - begin) / times
  }
}

/** Answers PyTorch's processor time for a model; null where PyTorch is not there or cannot load it. */
async function startPython() {
  if (options['no-python']) return null
  try {
    // some of its kernels warn at every call
    const peer = new LineProcess(fileURLToPath(new URL('./lib/real_peer.py', import.meta.url)), options.python, { stderr: 'ignore' })
    const { version } = await peer.answer()
    console.log(`PyTorch ${version}, 1 thread\n`)
    return peer
  } catch {
    return null
  }
}

const python = await startPython()
const rows = []
console.log('| model | state | off, µs | auto, µs | auto / off | PyTorch, µs | auto / PyTorch |\n|---|---|---:|---:|---:|---:|---:|')
for (const { name, folder, file, calls } of realModels(root)) {
  if (!new RegExp(options.filter).test(name)) continue
  const quiet = { onWarning: () => undefined }
  const modules = { off: await loadModule(file, { compile: 'off', ...quiet }), auto: await loadModule(file, quiet) }
  const runners = { off: new Runner(modules.off, calls), auto: new Runner(modules.auto, calls) }
  const torch = python !== null && (await python.ask({ load: folder })).error === undefined
  for (const runner of Object.values(runners)) runner.time(WARM)
  // short turns: what else the machine does then falls upon both alike
  const times = Math.max(1, Math.min(5000, Math.ceil(milliseconds / Math.max(runners.off.time(2), 0.001))))
  const rounds = Math.max(15, Math.min(Number(options.rounds), Math.ceil(MOST / (times * runners.off.time(2)))))
  const measured = { off: [], auto: [], torch: [] }
  for (let round = 0; round < rounds; round++) {
    for (const mode of round % 2 === 0 ? ['off', 'auto'] : ['auto', 'off']) measured[mode].push(runners[mode].time(times))
    if (torch && round % 4 === 0) measured.torch.push((await python.ask({ times })).ms / times)
  }
  const [off, auto] = [quartile(measured.off), quartile(measured.auto)]
  const peer = torch ? quartile(measured.torch) : null
  const states = [...new Set(modules.auto.plans().map(({ state }) => state))].sort().join(', ')
  rows.push({ name, states, off, auto, peer, plans: modules.auto.plans().map(({ method, state, reason }) => ({ method, state, reason })) })
  const micro = (ms) => (ms === null ? '' : (1000 * ms).toFixed(1))
  const ratio = peer === null ? '' : (auto / peer).toFixed(2)
  console.log(`| ${name} | ${states} | ${micro(off)} | ${micro(auto)} | ${(auto / off).toFixed(2)} | ${micro(peer)} | ${ratio} |`)
  for (const module of Object.values(modules)) module.dispose()
}
python?.close()
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
