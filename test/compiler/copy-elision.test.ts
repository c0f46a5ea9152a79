import t, { type Test } from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import type { CapturedRun } from '../../compiler/capture/captured.js'
import { buildPlan, Plan } from '../../compiler/executor/plan.js'
import { elideCopies } from '../../compiler/memory/copy-elision.js'
import { enterScope } from '../../runtime/tensor/scope.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator, tensor } from '../../src/index.js'

const operator = (name: string, ...args: Parameters<typeof callOperator>[1][number][]): Tensor => callOperator(name, args) as Tensor
const cat = (tensors: readonly Tensor[], dim = 0): Tensor => operator('aten::cat', [...tensors], dim)

function capturedOf(run: (x: Tensor) => Tensor, x: Tensor): CapturedRun {
  const { captured, ...rest } = capture(() => clean(run, x), [x])
  if (captured === null) throw new Error(JSON.stringify(rest))
  return captured
}

/** Runs and gives back everything but the result, as the interpreter does. */
function clean(run: (x: Tensor) => Tensor, x: Tensor): Tensor {
  const scope = { created: [] as Tensor[] }
  const before = enterScope(scope)
  try {
    const result = run(x)
    result.pinned = true
    return result
  } finally {
    enterScope(before)
    for (const made of scope.created) if (!made.pinned) made.release()
  }
}

const names = (run: CapturedRun): string[] => run.frames.map((frame) => frame.layout.name)

/** Checks which kernels are left, and that the plan gives what the run gives, on other numbers too. */
function check(t: Test, run: (x: Tensor) => Tensor, kernels: string[]): CapturedRun {
  const numbers = (shift: number): Tensor =>
    tensor(
      Float32Array.from({ length: 24 }, (_, i) => Math.sin(i + shift)),
      [4, 6],
    )
  const placed = elideCopies(capturedOf(run, numbers(0)))
  t.strictSame(names(placed), kernels)
  const plan = buildPlan(placed)
  t.ok(plan instanceof Plan)
  if (!(plan instanceof Plan)) return placed
  t.ok(plan.arenaBytes >= plan.lowerBound)
  for (const shift of [0, 1, 2]) {
    const x = numbers(shift)
    t.strictSame((plan.run([x]) as Tensor).toArray(), clean(run, x).toArray())
  }
  plan.dispose()
  return placed
}

t.test('what is joined is written in its place', (t) => {
  const both = (x: Tensor): Tensor => operator('aten::exp', cat([operator('aten::sin', x), operator('aten::cos', x)]))
  check(t, both, ['unary', 'unary', 'unary'])
  const returned = (x: Tensor): Tensor => cat([operator('aten::sin', x), operator('aten::cos', x)])
  check(t, returned, ['unary', 'unary'])
  const nested = (x: Tensor): Tensor => cat([operator('aten::cos', x), cat([operator('aten::sin', x), operator('aten::neg', x)])])
  check(t, nested, ['unary', 'unary', 'unary'])
  t.end()
})

t.test('copies of copies', (t) => {
  const count = 1500
  const run = (x: Tensor): Tensor => {
    let y = operator('aten::sin', x)
    for (let i = 0; i < count; i++) {
      y = operator('aten::clone', y, null)
      operator('aten::fill_.Scalar', operator('aten::select.int', y, 0, i % 4), i)
    }
    return y
  }
  check(t, run, ['unary', ...Array.from({ length: count }, () => 'fill')])
  t.end()
})

t.test('joins that grow are one buffer', (t) => {
  const dense = (layers: number): ((x: Tensor) => Tensor) => {
    return (x) => {
      const features = [operator('aten::sin', x)]
      for (let i = 0; i < layers; i++) {
        const sum = operator('aten::sum.dim_IntList', cat(features), [0], true, null)
        features.push(operator('aten::cos', sum))
      }
      return operator('aten::exp', cat(features))
    }
  }
  // a reduction and a cosine per layer, no copies
  check(t, dense(1), ['unary', 'reduce', 'unary', 'unary'])
  const run = check(t, dense(5), ['unary', ...Array.from({ length: 5 }, () => ['reduce', 'unary']).flat(), 'unary'])
  t.equal(
    new Set(run.frames.slice(0, -1).flatMap((f) => f.pointers.map(({ target }) => (target.kind === 'buffer' ? target.index : -1)))).size,
    7,
  )
  // a result in the middle is memory of its own
  const returned = (x: Tensor): Tensor => {
    const y = operator('aten::sin', x)
    const pair = cat([y, operator('aten::cos', y)])
    return operator('aten::exp', cat([operator('aten::neg', x), y, pair]))
  }
  check(t, returned, ['unary', 'unary', 'unary', 'join_rows', 'unary'])
  // another order of the same pieces, some of them, or with a gap
  const pieces = (order: readonly number[]): ((x: Tensor) => Tensor) => {
    return (x) => {
      const made = ['sin', 'cos', 'tanh'].map((name) => operator(`aten::${name}`, x))
      const first = operator('aten::sum.dim_IntList', cat(made), [0], true, null)
      return operator('aten::add.Tensor', cat(order.map((i) => made[i] ?? operator('aten::neg', first))), first)
    }
  }
  const kept = ['unary', 'unary', 'unary', 'reduce', 'join_rows', 'binary']
  check(t, pieces([0, 1, 2]), ['unary', 'unary', 'unary', 'reduce', 'binary'])
  check(t, pieces([1, 0, 2]), kept)
  check(t, pieces([0, 1]), kept)
  check(t, pieces([1, 2]), kept)
  check(t, pieces([0, 2]), kept)
  const unary = ['unary', 'unary', 'unary', 'reduce', 'unary']
  check(t, pieces([3, 0, 1, 2]), [...unary, 'binary'])
  check(t, pieces([0, 1, 3, 2]), [...unary, 'join_rows', 'binary'])
  t.end()
})

t.test('copies that are needed stay', (t) => {
  check(t, (x) => cat([operator('aten::sin', x), x]), ['unary', 'join_rows'])
  const twice = (x: Tensor): Tensor => {
    const y = operator('aten::sin', x)
    return cat([y, y])
  }
  check(t, twice, ['unary', 'join_rows'])
  check(t, (x) => cat([operator('aten::sin', x), operator('aten::cos', x)], 1), ['unary', 'unary', 'join_rows'])
  const half = (x: Tensor): Tensor =>
    cat([operator('aten::select.int', operator('aten::sin', x), 0, 1), operator('aten::select.int', x, 0, 0)])
  check(t, half, ['unary', 'join_rows'])
  t.end()
})

t.test('memory that is written to later is not shared', (t) => {
  const source = (x: Tensor): Tensor => {
    const y = operator('aten::sin', x)
    const joined = cat([y, operator('aten::cos', x)])
    operator('aten::neg_', y)
    return operator('aten::add.Tensor', joined, cat([y, y]))
  }
  t.ok(names(check(t, source, ['unary', 'unary', 'join_rows', 'unary', 'join_rows', 'binary'])).length > 0)
  const result = (x: Tensor): Tensor => {
    const y = operator('aten::sin', x)
    const joined = cat([y, operator('aten::cos', x)])
    operator('aten::neg_', joined)
    return operator('aten::add.Tensor', joined, cat([y, x]))
  }
  check(t, result, ['unary', 'unary', 'join_rows', 'unary', 'join_rows', 'binary'])
  const read = (x: Tensor): Tensor => {
    const y = operator('aten::sin', x)
    const joined = cat([y, operator('aten::cos', x)])
    const sum = operator('aten::sum.dim_IntList', y, [0], true, null)
    operator('aten::neg_', joined)
    return operator('aten::add.Tensor', joined, sum)
  }
  check(t, read, ['unary', 'unary', 'reduce', 'unary', 'binary'])
  t.end()
})
