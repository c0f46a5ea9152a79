import t from 'tap'
import { GraphRunner } from '../../compiler/graph/execute.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { blockSparse } from '../../compiler/passes/block-sparse.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { callOperator, float, type Tensor, tensor } from '../../src/index.js'

let seed = 5
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32 - 0.5
}
const floats = (n: number): Float32Array => Float32Array.from({ length: n }, random)

/** A weight [n, k] with a block of 16 output channels kept where `keep` says. */
function weightOf(n: number, k: number, keep: (block: number) => boolean): Tensor {
  const data = floats(n * k)
  for (let row = 0; row < n; row++) {
    for (let i = 0; i < k; i++) if (!keep(Math.floor(row / 16) * k + i)) data[row * k + i] = 0
  }
  return tensor(data, [n, k])
}

const largestDifference = (a: Tensor, b: Tensor): number => {
  const y = b.data() as Float32Array
  return (a.data() as Float32Array).reduce((m, v, i) => Math.max(m, Math.abs(v - y[i]!)), 0)
}

await t.test('the sparse operator computes what the dense one does', (t) => {
  for (const [m, n, k] of [
    [1, 16, 8],
    [5, 40, 33],
    [37, 70, 64],
  ] as const) {
    const weight = weightOf(n, k, (block) => block % 3 === 0)
    const bias = tensor(floats(n), [n])
    const x = tensor(floats(m * k), [m, k])
    for (const b of [null, bias]) {
      const [min, max] = [float(-0.5), float(Infinity)]
      const got = callOperator('ptlite::sparse_linear', [x, weight, b, min, max]) as Tensor
      const want = callOperator('ptlite::linear', [x, weight, b, min, max]) as Tensor
      t.ok(largestDifference(got, want) < 1e-5, `${m}x${n}x${k}`)
    }
  }
  t.throws(() => callOperator('ptlite::sparse_linear', [tensor([1, 2, 3], [3]), weightOf(16, 4, () => true), null, float(0), float(1)]), {
    code: 'INVALID_ARGUMENT',
  })
  t.end()
})

await t.test('a weight that is written to is read again', (t) => {
  const weight = weightOf(16, 4, () => true)
  const x = tensor([1, 1, 1, 1], [1, 4])
  const call = (): number[] =>
    (callOperator('ptlite::sparse_linear', [x, weight, null, float(-Infinity), float(Infinity)]) as Tensor).toArray() as number[]
  call()
  callOperator('aten::zero_', [weight])
  t.same(call(), [new Array(16).fill(0)])
  t.end()
})

const generates = kernels.jit_info().state === kernels.JitState.ready
await t.test('the pass takes what is sparse enough', { skip: generates ? false : 'no code is generated here' }, (t) => {
  const weights: Record<string, Tensor> = { sparse: weightOf(512, 512, (block) => block % 50 === 0), dense: weightOf(512, 512, () => true) }
  const graph = parseGraph(
    `input %0: float32[64, 512] @0
constant %1: float32[512, 512] @1 = "sparse"
constant %2: float32[512, 512] @2 = "dense"
%3: float32[64, 512] @3 = aten::linear(%0, %1, None)
%4: float32[64, 512] @4 = aten::linear(%3, %2, None)
return %4
`,
    { constant: (name) => weights[name] },
  )
  verifyGraph(graph)
  const after = blockSparse.run(graph)
  verifyGraph(after)
  t.same(
    after.nodes.map((node) => node.op),
    ['ptlite::sparse_linear', 'aten::linear'],
  )
  const x = tensor(floats(64 * 512), [64, 512])
  const [a, b] = [graph, after].map((g) => new GraphRunner(g).run([x]) as Tensor)
  t.ok(largestDifference(a!, b!) < 1e-3)
  t.end()
})
