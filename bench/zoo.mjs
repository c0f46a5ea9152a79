// Times traced networks of timm, torchvision and transformers, as models/export_zoo.py writes them: ptlite's plan, beside PyTorch 2 with
// the file as it is and after `torch.jit.freeze` and `optimize_for_inference`. They take turns, round by round. Every result of the plan
// is compared with PyTorch's before. Prints a table in Markdown, slowest first, and geometric means.
//
//   node zoo.mjs FOLDER [--python PATH] [--threads 1,2] [--filter REGEX] [--rounds 5] [--seconds 3] [--wall] [--json FILE]
//
// --python, or PYTHON in the environment, names a Python with PyTorch 2, timm, torchvision and transformers; networks that FOLDER lacks
// are exported first. With one thread, times are processor time, for which other work of the machine counts for little; --wall, or more
// threads: what passes. A run that was interrupted goes on from --json.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpu, loadModule, setNumThreads, tensor } from '../dist/index.js'
import { compare, elements } from '../sweep/outputs.mjs'
import { geometricMean, median } from './lib/compare.mjs'
import { LineProcess } from './lib/line-process.mjs'

/** Plans round otherwise than PyTorch, where they fold batch norms or use Winograd's algorithm; and what the sweep allows for noise. */
const TOLERANCE = 1e-4
const NOISE = 8

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    threads: { type: 'string', default: '1,2' },
    filter: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    wall: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const [folder] = positionals
if (folder === undefined) throw new Error('zoo.mjs FOLDER: the folder that has, or is to have, the networks')
const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const wanted = readFileSync(path('models/zoo.txt'), 'utf8')
  .trim()
  .split('\n')
  .filter((name) => new RegExp(options.filter).test(name))
const file = (name) => join(folder, `${name.replace('/', '-')}.ptl`)
const missing = wanted.filter((name) => !existsSync(file(name).replace('.ptl', '.json')))
if (missing.length > 0) execFileSync(options.python, [path('models/export_zoo.py'), folder, ...missing], { stdio: ['ignore', 2, 2] })
const networks = wanted.filter((name) => existsSync(file(name)))

const torch = new LineProcess(path('lib/torch_jit_peer.py'), options.python)
const { version } = await torch.answer()
const rows = options.json !== undefined && existsSync(options.json) ? JSON.parse(readFileSync(options.json, 'utf8')) : []
const threadCounts = options.threads.split(',').map(Number)
for (const name of networks) {
  for (const threads of threadCounts) {
    if (rows.some((row) => row.name === name && row.threads === threads)) continue
    const row = await measure(name, threads)
    rows.push(row)
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`)
    console.error(`${name}, ${threads}: ${row.problem ?? `${ratio(row).toFixed(2)}, ${JSON.stringify(row.times)}`}`)
  }
}
torch.close()
print()

/** One network: median times of the plan and of PyTorch's forms in milliseconds, or the `problem` that kept it from being measured. */
async function measure(name, threads) {
  setNumThreads(threads)
  const module = await loadModule(file(name), { compile: 'eager' })
  try {
    const { forward, error, wrong } = check(module, file(name))
    if (wrong !== undefined) return { name, threads, problem: wrong }
    const plans = module.plans().map(({ state, reason }) => reason ?? state)
    const clock = threads === 1 && !options.wall ? 'cpu' : 'ms'
    const { forms } = await torch.ask({ load: file(name), threads })
    const peers = { plan: (runs) => timed(forward, runs)[clock] }
    for (const form of forms) peers[form] = async (runs) => (await torch.ask({ runs, form }))[clock]
    const times = Object.fromEntries(Object.keys(peers).map((peer) => [peer, []]))
    const budget = (1000 * Number(options.seconds)) / Number(options.rounds) / forms.length
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [peer, time] of Object.entries(peers)) {
        const [once] = await time(1)
        times[peer].push(...(await time(Math.max(1, Math.min(200, Math.round(budget / once))))))
      }
    }
    return { name, threads, error, plans, times: Object.fromEntries(Object.entries(times).map(([peer, all]) => [peer, median(all)])) }
  } catch (error) {
    return { name, threads, problem: error.message.split('\n')[0] }
  } finally {
    module.dispose()
  }
}

/** The call to time, after all calls that the file's description has were compared. */
function check(module, ptl) {
  const { calls } = JSON.parse(readFileSync(ptl.replace(/\.ptl$/, '.json'), 'utf8'))
  const data = readFileSync(ptl.replace(/\.ptl$/, '.bin'))
  const tensors = (list) => list.map((value) => tensor(elements(data, value), value.shape, value.dtype))
  const all = (output) => (Array.isArray(output) ? output : [output])
  let most = 0
  for (const { inputs, outputs, noise } of [calls[0], ...calls.slice(0, 2)]) {
    const args = tensors(inputs)
    const found = all(module.forward(...args))
    for (const [i, output] of outputs.entries()) {
      const { wrong, error } = compare(found[i], output, data, Math.max(TOLERANCE, NOISE * noise))
      if (wrong !== undefined) return { wrong }
      most = Math.max(most, error)
    }
    for (const value of [...found, ...args]) value.dispose()
  }
  const args = tensors(calls[0].inputs)
  const forward = () => all(module.forward(...args)).forEach((value) => value.dispose())
  return { forward, error: most }
}

function timed(call, runs) {
  const times = { ms: [], cpu: [] }
  for (let i = 0; i < runs; i++) {
    const [start, before] = [performance.now(), process.cpuUsage()]
    call()
    const { user, system } = process.cpuUsage(before)
    times.ms.push(performance.now() - start)
    times.cpu.push((user + system) / 1000)
  }
  return times
}

/** The plan's time over the best of PyTorch's. */
function ratio({ times: { plan, ...others } }) {
  return plan / Math.min(...Object.values(others))
}

function print() {
  console.log(`${cpus()[0].model}, kernels at ${cpu.currentLevel()}, PyTorch ${version}; medians in milliseconds\n`)
  for (const threads of threadCounts) {
    const measured = rows.filter((row) => row.threads === threads && row.times !== undefined).sort((a, b) => ratio(b) - ratio(a))
    console.log(
      `| ${threads} thread${threads === 1 ? '' : 's'} | plan | PyTorch | frozen | plan / best | max error |\n|---|---:|---:|---:|---:|---:|`,
    )
    for (const row of measured) {
      const cells = [row.times.plan, row.times.plain, row.times.frozen].map((ms) => ms?.toPrecision(3) ?? 'n/a')
      console.log(`| ${[basename(row.name), ...cells, `${ratio(row).toFixed(2)}×`, row.error.toExponential(0)].join(' | ')} |`)
    }
    const mean = geometricMean(measured.map(ratio))
    const above = [0.95, 1].map((bound) => `${measured.filter((row) => ratio(row) > bound).length} above ${bound}`)
    console.log(`\n${measured.length} networks: geometric mean ${mean.toFixed(3)}, ${above.join(', ')}\n`)
  }
  for (const row of rows) {
    if (row.problem !== undefined) console.log(`${row.name}, ${row.threads}: ${row.problem}`)
    else if (row.plans.some((state) => state !== 'plan')) console.log(`${row.name}, ${row.threads}: ${row.plans.join('; ')}`)
  }
}
