// Process time from import('ptlite') to the result of the first operator call, beside what node itself needs to start.
// Medians of many processes, which take turns. CPU time (user + system) of the process, and wall-clock time.
//
//   node startup.mjs [--runs 30]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' } } })
const library = new URL('../dist/index.js', import.meta.url).href
const cjs = fileURLToPath(new URL('../dist/index.cjs', import.meta.url))
const call = `const x = tensor(new Float32Array([1, 2]), [2]); const y = callOperator('aten::add.Tensor', [x, x, 1]); if (y.data()[1] !== 4) throw new Error('wrong')`
const report = `const used = process.cpuUsage(begin); console.log(JSON.stringify({ cpu: (used.user + used.system) / 1000, wall: performance.now() - start }))`
const begin = `const begin = process.cpuUsage(), start = performance.now()`
const programs = {
  'node alone (whole process)': ['--input-type=module', '-e', `console.log(JSON.stringify({ cpu: 0, wall: 0 }))`],
  "import('ptlite') to first operator call": [
    '--input-type=module',
    '-e',
    `${begin}; const { tensor, callOperator } = await import('${library}'); ${call}; ${report}`,
  ],
  "require('ptlite') to first operator call": ['-e', `${begin}; const { tensor, callOperator } = require('${cjs}'); ${call}; ${report}`],
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
const results = Object.fromEntries(Object.keys(programs).map((name) => [name, { cpu: [], wall: [], whole: [] }]))
for (let i = 0; i < Number(values.runs); i++) {
  for (const [name, args] of Object.entries(programs)) {
    const start = performance.now()
    const child = spawnSync(process.execPath, args, { encoding: 'utf8' })
    const whole = performance.now() - start
    if (child.status !== 0) throw new Error(child.stderr)
    const { cpu, wall } = JSON.parse(child.stdout)
    results[name].cpu.push(cpu)
    results[name].wall.push(wall)
    results[name].whole.push(whole)
  }
}
console.log('| | CPU ms | wall ms | whole process, wall ms |\n|---|---:|---:|---:|')
for (const [name, r] of Object.entries(results)) {
  console.log(`| ${name} | ${median(r.cpu).toFixed(1)} | ${median(r.wall).toFixed(1)} | ${median(r.whole).toFixed(1)} |`)
}
