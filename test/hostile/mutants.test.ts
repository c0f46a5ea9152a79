import t, { type Test } from 'tap'
import { notInCi, SEED_OF_DAY, SHARE } from '../support/day.js'
import { fuzz, type FuzzOptions, type FuzzReport } from './harness/fuzz.js'

/** Mutants per kind of file that are the same in every run. */
const COUNTS = { files: 1_500, pt2: 500, pte: 500, ptlc: 500 } as const
const SEED = 20240607

async function run(t: Test, options: FuzzOptions): Promise<FuzzReport> {
  const report = await fuzz({ ...options, jobs: 1 })
  for (const { fault, mask } of report.findings.values())
    t.fail(`${fault.kind} by mutant ${fault.index} of seed ${options.seed}, changes ${mask.toString(2)}: ${fault.text}`, {
      base: fault.base,
    })
  t.comment(JSON.stringify(Object.fromEntries(report.outcomes)))
  return report
}

for (const target of Object.keys(COUNTS) as (keyof typeof COUNTS)[]) {
  t.test(`${target}: every mutant runs or ends in a PtliteError`, { timeout: 600_000 }, async (t) => {
    const { mutants, outcomes } = await run(t, { target, seed: SEED, count: COUNTS[target] })
    t.equal(mutants, COUNTS[target])
    // mutators that only break files, or leave them as they are, would find nothing
    for (const outcome of ['ran', 'INVALID_FILE', 'UNSUPPORTED_FILE', 'INVALID_ARGUMENT'])
      t.ok((outcomes.get(outcome) ?? 0) > COUNTS[target] / 500, `${outcome}: ${outcomes.get(outcome) ?? 0}`)
  })

  t.test(`${target}: so do those of the day`, { skip: notInCi, timeout: 600_000 }, async (t) => {
    // a busy machine may come to few of them
    const { findings } = await run(t, { target, seed: SEED_OF_DAY, milliseconds: SHARE[target] })
    t.equal(findings.size, 0)
  })
}
