import t from 'tap'
import { fuzzedKernels } from './frames.js'
import { refusedSeeds } from './generate.js'

t.test('frames that operators and plans launch pass the check', (t) => {
  for (const kernel of fuzzedKernels()) t.strictSame(refusedSeeds(kernel), [], kernel)
  t.end()
})
