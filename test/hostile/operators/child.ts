import { openSync, writeSync } from 'node:fs'
import { useMemory } from '../../../runtime/native/memory.js'
import * as kernels from '../../../runtime/native/generated/kernels.js'
import { discardGuarded, takeGuarded } from '../../../runtime/native/guard.js'
import { PtliteError } from '../../../runtime/error.js'
import { setNumThreads } from '../../../src/index.js'
import { isEndless } from './endless.js'
import { callOf, operatorsLike } from './generate.js'
import { type Outcome, runCall } from './run-call.js'

/*
 * child.ts FILE FROM TO [OPERATORS]: makes the calls FROM, FROM + 1, ... below TO, of all operators or of those whose names match. Before each its
 * number is written to FILE, so that the parent knows which one crashed or hangs; findings and counts go to stdout.
 */

/** A tensor that is larger is refused as if the system had no more memory: the fuzzer shares its machine. */
const MAX_BYTES = 2 ** 26

const GUARDED = ![undefined, '', '0'].includes(process.env['PTLITE_GUARD'])

useMemory({
  take(bytes) {
    if (!(bytes <= MAX_BYTES)) throw new PtliteError('OUT_OF_MEMORY', `the fuzzer has no memory for ${bytes} bytes`)
    if (GUARDED) return takeGuarded(bytes)
    const host = Buffer.allocUnsafeSlow(bytes + 64)
    return { owner: host.buffer, address: kernels.mem_place({ bytes }, host) }
  },
  discard: GUARDED ? discardGuarded : kernels.mem_forget,
})
setNumThreads(1)

/** Without a look at each launch, what would take long is known by its arguments alone. */
const UNCHECKED = process.env['PTLITE_FUZZ_UNCHECKED'] !== undefined

const [path, from, to, only] = process.argv.slice(2)
const numbers = only === undefined ? undefined : operatorsLike(only)
const file = openSync(path!, 'w')
let counts: Record<string, number> = {}
/** Calls between two reports of counts: those after the last one are lost with a crash. */
const REPORTED = 200
const place = Buffer.alloc(8)
// what operators print is nothing to the parent
const print = (line: unknown): void => void writeSync(1, `\n\x1eptlite${JSON.stringify(line)}\n`)

for (let seed = Number(from); seed < Number(to); seed++) {
  place.writeDoubleLE(seed)
  writeSync(file, place, 0, 8, 0)
  const call = callOf(seed, numbers)
  const { kind, fault }: Outcome = UNCHECKED && isEndless(call.args) ? { kind: 'long' } : runCall(call, !UNCHECKED)
  counts[kind] = (counts[kind] ?? 0) + 1
  if (fault !== undefined) print({ seed, kind, fault, call })
  if ((seed + 1) % REPORTED === 0) {
    print({ counts })
    counts = {}
  }
}
print({ counts, done: true })
