// What it takes to start: process time (user + system) and wall time from import('ptlite'), and from the start of the process, to the
// result of the first operator call, beside what node itself needs; and to the first result of MobileNetV2 from a .ptl file, from
// what it is compiled to ahead, and in onnxruntime. Medians of many processes, which take turns.
//
//   node startup.mjs [--runs 30] [--model mobilenet_v2]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' }, model: { type: 'string', default: 'mobilenet_v2' } } })
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
const [ptl, onnx, input] = ['ptl', 'onnx', 'npy'].map((kind) => modelPath(values.model, kind))
const folder = mkdtempSync(join(tmpdir(), 'ptlite-startup-'))
const ptlc = join(folder, `${values.model}.ptlc`)
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
const models = {
  'node alone': programs['node alone'],
  '.ptl': ['--input-type=module', '-e', first(ptl)],
  '.ptlc': ['--input-type=module', '-e', first(ptlc)],
  'onnxruntime-node': ['--input-type=module', '-e', firstOnnx],
}

try {
  printTable('to the first operator call', measure(programs))
  console.log()
  printTable(`to the first result of ${values.model}`, measure(models))
} finally {
  rmSync(folder, { recursive: true })
}

/** Runs of the programs in turns. What cannot be imported, such as a peer that is not installed, is left out and said. */
function measure(programs) {
  const results = Object.fromEntries(Object.keys(programs).map((name) => [name, { cpu: [], wall: [], process: [], total: [] }]))
  for (let i = 0; i < Number(values.runs); i++) {
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
      const measured = { ...JSON.parse(child.stdout), total }
      for (const key of Object.keys(results[name])) results[name][key].push(measured[key])
    }
  }
  return results
}

function printTable(title, results) {
  const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1].toFixed(1)
  const columns = ['process time from import', 'wall time from import', 'process time from start', 'wall time from start to end']
  console.log(`| ${title} | ${columns.map((column) => `${column}, ms`).join(' | ')} |`)
  console.log(`|---|${columns.map(() => '---:').join('|')}|`)
  for (const [name, r] of Object.entries(results)) {
    console.log(`| ${name} | ${[r.cpu, r.wall, r.process, r.total].map(median).join(' | ')} |`)
  }
}
