import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { notInCi, SEED_OF_DAY, SHARE } from '../../support/day.js'
import { fuzz } from './parent.js'
import { runCall } from './run-call.js'
import type { CallSpec } from './spec.js'

/*
 * Whatever arguments an operator is called with, it gives tensors or a PtliteError, stays inside of its memory and changes nothing else.
 * `npm run fuzz -- operators --minutes 30 --from SEED` goes on from here.
 */

const CALLS = 10_000
/** Of the day, as many as there is time for. */
const CALLS_OF_DAY = Math.round(SHARE.operators * 1.25)

t.test('calls that went wrong once', (t) => {
  const lines = readFileSync(new URL('findings.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  for (const line of lines) {
    const { why, ...call } = JSON.parse(line) as CallSpec & { readonly why: string }
    const { fault } = runCall(call)
    t.equal(fault, undefined, `${call.op}: ${why}`)
  }
  t.end()
})

async function tryCalls(t: Test, from: number, calls: number): Promise<void> {
  const { counts, findings } = await fuzz(from, from + calls)
  const texts = findings.map(({ seed, kind, fault, call }) => `${kind} ${seed} ${call.op} ${fault}`)
  t.strictSame(texts, [], 'every call ends in a result or a PtliteError')
  const made = Object.values(counts).reduce((a, b) => a + b, 0)
  // of a child that is ended because a call takes long, the last counts are lost
  if (findings.length === 0 && counts['long'] === undefined) t.equal(made, calls)
  t.ok(counts['ok']! > 0.3 * made, `${counts['ok']} of ${made} calls succeed`)
  t.comment(JSON.stringify(counts))
}

t.test(`${CALLS} calls with made-up arguments`, (t) => tryCalls(t, 0, CALLS))
t.test('and those of the day', { skip: notInCi }, (t) => tryCalls(t, (SEED_OF_DAY % 1000) * 1e6, CALLS_OF_DAY))
