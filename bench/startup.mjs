// Process time (user + system) from import('ptlite') and from the start of the process to the result of the first operator
// call, beside what node itself needs to start. Medians of many processes, which take turns.
//
//   node startup.mjs [--runs 30]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' } } })
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

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
const results = Object.fromEntries(Object.keys(programs).map((name) => [name, { cpu: [], wall: [], process: [] }]))
for (let i = 0; i < Number(values.runs); i++) {
  for (const [name, args] of Object.entries(programs)) {
    const child = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (child.status !== 0) throw new Error(child.stderr)
    const measured = JSON.parse(child.stdout)
    for (const key of Object.keys(results[name])) results[name][key].push(measured[key])
  }
}
console.log('| to the first operator call | process time from import, ms | wall time from import, ms | process time from start, ms |')
console.log('|---|---:|---:|---:|')
for (const [name, r] of Object.entries(results)) {
  console.log(`| ${name} | ${median(r.cpu).toFixed(1)} | ${median(r.wall).toFixed(1)} | ${median(r.process).toFixed(1)} |`)
}
