import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { callOperator, getNumThreads, loadModule, setNumThreads, Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { Random, real } from '../backends/support/random.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'

const THREADS = [1, 2, 3, 7]

/** The bits of every tensor of a result. */
function bits(output: unknown): Buffer {
  const tensors = (Array.isArray(output) ? output.flat(3) : [output]).filter((x) => x instanceof Tensor)
  return Buffer.concat(tensors.map((x) => Buffer.from(x.data().buffer)))
}

function sameForAllCounts(t: Test, run: () => unknown, what: string): void {
  setNumThreads(1)
  // weights are packed at their second use, which changes the order of additions
  run()
  const alone = bits(run())
  for (const count of THREADS.slice(1)) {
    setNumThreads(count)
    t.ok(bits(run()).equals(alone), `${what} with ${count} threads`)
  }
  setNumThreads(1)
}

t.teardown(() => setNumThreads(1))

t.test('the number of threads is what was set', (t) => {
  t.equal(getNumThreads(), 1)
  setNumThreads(3)
  t.equal(getNumThreads(), 3)
  setNumThreads(1000)
  t.equal(getNumThreads(), 256)
  for (const wrong of [0, -1, 1.5, NaN, '2' as unknown as number]) t.throws(() => setNumThreads(wrong), { code: 'INVALID_ARGUMENT' })
  setNumThreads(1)
  t.end()
})

t.test('any number of threads gives the same bits', (t) => {
  const random = new Random(5)
  const size = (shape: number[]): number => shape.reduce((a, b) => a * b, 1)
  const make = (shape: number[], dtype: 'float32' | 'float64' = 'float32') => real(random.data(size(shape)), shape, dtype)
  const op = (name: string, ...args: unknown[]) => callOperator(name, args as never)
  for (const dtype of ['float32', 'float64'] as const) {
    for (const [m, k, n] of [
      [1, 300, 700],
      [3, 257, 513],
      [130, 900, 61],
      [61, 400, 333],
      [257, 70, 129],
    ] as const) {
      const [a, b, w, bias] = [make([m, k], dtype), make([k, n], dtype), make([n, k], dtype), make([n], dtype)]
      sameForAllCounts(t, () => op('aten::mm', a, b), `mm ${m} ${k} ${n} ${dtype}`)
      sameForAllCounts(t, () => op('aten::mm', a, op('aten::t', w)), `mm of a transposed operand ${m} ${k} ${n} ${dtype}`)
      sameForAllCounts(t, () => op('aten::linear', a, w, bias), `linear ${m} ${k} ${n} ${dtype}`)
    }
    const [x, y] = [make([12, 40, 64], dtype), make([12, 64, 50], dtype)]
    sameForAllCounts(t, () => op('aten::bmm', x, y), `bmm ${dtype}`)
    const image = make([2, 16, 33, 29], dtype)
    const convolve = (weight: Tensor, groups: number, stride: number) =>
      op('aten::conv2d', image, weight, null, [stride, stride], [1, 1], [1, 1], groups)
    const dense = make([48, 16, 3, 3], dtype)
    const depthwise = make([32, 1, 3, 3], dtype)
    sameForAllCounts(t, () => convolve(dense, 1, 1), `conv ${dtype}`)
    sameForAllCounts(t, () => convolve(dense, 1, 2), `conv with a stride ${dtype}`)
    sameForAllCounts(t, () => convolve(depthwise, 16, 1), `depthwise ${dtype}`)
    sameForAllCounts(t, () => op('aten::max_pool2d', image, [3, 3], [2, 2], [1, 1], [1, 1], false), `max pool ${dtype}`)
    sameForAllCounts(t, () => op('aten::avg_pool2d', image, [3, 3], [2, 2]), `average pool ${dtype}`)
    const [rows, row] = [make([150, 1111], dtype), make([1111], dtype)]
    sameForAllCounts(t, () => op('aten::gelu', rows), `gelu ${dtype}`)
    sameForAllCounts(t, () => op('aten::add.Tensor', rows, row), `broadcast add ${dtype}`)
    sameForAllCounts(t, () => op('aten::softmax.int', rows, 1), `softmax ${dtype}`)
    sameForAllCounts(t, () => op('aten::layer_norm', rows, [1111]), `layer norm ${dtype}`)
  }
  t.end()
})

const folder = fixturePath('models')
for (const file of readdirSync(folder).filter((name) => /^[^.]*\.ptl$/.test(name))) {
  t.test(`${file}: the same bits with 1 and 2 threads`, async (t) => {
    const golden = JSON.parse(readFileSync(`${folder}/${file.replace('.ptl', '.json')}`, 'utf8')) as Golden
    const module = await loadModule(`${folder}/${file}`)
    const inputs = golden.inputs.map(inputOf)
    sameForAllCounts(t, () => module.forward(...inputs), file)
    module.dispose()
  })
}

atEveryLevel(t, import.meta.url)
