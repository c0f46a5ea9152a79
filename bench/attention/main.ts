// Attention by one kernel against the products and the softmax that it stands for, both as plans, in one run. Prints a table of the least
// times in Markdown, and what each plan keeps in memory.
//
//   npm --prefix bench run attention -- [--tokens 128,1024,4096] [--heads 12] [--depth 64] [--threads 1] [--rounds 15]
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { capture } from '../../compiler/capture/capture.js'
import { buildPlan, type Plan } from '../../compiler/executor/plan.js'
import { callOperator, cpu, float, setNumThreads, Tensor, tensor } from '../../src/index.js'

const { values: options } = parseArgs({
  options: {
    tokens: { type: 'string', default: '128,256,512,1024,2048,4096' },
    heads: { type: 'string', default: '12' },
    depth: { type: 'string', default: '64' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '15' },
  },
})
const [heads, depth, rounds] = [options.heads, options.depth, options.rounds].map(Number) as [number, number, number]
setNumThreads(Number(options.threads))

const random = (...shape: number[]): Tensor =>
  tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.random() * 2 - 1),
    shape,
  )
const operator = (name: string, ...args: Parameters<typeof callOperator>[1][number][]): Tensor => callOperator(name, args) as Tensor

function planOf(run: () => Tensor, inputs: readonly Tensor[]): Plan {
  run().dispose()
  const result = capture(run, inputs)
  const plan = result.captured === null ? result.reason : buildPlan(result.captured)
  if (typeof plan === 'string') throw new Error(plan)
  return plan
}

/** The least processor time of a run, in milliseconds: other programs on the machine do not count. */
function timeOf(plan: Plan, inputs: readonly Tensor[], best: number): number {
  const start = process.cpuUsage()
  const output = plan.run(inputs)
  const { user, system } = process.cpuUsage(start)
  if (output instanceof Tensor) output.dispose()
  return Math.min(best, (user + system) / 1e3)
}

const bytes = (n: number): string => `${(n / 2 ** 20).toFixed(1)} MiB`

console.log(`${cpus()[0]!.model}, ${cpu.currentLevel()}, ${heads} heads of ${depth}, ${options.threads} threads, processor time\n`)
console.log('tokens | mask | products and softmax, ms | one kernel, ms | times faster | arena | arena of one kernel')
console.log('---:|---|---:|---:|---:|---:|---:')
for (const tokens of options.tokens.split(',').map(Number)) {
  const [q, k, v] = [random(1, heads, tokens, depth), random(1, heads, tokens, depth), random(1, heads, tokens, depth)] as const
  const scale = 1 / Math.sqrt(depth)
  const hidden = operator('aten::triu', operator('aten::full', [tokens, tokens], float(-Infinity)), 1)
  for (const mask of [null, hidden]) {
    const inputs = [q, k, v]
    const spelled = planOf(() => {
      const products = operator('aten::matmul', q, operator('aten::transpose.int', k, -2, -1))
      const scores = operator('aten::mul.Scalar', products, float(scale))
      products.dispose()
      const masked = mask === null ? scores : operator('aten::add.Tensor', scores, mask)
      const weights = operator('aten::softmax.int', masked, -1)
      const output = operator('aten::matmul', weights, v)
      for (const t of new Set([scores, masked, weights])) t.dispose()
      return output
    }, inputs)
    const fused = planOf(() => operator('aten::scaled_dot_product_attention', q, k, v, null, float(0), mask !== null), inputs)
    let [slow, fast] = [Infinity, Infinity]
    for (let round = 0; round < rounds; round++) {
      slow = timeOf(spelled, inputs, slow)
      fast = timeOf(fused, inputs, fast)
    }
    const cells = [tokens, mask === null ? 'none' : 'causal', slow.toFixed(2), fast.toFixed(2), (slow / fast).toFixed(2)]
    console.log([...cells, bytes(spelled.arenaBytes), bytes(fused.arenaBytes)].join(' | '))
  }
}
