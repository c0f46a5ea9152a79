import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Finding, fuzz } from './parent.js'

/*
 * npm run fuzz -- operators [--calls N | --minutes N] [--from SEED] [--only PATTERN] [--out FILE] [--jobs N]
 *
 * Calls all operators with made-up arguments. Findings are printed as they come, and appended to FILE; exits with 1 where there are some.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string' },
    minutes: { type: 'string' },
    from: { type: 'string', default: '0' },
    out: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '1' },
  },
})

/** Calls of one child: what is left behind by millions of them would count as growth. */
const BATCH = 20_000

const start = Date.now()
const isOver = (made: number): boolean =>
  values.minutes === undefined ? made >= Number(values.calls ?? 50_000) : Date.now() - start > 60_000 * Number(values.minutes)

const counts: Record<string, number> = {}
let findings = 0
const show = (finding: Finding): void => {
  findings++
  const { seed, kind, fault, call } = finding
  console.log(`${kind} ${seed} ${call.op} ${fault.split('\n').slice(0, 2).join(' ').slice(0, 300)}`)
  if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(finding)}\n`)
}

let made = 0
const from = Number(values.from)
async function lane(): Promise<void> {
  while (!isOver(made)) {
    const first = from + made
    const size = values.minutes === undefined ? Math.min(BATCH, Number(values.calls ?? 50_000) - made) : BATCH
    made += size
    const report = await fuzz(first, first + size, values.only, show)
    for (const [kind, n] of Object.entries(report.counts)) counts[kind] = (counts[kind] ?? 0) + n
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, lane))
console.log(
  `${made} calls from seed ${from} in ${Math.round((Date.now() - start) / 1000)} s, ${findings} findings: ${JSON.stringify(counts)}`,
)
process.exitCode = findings > 0 ? 1 : 0
