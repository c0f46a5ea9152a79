// count-tap.mjs FILE: prints "passed failed skipped" of a TAP stream, counting the assertions at the bottom of each subtest,
// and those that were counted in place of printed.
import { readFileSync } from 'node:fs'

const lines = readFileSync(process.argv[2], 'utf8').split('\n')
const depthOf = (line) => /^ */.exec(line)[0].length
let passed = 0
let failed = 0
let skipped = 0
let below = -1
for (const line of lines) {
  passed += Number(/^ *# (\d+) more assertions held$/.exec(line)?.[1] ?? 0)
  const found = /^ *(not )?ok\b/.exec(line)
  if (found === null) continue
  const depth = depthOf(line)
  // the line that closes a subtest follows deeper ones and repeats their outcome
  const closes = below > depth
  below = depth
  if (/# (SKIP|TODO)\b/i.test(line)) skipped++
  else if (found[1] !== undefined) failed += closes ? 0 : 1
  else if (!closes) passed++
}
console.log(passed, failed, skipped)
