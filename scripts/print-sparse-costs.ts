/**
 * npx tsx scripts/print-sparse-costs.ts [dist/index.js | dist/web.js]: measures dense and block-sparse products on one core at the level in use
 * (ATEN_CPU_CAPABILITY) and prints what each kind of their work costs, for compiler/target/sparse-costs.ts; and by how much what these costs
 * choose is slower than the best.
 */
import { timeOf } from '../compiler/target/sparse-products.js'
import type { SparseLayer } from '../compiler/target/target.js'
import { costsOf, type Library, measure, OPERATORS } from './sparse-costs/measure.js'

type Loaded = Library & {
  setNumThreads(threads: number): void
  ready?(options: { for: readonly string[] }): Promise<void>
}
const [path = 'dist/index.js'] = process.argv.slice(2)
const lib = (await import(new URL(`../${path}`, import.meta.url).href)) as Loaded
await lib.ready?.({ for: OPERATORS })
lib.setNumThreads(1)

const PRODUCTS: readonly (readonly [SparseLayer, 'float32' | 'bfloat16'])[] = [
  ['linear', 'float32'],
  ['linear', 'bfloat16'],
  ['convolution', 'float32'],
  ['blocked convolution', 'float32'],
]
for (const [layer, dtype] of PRODUCTS) {
  const measured = measure(lib, layer, dtype)
  const costs = costsOf(measured)
  console.log(`${layer}, ${dtype}`)
  for (const [strategy, numbers] of costs) console.log(`  ${strategy}: [${numbers.map((ns) => Number(ns.toPrecision(3))).join(', ')}],`)
  let [lost, wrong] = [0, 0]
  for (const { product, times } of measured) {
    const expected = [...times.keys()].map((strategy) => {
      return { strategy, time: timeOf(strategy, product, costs.get(strategy)!) }
    })
    const chosen = expected.reduce((best, other) => (other.time < best.time ? other : best)).strategy
    const slower = times.get(chosen)! / Math.min(...times.values()) - 1
    lost += slower
    if (slower > 0.1) wrong++
  }
  console.log(
    `  of ${measured.length} products, ${wrong} more than 10 % slower than the best, ${((100 * lost) / measured.length).toFixed(1)} % on average`,
  )
}
