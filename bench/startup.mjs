// What it takes to start: process time (user + system) and wall time from import('ptlite'), and from the start of the process, to the
// result of the first operator call, beside what node itself needs; and to the first result of a model from a .ptl file, from
// what it is compiled to ahead, and in onnxruntime, with the ratio of the process time above bare node to onnxruntime's. Medians of many
// processes, which take turns; the first of each, which fill V8's code cache, are not counted.
//
//   node startup.mjs [--runs 30] [--models mobilenet_v2,mlp,resnet50]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const options = { runs: { type: 'string', default: '30' }, models: { type: 'string', default: 'mobilenet_v2' } }
const { values } = parseArgs({ options })
const library = new URL('../dist/index.js', import.meta.url).href
const cjs = fileURLToPath(new URL('../dist/index.cjs', import.meta.url))
const call = `const x = tensor(new Float32Array([1, 2]), [2]); const y = callOperator('aten::add.Tensor', [x, x, 1]); if (y.data()[1] !== 4) throw new Error('wrong')`
const report = `const used = process.cpuUsage(begin), all = process.cpuUsage(); console.log(JSON.stringify({ cpu: (used.user + used.system) / 1000, wall: performance.now() - start, process: (all.user + all.system) / 1000 }))`
const begin = `const begin = process.cpuUsage(), start = performance.now()`
const programs = {
  'node alone': ['--input-type=module', '-e', `${begin}; ${report}`],
  "import('ptlite')": [
    '--input-type=module',
    '-e',
    `${begin}; const { tensor, callOperator } = await import('${library}'); ${call}; ${report}`,
  ],
  "require('ptlite')": ['-e', `${begin}; const { tensor, callOperator } = require('${cjs}'); ${call}; ${report}`],
}

const npyReader = new URL('./lib/npy.mjs', import.meta.url).href
const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ptlite-startup-'))

try {
  printTable('to the first operator call', measure(programs))
  for (const model of values.models.split(',')) {
    console.log()
    printTable(`to the first result of ${model}`, measure(programsOf(model)), 'onnxruntime-node')
  }
} finally {
  rmSync(folder, { recursive: true })
}

function programsOf(model) {
  const [ptl, onnx, input] = ['ptl', 'onnx', 'npy'].map((kind) => modelPath(model, kind))
  const ptlc = join(folder, `${model}.ptlc`)
  const compiled = spawnSync(process.execPath, [cli, 'compile', ptl, '--input', input, '-o', ptlc], { encoding: 'utf8' })
  if (compiled.status !== 0) throw new Error(compiled.stderr)
  const readInput = `const { readNpy } = await import('${npyReader}'); const { data, shape } = readNpy('${input}')`
  const first = (file) =>
    `${begin}; const { loadModule, tensor } = await import('${library}'); const m = await loadModule('${file}'); ${readInput}; ` +
    `if (!Number.isFinite(m.forward(tensor(data, shape)).data()[0])) throw new Error('wrong'); ${report}`
  const firstOnnx =
    `${begin}; const { default: ort } = await import('onnxruntime-node'); ` +
    `const session = await ort.InferenceSession.create('${onnx}', { intraOpNumThreads: 1, interOpNumThreads: 1 }); ${readInput}; ` +
    `const { [session.outputNames[0]]: y } = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', data, shape) }); ` +
    `if (!Number.isFinite(y.data[0])) throw new Error('wrong'); ${report}`
  return {
    'node alone': programs['node alone'],
    '.ptl': ['--input-type=module', '-e', first(ptl)],
    '.ptlc': ['--input-type=module', '-e', first(ptlc)],
    'onnxruntime-node': ['--input-type=module', '-e', firstOnnx],
  }
}

/** Runs of the programs in turns. What cannot be imported, such as a peer that is not installed, is left out and said. */
function measure(programs) {
  const results = Object.fromEntries(Object.keys(programs).map((name) => [name, { cpu: [], wall: [], process: [], total: [] }]))
  for (let i = -1; i < Number(values.runs); i++) {
    for (const [name, args] of Object.entries(programs)) {
      if (results[name] === undefined) continue
      const start = performance.now()
      // packages are looked for beside this file
      const child = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: fileURLToPath(new URL('.', import.meta.url)) })
      const total = performance.now() - start
      if (/ERR_MODULE_NOT_FOUND/.test(child.stderr)) {
        console.error(`${name} is not installed: npm --prefix bench ci`)
        delete results[name]
        continue
      }
      if (child.status !== 0) throw new Error(child.stderr)
      if (i < 0) continue
      const measured = { ...JSON.parse(child.stdout), total }
      for (const key of Object.keys(results[name])) results[name][key].push(measured[key])
    }
  }
  return results
}

/** One row for each program; with a peer, the ratio of what each takes above the first, which is bare node, to what the peer does. */
function printTable(title, results, peer) {
  const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
  const above = (name) => median(results[name].process) - median(Object.values(results)[0].process)
  const times = ['process time from import', 'wall time from import', 'process time from start', 'wall time from start to end']
  const columns = [...times.map((column) => `${column}, ms`), 'above bare node, ms', ...(peer in results ? [`of ${peer}'s`] : [])]
  console.log(`| ${title} | ${columns.join(' | ')} |`)
  console.log(`|---|${columns.map(() => '---:').join('|')}|`)
  for (const [name, r] of Object.entries(results)) {
    const cells = [...[r.cpu, r.wall, r.process, r.total].map(median), above(name)].map((ms) => ms.toFixed(1))
    if (peer in results) cells.push((above(name) / above(peer)).toFixed(2))
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}
