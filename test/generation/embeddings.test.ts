import t from 'tap'
import { embed, nearestVectors, roundVectors, type Tensor, tensor } from '../../src/index.js'
import { load } from './fixtures.js'

const model = await load('gpt2-whole')
const texts = [[5, 6, 7], [9], [1, 2, 3, 4, 5], [8, 3]]

/** What the network gives for a text by itself: [tokens][width]. */
const statesOf = (text: number[]): number[][] =>
  (model.forward<Tensor>(tensor([text], [1, text.length], 'int64')).toArray() as number[][][])[0]!
const near = (found: readonly number[], expected: readonly number[]): boolean =>
  found.length === expected.length && expected.every((x, i) => Math.abs(x - found[i]!) < 1e-4 * Math.max(1, Math.abs(x)))

t.test('vectors of texts', async (t) => {
  const pools = {
    mean: (states: number[][]) => states[0]!.map((_, i) => states.reduce((sum, row) => sum + row[i]!, 0) / states.length),
    cls: (states: number[][]) => states[0]!,
    last: (states: number[][]) => states.at(-1)!,
  }
  for (const [pooling, pool] of Object.entries(pools)) {
    const found = await embed(model, texts, { pooling: pooling as 'mean', normalize: false })
    t.strictSame(found.shape, [4, 64])
    const rows = found.toArray() as number[][]
    for (const [i, text] of texts.entries()) t.ok(near(rows[i]!, pool(statesOf(text))), `${pooling} of text ${i}`)
  }
  const unit = (await embed(model, texts)).toArray() as number[][]
  const expected = pools.mean(statesOf(texts[0]!))
  const length = Math.hypot(...expected)
  t.ok(near(unit[0]!, expected.map((x) => x / length))) // prettier-ignore
  t.ok(unit.every((row) => Math.abs(Math.hypot(...row) - 1) < 1e-5))
  await t.rejects(embed(model, [Array<number>(97).fill(1)]), { code: 'INVALID_ARGUMENT', message: /takes 96 tokens/ })
  await t.rejects(embed(model, [[]]), { code: 'INVALID_ARGUMENT', message: /at least one token/ })
})

t.test('texts of a model without a mask share a call where nothing is filled up', async (t) => {
  const several = [[3, 4], [5, 6, 7], [9, 8], [1, 2, 3], [4], [6, 5]]
  const shapes: (readonly number[])[] = []
  /** Takes tokens alone, and gives the mean of all of them, as a network does that pools by itself. */
  const whole = {
    methods: ['forward'],
    inputs: [
      {
        name: 'input_ids',
        type: 'Tensor',
        dtype: 'int64',
        shape: [
          { min: 1, max: 8 },
          { min: 1, max: 96 },
        ],
      },
    ],
    outputs: null,
    parameters: () => new Map(),
    call: () => null,
    run: (_: string, [tokens]: [Tensor]) => {
      shapes.push(tokens.shape)
      const numbers = tokens.to('float32').mean(1, true)
      return Promise.resolve(numbers.matmul(tensor([[1, 2]], [1, 2], 'float32')))
    },
    saveState: () => null,
    loadState: () => undefined,
  } as unknown as typeof model
  const found = await embed(whole, several, { normalize: false })
  const means = several.map((text) => text.reduce((sum, token) => sum + token, 0) / text.length)
  t.ok(near(found.numbers(), means.flatMap((mean) => [mean, 2 * mean]))) // prettier-ignore
  t.strictSame(shapes, [[1, 1], [3, 2], [2, 3]]) // prettier-ignore
})

t.test('the nearest vectors, of more than one block', (t) => {
  const [count, width] = [70_000, 8]
  let state = 1
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647 - 0.5
  const data = Float32Array.from({ length: count * width }, next)
  const queries = Float32Array.from({ length: 2 * width }, next)
  const product = (row: number, query: number): number => {
    let sum = 0
    for (let i = 0; i < width; i++) sum += data[row * width + i]! * queries[query * width + i]!
    return sum
  }
  const expected = [0, 1].map((query) => {
    const scores = Array.from({ length: count }, (_, row) => product(row, query))
    return [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, 10)
  })
  const vectors = tensor(data, [count, width])
  const found = nearestVectors(vectors, tensor(queries, [2, width]), 10)
  t.strictSame(found.map((hits) => hits.map(({ index }) => index)), expected) // prettier-ignore
  t.ok(Math.abs(found[1]![3]!.score - product(expected[1]![3]!, 1)) < 1e-5)

  const rounded = roundVectors(vectors)
  const [alike] = nearestVectors(rounded, tensor(queries.subarray(0, width)), 10)
  for (const { index, score } of alike!) t.ok(Math.abs(score - product(index, 0)) < 0.02)
  t.ok(alike!.filter(({ index }) => expected[0]!.includes(index)).length >= 7)
  t.equal(nearestVectors(tensor([[1, 0]]), tensor([1, 1]), 5)[0]!.length, 1, 'as many as there are')
  t.throws(() => nearestVectors(vectors, tensor([1, 2]), 1), { code: 'INVALID_ARGUMENT', message: /have 8 numbers, the queries 2/ })
  t.end()
})
