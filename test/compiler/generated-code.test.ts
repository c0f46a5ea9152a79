import t from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import { buildPlan, type Plan } from '../../compiler/executor/plan.js'
import { callOperator, int, tensor } from '../../src/index.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { again } from '../support/again.js'

const ready = kernels.jit_info().state === kernels.JitState.ready
const { JitAlgorithm } = kernels

const random = (shape: number[]): Tensor => {
  let seed = shape.join().length
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 31 - 1
  }
  return tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 3 * next()),
    shape,
  )
}

/** gelu(a + b) * c, where b and c are broadcast. */
function chain(a: Tensor, b: Tensor, c: Tensor): Value {
  return callOperator('ptlite::fused', [
    [a, b, c],
    a.shape.map(int),
    [JitAlgorithm.add, JitAlgorithm.gelu_erf, JitAlgorithm.mul].map(int),
    [0, 1, 3, -1, 4, 2].map(int),
    [0, 0, 0, 0, 0, 0],
  ])
}

function planOf(run: () => Value, inputs: Tensor[]): Plan {
  const { captured } = capture(run, inputs)
  const plan = captured === null ? 'not captured' : buildPlan(captured)
  if (typeof plan === 'string') throw new Error(plan)
  return plan
}

const bits = (value: Value): number[] => [...new Uint32Array(((value as Tensor).data() as Float32Array).slice().buffer)]

t.test('chains of a plan run generated code with the bits of the compiled kernel', (t) => {
  for (const [shape, column] of [
    [
      [3, 5, 7],
      [5, 1],
    ],
    [[65], [1]],
    [[2, 3, 4, 33], [33]],
    [
      [4, 100, 129],
      [100, 1],
    ],
  ] as const) {
    const inputs = [random([...shape]), random([...column]), random([1])]
    const [a, b, c] = inputs as [Tensor, Tensor, Tensor]
    const plan = planOf(() => chain(a, b, c), inputs)
    t.equal(plan.generated, ready ? 1 : 0)
    t.same(bits(plan.run(inputs)), bits(chain(a, b, c)), shape.join(' x '))
    plan.dispose()
  }
  t.end()
})

t.test('plans with the same steps share their code, which goes with the last', (t) => {
  const before = kernels.jit_info()
  const inputs = [random([4, 9]), random([9]), random([1])]
  const [a, b, c] = inputs as [Tensor, Tensor, Tensor]
  const first = planOf(() => chain(a, b, c), inputs)
  const second = planOf(() => chain(a, b, c), inputs)
  t.equal(kernels.jit_info().kernels, before.kernels + (ready ? 1 : 0))
  first.dispose()
  first.dispose()
  t.same(bits(second.run(inputs)), bits(chain(a, b, c)))
  second.dispose()
  t.same(kernels.jit_info(), before)
  t.end()
})

t.test('code stays while a run of a disposed plan is under way', async (t) => {
  const before = kernels.jit_info()
  const inputs = [random([64, 1000]), random([1000]), random([1])]
  const [a, b, c] = inputs as [Tensor, Tensor, Tensor]
  const plan = planOf(() => chain(a, b, c), inputs)
  const want = bits(chain(a, b, c))
  const run = plan.runAsync(inputs)
  await Promise.resolve()
  plan.dispose()
  const result = await run.catch((error: unknown) => error)
  if (!(result instanceof Error)) t.same(bits(result as Value), want)
  t.same(kernels.jit_info(), before)
})

again(t, import.meta.url, { ATEN_CPU_CAPABILITY: 'avx2' }, { PTLITE_JIT: 'deny' }, { PTLITE_JIT: '0' })
