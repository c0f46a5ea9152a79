import { numbersIn, get } from './fields.js'
import { fuzzedKernels } from './frames.js'
import { candidate } from './generate.js'
import { roundOf } from './rounds.js'

/** `tsx test/hostile/frames/show.ts SEED ROUND`: what a round launches. */
const [seed, round] = process.argv.slice(2).map(Number) as [number, number]
const { kernel, random, levels, threads } = roundOf({ seed, kernels: process.argv[4]?.split(',') ?? fuzzedKernels() }, round)
const found = candidate(kernel, random)
console.log(kernel, { levels, threads })
if (found !== null) {
  const { layout, bytes, reach } = found
  for (const member of numbersIn(layout))
    console.log(
      `  ${member.name}: ${Array.from({ length: member.count }, (_, i) => String(get(bytes, member, i)))
        .join(' ')
        .replace(/( 0)+$/, ' 0')}`,
    )
  const view = new DataView(bytes.buffer)
  for (const { field, at, bytes: size, below } of reach)
    console.log(`  ${field}@${at}: ${size} bytes, ${below} below${at !== 8 && view.getBigInt64(at, true) === 0n ? ', absent' : ''}`)
}
