import t, { type Test } from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import { buildPlan, Plan } from '../../compiler/executor/plan.js'
import { shareInPlace } from '../../compiler/memory/in-place.js'
import { extentsOf } from '../../compiler/memory/lifetimes.js'
import { enterScope } from '../../runtime/tensor/scope.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { callOperator, float, int, setNumThreads } from '../../src/index.js'
import { Random, real } from '../backends/support/random.js'

const random = new Random(5)
const sized = (shape: number[]): Tensor => {
  const made = real(random.data(shape.reduce((a, b) => a * b, 1)), shape, 'float32')
  made.pinned = true
  return made
}
const operator = (name: string, ...args: Value[]): Tensor => callOperator(name, args) as Tensor
const pair = (n: number): Value => [int(n), int(n)]
const kept = (made: Tensor): Tensor => Object.assign(made, { pinned: true })

/** Runs and gives back everything but the result, as the interpreter does. */
function clean(run: (x: Tensor) => Tensor, x: Tensor): Tensor {
  const scope = { created: [] as Tensor[] }
  const before = enterScope(scope)
  try {
    return kept(run(x))
  } finally {
    enterScope(before)
    for (const made of scope.created) if (!made.pinned) made.release()
  }
}

/** Checks how many buffers take the place of others, and that the plan gives the same bits as the run. */
function check(t: Test, name: string, run: (x: Tensor) => Tensor, shape: number[], shared: number): void {
  const x = sized(shape)
  const { captured } = capture(() => clean(run, x), [x])
  if (captured === null) throw new Error(name)
  const place = shareInPlace(captured, extentsOf(captured))
  t.equal(captured.buffers.filter((_, i) => place(i) !== i).length, shared, name)
  const plan = buildPlan(captured)
  if (!(plan instanceof Plan)) throw new Error(plan)
  const other = sized(shape)
  const bits = (y: Tensor): Buffer => Buffer.from((y.data() as Float32Array).slice().buffer)
  t.ok(bits(plan.run([other]) as Tensor).equals(bits(clean(run, other))), `${name}: same bits`)
  plan.dispose()
}

/** y and then its convolution of `kernel` with `added` as residual, over 32 channels. */
function residualOf(kernel: number, added: (x: Tensor, y: Tensor) => Tensor): (x: Tensor) => Tensor {
  const bias = sized([32])
  const weight = sized([32, 32, kernel, kernel])
  const winograd = kernel === 3
  const filter = kept(operator(winograd ? 'ptlite::winograd_filter' : 'ptlite::blocked_filter', weight))
  const limits = [float(0), float(Infinity)]
  return (x) => {
    const y = operator('aten::neg', x)
    const residual = added(x, y)
    return winograd
      ? operator('ptlite::winograd_convolution', y, filter, bias, residual, pair(1), ...limits)
      : operator('ptlite::blocked_convolution', y, filter, bias, residual, pair(1), pair(0), pair(1), ...limits)
  }
}

t.test('the result of a convolution lies where its residual was', (t) => {
  for (const threads of [1, 2]) {
    setNumThreads(threads)
    for (const kernel of [1, 3]) {
      // rows that tiles of 14, 10, 8, 7 or 6 pixels divide, and rows that they do not
      for (const side of [3, 7, 8, 13, 29]) {
        const name = `${kernel} x ${kernel}, side ${side}, ${threads} threads`
        const shape = [1, 2, side, side, 16]
        check(
          t,
          `${name}, used for the last time`,
          residualOf(kernel, (x) => operator('aten::abs', x)),
          shape,
          1,
        )
        check(
          t,
          `${name}, also the input`,
          residualOf(kernel, (_, y) => y),
          shape,
          0,
        )
      }
    }
  }
  setNumThreads(1)
  const once = residualOf(1, (x) => operator('aten::abs', x))
  let residual: Tensor
  const another = residualOf(1, (x) => (residual = operator('aten::abs', x)))
  const used = (x: Tensor): Tensor => operator('aten::add.Tensor', another(x), residual, int(1))
  check(t, 'used again', used, [1, 2, 5, 5, 16], 1)
  check(t, 'a convolution behind a convolution', (x) => once(once(x)), [1, 2, 5, 5, 16], 3)
  t.end()
})
