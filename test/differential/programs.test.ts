import t from 'tap'
import { notInCi, SEED_OF_DAY, SHARE } from '../support/day.js'
import { FAMILY_NAMES } from './generator.js'
import { runPrograms } from './run.js'

/** Programs of each family that are the same in every run, and the longest that they may take. */
const FIXED = 6
const MILLISECONDS = 40_000

async function run(
  seed: number,
  count: number,
  milliseconds: number,
): Promise<{ readonly programs: number; readonly faults: number; readonly text: string }> {
  const texts: string[] = []
  const { programs, faults } = await runPrograms(
    { families: FAMILY_NAMES, seed, count, milliseconds, modes: null, shrinks: true, log: null },
    (text) => texts.push(text),
  )
  return { programs, faults, text: texts.join('\n') }
}

t.test('programs of fixed seeds give what the interpreter gives', async (t) => {
  const { programs, faults, text } = await run(1, FIXED, MILLISECONDS)
  t.ok(programs > 0)
  t.equal(faults, 0, text)
})

t.test('so do programs of a seed of the day', { skip: notInCi }, async (t) => {
  const { faults, text } = await run(SEED_OF_DAY * 10_000, Infinity, SHARE.programs)
  t.equal(faults, 0, text)
})
