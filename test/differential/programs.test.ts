import t from 'tap'
import { FAMILIES } from './families.js'
import { runPrograms } from './run.js'

/** Of both tests together. */
const MILLISECONDS = 80_000
/** Programs of each family that are the same in every run. */
const FIXED = 20

async function run(seed: number, count: number): Promise<{ readonly programs: number; readonly faults: number; readonly text: string }> {
  const texts: string[] = []
  const { programs, faults } = await runPrograms(
    { families: Object.keys(FAMILIES), seed, count, milliseconds: MILLISECONDS / 2, modes: null, shrinks: true },
    (text) => texts.push(text),
  )
  return { programs, faults, text: texts.join('\n') }
}

t.test('programs of fixed seeds give what the interpreter gives', async (t) => {
  const { programs, faults, text } = await run(1, FIXED)
  t.ok(programs > 0)
  t.equal(faults, 0, text)
})

const isContinuous = process.env['CI'] !== undefined
t.test('so do programs of a seed of the day', { skip: isContinuous ? false : 'only in CI' }, async (t) => {
  const { faults, text } = await run(Math.floor(Date.now() / 86_400_000) * 10_000, Infinity)
  t.equal(faults, 0, text)
})
