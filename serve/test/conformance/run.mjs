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
for (const { rule, outcome, reason } of results) {
  if (outcome !== 'passed') console.log(`${outcome}  ${rule.section}: ${rule.rule}\n          ${reason}`)
}
const count = (wanted) => results.filter(({ outcome }) => outcome === wanted).length
console.log(`${count('passed')} rules kept, ${count('failed')} not kept, ${count('skipped')} skipped`)
process.exitCode = count('failed') > 0 ? 1 : 0
