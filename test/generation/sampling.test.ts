import t from 'tap'
import { penalizeGenerated, penalizeRepetition } from '../../generation/sampling/penalties.js'
import { randomFrom } from '../../generation/sampling/random.js'
import { draw, logProbability, Sampler, type SamplingOptions } from '../../generation/sampling/sampler.js'
import { sampling } from './fixtures.js'

const row = (i: number): Float32Array => new Float32Array(sampling.scores[i]!)
/** The probabilities that a token is drawn by. */
function distributionOf(logits: Float32Array, options: SamplingOptions): number[] {
  draw(logits, options, 0)
  const weights = Array.from(logits, (x) => Math.exp(x - Math.max(...logits)))
  const sum = weights.reduce((a, b) => a + b)
  return weights.map((weight) => weight / sum)
}
/** Between numbers of 24 bits and of 53. */
const near = (a: ArrayLike<number>, b: readonly number[]): boolean => b.every((x, i) => Math.abs(x - a[i]!) < 1e-5)

t.test('filters leave what those of transformers leave', (t) => {
  for (const { options, row: i, kept } of sampling.filters) {
    const found = [...distributionOf(row(i), options).entries()].flatMap(([token, p]) => (p > 0 ? [token] : []))
    t.strictSame(found, kept, `${JSON.stringify(options)}, row ${i}`)
  }
  t.end()
})

t.test('all together, in their order', (t) => {
  const [options, chances] = sampling.together
  for (const [i, expected] of chances.entries()) t.ok(near(distributionOf(row(i), options), expected), `row ${i}`)
  t.end()
})

t.test('penalties', (t) => {
  for (const [i, expected] of sampling.repetition.entries()) {
    const logits = row(i)
    penalizeRepetition(logits, sampling.tokens[i]!, 1.3)
    t.ok(near(logits, expected), `row ${i}`)
  }
  const logits = new Float32Array([1, 2, 3])
  penalizeGenerated(logits, new Map([[1, 3], [2, 1], [9, 1]]), 0.5, 0.25) // prettier-ignore
  t.strictSame([...logits], [1, 0.25, 2.25])
  // what was generated counts, and the prompt does not
  const sampler = new Sampler({ presencePenalty: 2 })
  t.strictSame(
    [1, 2, 3].map(() => sampler.next(new Float32Array([3, 2, 1.5]), [0, 0])),
    [0, 1, 2],
  )
  t.end()
})

t.test('tokens are drawn as often as they are likely', (t) => {
  const chances = distributionOf(new Float32Array([2, 1, 0, -1]), { topK: 3 })
  const sampler = new Sampler({ topK: 3, seed: 7 })
  const counts = [0, 0, 0, 0]
  const draws = 20_000
  for (let i = 0; i < draws; i++) counts[sampler.next(new Float32Array([2, 1, 0, -1]), [])]!++
  // within five standard deviations
  for (const [token, p] of chances.entries())
    t.ok(Math.abs(counts[token]! - draws * p) <= 5 * Math.sqrt(draws * p * (1 - p)), `token ${token}: ${counts[token]!}`)
  t.end()
})

t.test('numbers of a seed', (t) => {
  const numbers = (seed: number): number[] => Array.from({ length: 1000 }, randomFrom(seed))
  t.strictSame(numbers(5), numbers(5))
  t.notSame(numbers(5), numbers(6))
  t.notSame(numbers(5), numbers(5 + 2 ** 32))
  const mean = numbers(0).reduce((a, b) => a + b, 0) / 1000
  t.ok(numbers(0).every((x) => x >= 0 && x < 1) && Math.abs(mean - 0.5) < 0.05, `mean ${mean}`)
  t.end()
})

t.test('the hook, and logits that are none', (t) => {
  const seen: number[][] = []
  const forbid = new Sampler({ logits: (values, tokens) => void (seen.push([...tokens]), (values[0] = -Infinity)) })
  t.equal(forbid.next(new Float32Array([5, 1, 2]), [4]), 2)
  t.strictSame(seen, [[4]])
  for (const options of [{}, { temperature: 1 }])
    t.throws(() => new Sampler(options).next(new Float32Array([NaN, -Infinity]), []), { code: 'MODEL_ERROR' })
  t.ok(Math.abs(logProbability(new Float32Array([0, Math.log(3)]), 1) - Math.log(0.75)) < 1e-6)
  t.end()
})
