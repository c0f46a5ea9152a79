/** `npm run fuzz -- programs [--minutes N | --count N] [--seed S] [--family F] [--mode M] [--no-shrink] [--log FILE] [--export FILE]` */
import { parseArgs } from 'node:util'
import { FAMILY_NAMES } from './generator.js'
import { exportPrograms } from './export.js'
import { runPrograms } from './run.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    count: { type: 'string' },
    seed: { type: 'string' },
    family: { type: 'string' },
    mode: { type: 'string' },
    export: { type: 'string' },
    log: { type: 'string' },
    shrink: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const seed = values.seed === undefined ? Math.floor(Date.now() / 1000) % 2 ** 31 : Number(values.seed)
const families = values.family === undefined ? FAMILY_NAMES : values.family.split(',')
if (values.export === undefined) await run()
else await exportPrograms(families, seed, Number(values.count ?? 100), values.export)

async function run(): Promise<void> {
  const start = Date.now()
  const total = await runPrograms({
    families,
    seed,
    count: values.count === undefined ? Infinity : Number(values.count),
    milliseconds: values.minutes === undefined ? Infinity : 60_000 * Number(values.minutes),
    modes: values.mode ?? null,
    shrinks: values.shrink,
    log: values.log ?? null,
  })
  const { programs, calls, errors, refused, faults } = total
  console.log(
    `${programs} programs from seed ${seed} on, ${calls} calls, ${errors} of them errors in the interpreter; ${refused} programs refused; ` +
      `${faults} faults; ${((Date.now() - start) / Math.max(programs, 1)).toFixed(1)} ms each`,
  )
  if (faults > 0) process.exitCode = 1
}
