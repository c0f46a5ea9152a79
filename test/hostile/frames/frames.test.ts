import t from 'tap'
import { notInCi, SEED_OF_DAY, SHARE } from '../../support/day.js'
import { EXEMPT, fuzzedKernels, fuzzFrames } from './frames.js'
import { refusedSeeds } from './generate.js'

/** Frames that are tried; `npm run fuzz -- frames` tries as many as there is time for. */
const ROUNDS = 6 * fuzzedKernels().length
/** The longest that they may take. */
const MILLISECONDS = 45_000

t.test('frames that operators and plans launch pass the check', (t) => {
  for (const kernel of fuzzedKernels()) t.strictSame(refusedSeeds(kernel), [], kernel)
  t.strictSame(Object.keys(EXEMPT), ['sparse_gemm'])
  t.end()
})

for (const { name, skip, ...options } of [
  { name: 'random frames', skip: false, seed: 1, rounds: ROUNDS, milliseconds: MILLISECONDS },
  { name: 'those of the day', skip: notInCi, seed: SEED_OF_DAY, rounds: 2 ** 50, milliseconds: SHARE.frames },
])
  t.test(`${name} that pass the check stay within their memory, and come to an end`, { skip }, async (t) => {
    const { findings, launched, statuses } = await fuzzFrames(options)
    t.strictSame(findings, [], 'npx tsx test/hostile/frames/show.ts SEED ROUND shows the frame')
    t.ok(statuses['ok']! > 0, `${JSON.stringify(statuses)} of ${Object.keys(launched).length} kernels`)
  })
