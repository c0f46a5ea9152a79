import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fuzz, type FuzzReport } from './fuzz.js'

const FINDINGS = fileURLToPath(new URL('../../../build/findings/', import.meta.url))

/** `npm run fuzz -- TARGET [--minutes N | --count N] [--seed S] [--jobs J] [--guided]`. Sets the exit status: 1 where something was found. */
export async function fuzzCommand(target: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      count: { type: 'string' },
      seed: { type: 'string' },
      jobs: { type: 'string' },
      guided: { type: 'boolean', default: false },
    },
  })
  const start = Date.now()
  const seed = values.seed === undefined ? start % 2 ** 31 : Number(values.seed)
  const rate = ({ mutants }: FuzzReport): string => `${mutants} mutants, ${((1000 * mutants) / (Date.now() - start)).toFixed(0)} a second`
  let told = start
  console.log(`fuzzing ${target}, seed ${seed}`)
  const report = await fuzz({
    target,
    seed,
    guided: values.guided,
    findings: join(FINDINGS, target),
    ...(values.minutes === undefined ? {} : { milliseconds: 60_000 * Number(values.minutes) }),
    ...(values.count === undefined ? {} : { count: Number(values.count) }),
    ...(values.jobs === undefined ? {} : { jobs: Number(values.jobs) }),
    onProgress: (now) => {
      if (Date.now() - told < 10_000) return
      told = Date.now()
      console.log(`${rate(now)}, ${now.findings.size} findings`)
    },
  })
  console.log(rate(report))
  console.log(Object.fromEntries([...report.outcomes].sort((a, b) => b[1] - a[1])))
  if (report.blocks > 0) console.log(`${report.blocks} blocks of the readers reached, ${report.kept} mutants kept`)
  const [milliseconds, , slow] = report.slowest
  console.log(`the slowest took ${milliseconds} ms: number ${slow}`)
  for (const { fault, mask, times } of report.findings.values())
    console.log(
      `\n${fault.kind}, ${times} times; seed ${seed}, number ${fault.index}, changes ${mask.toString(2)}, of ${fault.base}\n${fault.text}`,
    )
  if (report.findings.size > 0) {
    console.log(`\nfiles of the findings: ${join(FINDINGS, target)}`)
    process.exitCode = 1
  }
}
