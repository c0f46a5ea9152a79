import { parseArgs } from 'node:util'
import { fuzzedKernels, fuzzFrames } from './frames.js'

/** `npm run fuzz -- frames [--minutes N] [--seed N] [--kernels a,b]`: exits with 1 where a frame that passes the check does harm. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' }, kernels: { type: 'string' } },
})
const kernels = values.kernels?.split(',') ?? fuzzedKernels()
const { findings, launched, statuses } = await fuzzFrames({
  seed: Number(values.seed),
  rounds: 2 ** 50,
  milliseconds: Number(values.minutes) * 60_000,
  kernels,
  found: ({ kernel, seed, round, guard, level, what }) =>
    console.log(
      `${kernel}: ${what} (--seed ${seed}, round ${round}, PTLITE_GUARD=${guard}${level === '' ? '' : `, ATEN_CPU_CAPABILITY=${level}`})`,
    ),
})
console.log(`${Object.values(launched).reduce((a, b) => a + b, 0)} frames of ${Object.keys(launched).length} kernels:`, statuses)
const silent = kernels.filter((name) => launched[name] === undefined)
if (silent.length > 0) console.log(`no frame of ${silent.join(', ')} passed the check`)
process.exitCode = findings.length > 0 ? 1 : 0
