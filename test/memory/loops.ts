// Runs a loop that drops what it makes, 600 kB or more each time, and prints the largest resident set in megabytes, and what counts as live
// after the event loop has run.
//   loops.ts LOOP ITERATIONS EVERY    EVERY: after how many iterations the event loop runs; 0: never
import { fileURLToPath } from 'node:url'
import { callOperator, loadModule, memoryStats, tensor } from '../../src/index.js'

const [kind, iterations, every] = process.argv.slice(2) as [string, string, string]
const data = new Float32Array(150_528).fill(1)
const row = new Float32Array(1024)
const x = tensor(data)
const file = fileURLToPath(new URL('../selective-build/fixtures/add_relu.ptl', import.meta.url))
const interpreted = await loadModule(file, { compile: 'off' })
const compiled = await loadModule(file, { compile: 'eager' })
const loops: Record<string, () => unknown> = {
  tensor: () => tensor(data, [3, 224, 224]),
  view: () => callOperator('aten::t', [tensor(data, [224, 672])]),
  operator: () => callOperator('aten::mul.Scalar', [x, 2]),
  'out argument': () => callOperator('aten::relu.out', [x, tensor([0])]),
  interpreted: () => interpreted.forward(x, x),
  plan: () => compiled.forward(x, x),
  small: () => Array.from({ length: 150 }, () => tensor(row)),
}

const step = loops[kind]!
let peak = 0
for (let i = 0; i < Number(iterations); i++) {
  step()
  if (i % 20 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  if (Number(every) > 0 && i % Number(every) === 0) await new Promise((resolve) => setImmediate(resolve))
}
// the registries' tasks come when they come
for (let tries = 0; tries < 100 && memoryStats().live > 20e6; tries++) {
  globalThis.gc!()
  await new Promise((resolve) => setTimeout(resolve, 50))
}
console.log(JSON.stringify({ peak: peak / 1e6, live: memoryStats().live / 1e6 }))
