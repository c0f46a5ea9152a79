import t from 'tap'
import { callOperator, tensor, type Tensor } from '../../../src/index.js'
import { count, type Model, Random, whole } from './index-model.js'
import { RESHAPES, VIEWS } from './view-operations.js'

const SHAPES = [[], [5], [3, 4], [2, 3, 4], [1, 4, 1, 3], [2, 1, 3, 2, 2], [0, 3]]
const CHAINS = 400
const LENGTH = 6

function base(shape: readonly number[]): Tensor {
  return tensor(
    Float32Array.from({ length: count(shape) }, (_, i) => i),
    shape,
  )
}

const numbers = (view: Tensor): number[] => Array.from(view.data(), Number)

t.test('chains of views show the elements that their definitions name, without a copy', (t) => {
  const random = new Random(7)
  for (let chain = 0; chain < CHAINS; chain++) {
    const shape = random.pick(SHAPES)
    const start = base(shape)
    let view = start
    let model: Model = whole(shape)
    const said: string[] = [`[${shape.join()}]`]
    for (let i = 0; i < LENGTH && count(model.shape) <= 200; i++) {
      const step = random.pick(VIEWS)(view, model, random)
      if (step === null) continue
      said.push(step.text)
      ;({ tensor: view, model } = step)
      if (view.shape.join() !== model.shape.join() || view.storage !== start.storage) break
    }
    const where = said.join(' ')
    if (!t.strictSame(view.shape, model.shape, `shape of ${where}`)) break
    if (!t.equal(view.storage, start.storage, `memory of ${where}`)) break
    if (!t.strictSame(numbers(view), model.places, `elements of ${where}`)) break
  }
  t.end()
})

t.test('a view is written through: a fill of the view changes these elements of the base and no others', (t) => {
  const random = new Random(11)
  for (let chain = 0; chain < CHAINS / 4; chain++) {
    const shape = random.pick(SHAPES)
    const start = base(shape)
    let view = start
    let model = whole(shape)
    for (let i = 0; i < 4; i++) {
      const step = random.pick(VIEWS.filter((op) => op.name !== 'expand' && op.name !== 'unfold'))(view, model, random)
      if (step !== null) ({ tensor: view, model } = step)
    }
    callOperator('aten::fill_.Scalar', [view, -1])
    const written = new Set(model.places)
    t.strictSame(
      numbers(start),
      whole(shape).places.map((place) => (written.has(place) ? -1 : place)),
    )
  }
  t.end()
})

t.test('reshapes after views keep the order of elements', (t) => {
  const random = new Random(23)
  for (let chain = 0; chain < CHAINS; chain++) {
    const shape = random.pick(SHAPES)
    let view = base(shape)
    let model = whole(shape)
    for (let i = 0; i < LENGTH && count(model.shape) <= 100; i++) {
      const step = random.pick(i % 2 === 0 ? VIEWS : RESHAPES)(view, model, random)
      if (step !== null) ({ tensor: view, model } = step)
    }
    if (!t.strictSame([view.shape, numbers(view)], [model.shape, model.places])) break
  }
  t.end()
})

t.test('view and reshape agree: view succeeds where reshape shares memory', (t) => {
  const random = new Random(31)
  for (let chain = 0; chain < CHAINS; chain++) {
    const shape = random.pick([
      [4, 6],
      [2, 3, 4],
      [2, 2, 6],
    ])
    let view = base(shape)
    let model = whole(shape)
    for (let i = 0; i < 2; i++) {
      const step = random.pick(VIEWS)(view, model, random)
      if (step !== null) ({ tensor: view, model } = step)
    }
    const size = count(model.shape)
    if (size === 0) continue
    const target = random.pick([
      [size],
      [-1, 1],
      [1, size],
      ...[2, 3, 4, 6]
        .filter((n) => size % n === 0)
        .flatMap((n) => [
          [n, -1],
          [-1, n],
        ]),
    ])
    const shared = (callOperator('aten::reshape', [view, target]) as Tensor).storage === view.storage
    const attempt = (): Tensor => callOperator('aten::view', [view, target]) as Tensor
    if (shared) t.strictSame(numbers(attempt()), model.places)
    else t.throws(attempt, { code: 'INVALID_ARGUMENT' })
  }
  t.end()
})
