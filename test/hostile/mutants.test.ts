import t from 'tap'
import { fuzz } from './harness/fuzz.js'

/** Mutants per kind of file, 26,000 in all. */
const COUNTS = { files: 17_000, pt2: 3_000, pte: 3_000, ptlc: 3_000 } as const
const SEED = 20240607

for (const [target, count] of Object.entries(COUNTS)) {
  t.test(`${target}: every mutant runs or ends in a PtliteError`, { timeout: 600_000 }, async (t) => {
    const { mutants, outcomes, findings } = await fuzz({ target, seed: SEED, count, jobs: 1 })
    t.equal(mutants, count)
    for (const { fault, mask } of findings.values())
      t.fail(`${fault.kind} by mutant ${fault.index} of seed ${SEED}, changes ${mask.toString(2)}: ${fault.text}`, { base: fault.base })
    // mutators that only break files, or leave them as they are, would find nothing
    for (const outcome of ['ran', 'INVALID_FILE', 'UNSUPPORTED_FILE', 'INVALID_ARGUMENT'])
      t.ok((outcomes.get(outcome) ?? 0) > count / 500, `${outcome}: ${outcomes.get(outcome) ?? 0}`)
    t.comment(JSON.stringify(Object.fromEntries(outcomes)))
  })
}
