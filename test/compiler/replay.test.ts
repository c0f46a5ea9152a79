import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import type { CapturedRun } from '../../compiler/capture/captured.js'
import { buildPlan, Plan } from '../../compiler/executor/plan.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { memoryStats } from '../../runtime/native/memory.js'
import { loadProgram } from '../../engine/load-program.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { callOperator, tensor } from '../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'

function tensorsOf(value: Value): Tensor[] {
  if (value instanceof Tensor) return [value]
  if (value instanceof Tuple) return value.items.flatMap(tensorsOf)
  return Array.isArray(value) ? value.flatMap(tensorsOf) : []
}

function capturedOf(run: () => Value, inputs: readonly Tensor[]): CapturedRun {
  const result = capture(run, inputs)
  if (result.captured === null) throw new Error(result.reason)
  return result.captured
}

function planOf(run: () => Value, inputs: readonly Tensor[]): Plan {
  const plan = buildPlan(capturedOf(run, inputs))
  if (typeof plan === 'string') throw new Error(plan)
  return plan
}

function reasonOf(run: () => Value, inputs: readonly Tensor[]): string | null {
  const result = capture(run, inputs)
  return result.captured === null ? result.reason : null
}

/** Other numbers of the same shape; those of integers stay, since they may be indices. */
function changed(input: Tensor, factor: number): Tensor {
  const data = input.data()
  if (data instanceof Float32Array) for (let i = 0; i < data.length; i++) data[i] = data[i]! * factor + 0.1
  return Tensor.fromStorage(data, { dtype: input.dtype, shape: input.shape })
}

const operator = (name: string, ...args: Parameters<typeof callOperator>[1][number][]): Tensor => callOperator(name, args) as Tensor

const folder = fixturePath('models')
for (const file of readdirSync(folder).filter((name) => /^[^.]*\.ptl$/.test(name))) {
  t.test(`${file}: replays equal runs, bit by bit`, (t) => {
    const golden = JSON.parse(readFileSync(`${folder}/${file.replace('.ptl', '.json')}`, 'utf8')) as Golden
    const module = loadProgram(`${folder}/${file}`)
    const forward = module.method('forward')
    const inputs = golden.inputs.map((input) => inputOf(input) as Tensor)
    // weights are packed at their second use
    for (const output of tensorsOf(module.call(forward, inputs))) output.dispose()
    const plan = planOf(() => module.call(forward, inputs), inputs)
    t.ok(plan.frames > 0)
    t.ok(plan.arenaBytes >= plan.lowerBound && plan.arenaBytes <= 1.15 * plan.lowerBound, `${plan.arenaBytes} of ${plan.lowerBound} bytes`)
    t.ok(plan.naiveBytes > plan.arenaBytes)
    const results = [1, 0.5, -0.7].map((factor) => {
      const others = inputs.map((input) => changed(input, factor))
      t.ok(plan.accepts(others))
      return { others, output: plan.run(others) }
    })
    // results of earlier runs are whole after later ones
    for (const { others, output } of results) {
      const expected = tensorsOf(module.call(forward, others))
      const found = tensorsOf(output)
      t.equal(found.length, expected.length)
      for (const [i, got] of found.entries()) {
        t.same([got.dtype, got.shape, got.strides], [expected[i]!.dtype, expected[i]!.shape, expected[i]!.strides])
        t.ok(Buffer.from(got.data().buffer).equals(Buffer.from(expected[i]!.data().buffer)), `output ${i}`)
      }
    }
    const before = memoryStats().live
    for (let i = 0; i < 20; i++) for (const output of tensorsOf(plan.run(inputs))) output.dispose()
    t.equal(memoryStats().live, before, 'no memory is left behind')
    plan.dispose()
    t.notOk(plan.accepts(inputs))
    t.throws(() => plan.run(inputs), { code: 'DISPOSED' })
    module.dispose()
    t.end()
  })
}

t.test('runs whose only intermediates have no elements', (t) => {
  const x = tensor([1, 2], [2])
  const joined = (): Value => {
    const nothing = operator('aten::new_zeros', x, [0])
    const result = operator('aten::cat', [nothing, x], 0)
    nothing.release()
    return result
  }
  for (const [inputs, run] of [
    [[], () => operator('aten::range', 0, 3)],
    [[x], joined],
  ] as const) {
    const expected = [...(run() as Tensor).data()]
    const plan = planOf(run, inputs)
    t.equal(plan.arenaBytes, 0)
    for (let i = 0; i < 2; i++) t.strictSame([...(plan.run(inputs) as Tensor).data()], expected)
    plan.dispose()
  }
  t.end()
})

t.test('results that are arguments, views of them, or share memory keep what they are', (t) => {
  const x = tensor([1, 2, 3, 4], [2, 2])
  const run = (): Value => {
    const sum = operator('aten::add.Tensor', x, x)
    return [x, viewOf(x, [2], [1], 2), sum, viewOf(sum, [2], [2], 1), sum, 7, 'text', null]
  }
  const plan = planOf(run, [x])
  const y = tensor([10, 20, 30, 40], [2, 2])
  const [same, row, sum, column, again, ...rest] = plan.run([y]) as [Tensor, Tensor, Tensor, Tensor, Tensor, ...Value[]]
  t.equal(same, y)
  t.same([...row.data()], [30, 40])
  t.equal(row.storage, y.storage)
  t.same([...sum.data()], [20, 40, 60, 80])
  t.same([...column.data()], [40, 80])
  t.equal(column.storage, sum.storage)
  t.equal(again, sum)
  t.same(rest, [7, 'text', null])
  t.end()
})

t.test('a run that writes to an argument does so at each replay', (t) => {
  const x = tensor([1, 2])
  const plan = planOf(() => operator('aten::mul_.Scalar', x, 3), [x])
  t.same([...x.data()], [3, 6], 'captured by running once')
  const y = tensor([5, 7])
  const version = y.storage.version
  t.equal(plan.run([y]), y)
  t.same([...y.data()], [15, 21])
  t.not(y.storage.version, version)
  t.end()
})

t.test('arguments that share memory are not taken for separate ones', (t) => {
  const [a, b] = [tensor([1, 2]), tensor([3, 4])]
  const plan = planOf(() => operator('aten::add.Tensor', a, b), [a, b])
  t.ok(plan.accepts([b, a]))
  t.notOk(plan.accepts([a, a]))
  const double = planOf(() => operator('aten::add.Tensor', a, a), [a, a])
  t.ok(double.accepts([b, b]))
  t.notOk(double.accepts([a, b]))
  t.end()
})

t.test('constants must be alive and as they were', (t) => {
  const [x, weight] = [tensor([1, 2]), tensor([3, 4])]
  const plan = planOf(() => operator('aten::mul.Tensor', x, weight), [x])
  t.same([...tensorsOf(plan.run([x]))[0]!.data()], [3, 8])
  operator('aten::add_.Scalar', weight, 1)
  t.notOk(plan.accepts([x]), 'written to')
  const other = planOf(() => operator('aten::mul.Tensor', x, weight), [x])
  weight.dispose()
  t.notOk(other.accepts([x]), 'disposed')
  t.end()
})

t.test('numbers that come from TypeScript are part of the plan', (t) => {
  const x = tensor([1, 2, 3])
  const run = (): Value => {
    const four = operator('aten::full', [1], 4)
    const product = operator('aten::mul.Tensor', x, four)
    four.dispose()
    return product
  }
  const plan = planOf(run, [x])
  t.same([...tensorsOf(plan.run([tensor([1, 1, 2])]))[0]!.data()], [4, 4, 8])
  t.end()
})

t.test('runs that depend on data or leave something behind are refused, with their value', (t) => {
  const x = tensor([0, 2, 0, 3])
  t.match(
    reasonOf(() => x.item.call(tensor([5])), [x]),
    /reads tensor data/,
  )
  t.match(
    reasonOf(() => operator('aten::nonzero', x), [x]),
    /nonzero returns numbers that depend on data/,
  )
  t.match(
    reasonOf(() => operator('aten::rand_like', x), [x]),
    /random numbers/,
  )
  const state = tensor([1])
  t.match(
    reasonOf(() => operator('aten::add_.Tensor', state, x.storage === state.storage ? x : state), [x]),
    /writes to a tensor that is not its own/,
  )
  let kept: Tensor | undefined
  t.match(
    reasonOf(() => {
      kept = operator('aten::neg', x)
      return null
    }, [x]),
    /keeps memory/,
  )
  const refused = capture(() => operator('aten::nonzero', x), [x])
  t.same((refused.value as Tensor).toArray(), [[1], [3]])
  kept!.dispose()
  t.end()
})

t.test('errors of kernels name the kernel, and the plan stays usable', (t) => {
  const table = tensor([1, 2, 3, 4, 5, 6], [3, 2])
  const index = (value: bigint): Tensor => Tensor.fromStorage(BigInt64Array.of(value), { dtype: 'int64', shape: [1] })
  const one = index(1n)
  const plan = planOf(() => operator('aten::index_select', table, 0, one), [one])
  plan.run([one])
  const before = memoryStats().live
  const wrong = index(9n)
  t.throws(() => plan.run([wrong]), { code: 'INVALID_ARGUMENT', message: /index_get: an index is out of range/ })
  wrong.dispose()
  t.equal(memoryStats().live, before)
  t.same([...tensorsOf(plan.run([index(2n)]))[0]!.data()], [5, 6])
  t.end()
})

t.test('a result takes the place of an operand that dies, but not of one that lives', (t) => {
  const x = tensor(Float32Array.from({ length: 64 }, (_, i) => i - 32))
  const chain = (): Value => {
    const a = operator('aten::abs', x)
    const b = operator('aten::sqrt', a)
    a.dispose()
    const c = operator('aten::exp', b)
    b.dispose()
    const d = operator('aten::sum', c)
    c.dispose()
    return d
  }
  t.equal(planOf(chain, [x]).arenaBytes, 256, 'one buffer of 64 floats')
  const used = (): Value => {
    const a = operator('aten::abs', x)
    const b = operator('aten::exp', a)
    const d = operator('aten::dot', a, b)
    a.dispose()
    b.dispose()
    return d
  }
  const plan = planOf(used, [x])
  t.equal(plan.arenaBytes, 512)
  t.same(tensorsOf(plan.run([x]))[0]!.data(), tensorsOf(used())[0]!.data())
  t.end()
})

t.test('empty tensors and many outputs', (t) => {
  const x = Tensor.fromStorage(new Float32Array(0), { dtype: 'float32', shape: [0, 3] })
  t.same(tensorsOf(planOf(() => operator('aten::relu', x), [x]).run([x]))[0]!.shape, [0, 3])
  const y = tensor([1])
  const many = (n: number) => buildPlan(capturedOf(() => Array.from({ length: n }, () => operator('aten::neg', y)), [y]))
  t.ok(many(447) instanceof Plan)
  t.match(many(448), /449 inputs and outputs, at most 448 fit/)
  t.end()
})

t.test('a frame of unknown memory is refused', (t) => {
  const x = tensor([1, 2])
  const run = (): Value => {
    const address = kernels.mem_alloc({ bytes: 64 })
    kernels.mem_copy({ to: address, from: x.address, bytes: 8 })
    kernels.mem_free({ address })
    return null
  }
  t.match(reasonOf(run, [x]), /mem_copy uses memory of unknown origin/)
  t.equal(x.type, DType.float32)
  t.end()
})
