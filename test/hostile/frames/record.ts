import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { isCheckable } from '../../../compiler/frames/check-frame.js'
import { layoutOf } from '../../../compiler/capture/frame-layout.js'
import { frameBytes, observeLaunches } from '../../../runtime/native/frame.js'
import { compileAhead } from '../../../src/ahead.js'
import type { Tensor } from '../../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../../module/fixtures.js'
import { CASES } from '../../native/levels/cases.js'
import { Draw } from '../../native/levels/draw.js'
import { get, numbersIn } from './fields.js'
import type { Seed } from './seeds.js'

/**
 * `tsx test/hostile/frames/record.ts`: writes seeds.json.gz, frames that operators, models and their plans launch. They are where the random
 * frames of frames.ts start from.
 */

/** Frames of a kernel that are kept; they differ in dtypes, flags or which addresses they have. */
const MOST = 24

const seeds: Record<string, Map<string, Seed>> = {}

observeLaunches((id) => {
  const layout = layoutOf(id)
  if (!isCheckable(layout.name)) return
  const fields: Record<string, (number | string)[]> = {}
  for (const member of numbersIn(layout))
    fields[member.name] = Array.from({ length: member.count }, (_, i) => {
      const value = get(frameBytes, member, i)
      return Number.isFinite(Number(value)) ? Number(value) : String(value)
    })
  const view = new DataView(frameBytes.buffer)
  const absent = layout.pointers.filter((at) => view.getBigInt64(at, true) === 0n)
  const kind = JSON.stringify([
    absent,
    ...Object.entries(fields).map(([name, [first]]) =>
      /dtype|op$|mode|form|packed|taps|groups|ndim/.test(name) ? first : Number(first) > 1,
    ),
  ])
  const known = (seeds[layout.name] ??= new Map())
  if (known.size < MOST && !known.has(kind)) known.set(kind, { fields, absent })
})

for (const cases of Object.values(CASES)) for (const { run } of cases) for (const seed of [1, 2]) run(new Draw(seed))
for (const file of readdirSync(fixturePath('models')).filter((name) => name.endsWith('.json'))) {
  const golden = JSON.parse(readFileSync(fixturePath(`models/${file}`), 'utf8')) as Golden
  const inputs = golden.inputs.map((input) => inputOf(input) as Tensor)
  compileAhead(fixturePath(`models/${file.replace('.json', '.ptl')}`), () => [{ method: 'forward', args: inputs }])
}
observeLaunches(null)

const found = Object.fromEntries(
  Object.entries(seeds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kernel, known]) => [kernel, [...known.values()]]),
)
writeFileSync(new URL('seeds.json.gz', import.meta.url), gzipSync(JSON.stringify(found), { level: 9 }))
console.log(`${Object.keys(found).length} kernels, ${Object.values(found).flat().length} frames`)
