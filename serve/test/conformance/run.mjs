/**
 * Tries the rules of the Open Inference Protocol on a server:
 *   node run.mjs --url http://localhost:8000 [--grpc localhost:8001] [--model NAME] [--token TOKEN] [--changes] [--stateful]
 * `--changes` has the model unloaded and loaded again. The status is 1 where a rule is not kept.
 */
import { parseArgs } from 'node:util'
import { tryRules } from './suite.mjs'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    grpc: { type: 'string' },
    model: { type: 'string' },
    token: { type: 'string' },
    changes: { type: 'boolean' },
    stateful: { type: 'boolean' },
  },
})
if (values.url === undefined) {
  console.error('--url is missing: the address of the server, without v2')
  process.exit(2)
}
const results = await tryRules(values.url, values)
const of = (wanted) => results.filter(({ outcome }) => outcome === wanted)
for (const { rule, reason } of of('failed')) console.log(`not kept  ${rule.section}: ${rule.rule}\n          ${reason}`)
const reasons = new Map()
for (const { reason } of of('skipped')) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
for (const [reason, count] of reasons) console.log(`skipped   ${count} since ${reason}`)
console.log(`${of('passed').length} rules kept, ${of('failed').length} not kept, ${of('skipped').length} skipped`)
process.exitCode = of('failed').length > 0 ? 1 : 0
