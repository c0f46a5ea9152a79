import t from 'tap'
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

t.test('random frames that pass the check stay within their memory, and come to an end', async (t) => {
  const { findings, launched, statuses } = await fuzzFrames({ seed: 1, rounds: ROUNDS, milliseconds: MILLISECONDS })
  t.strictSame(findings, [], 'npx tsx test/hostile/frames/show.ts SEED ROUND shows the frame')
  t.ok(statuses['ok']! > 0, `${JSON.stringify(statuses)} of ${Object.keys(launched).length} kernels`)
})
