import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// what generated code touches beyond its operands ends the process, and so does what AddressSanitizer finds in the code around it
await t.test('generators, chains, post-ops and block-sparse products with AddressSanitizer', (t) => {
  const script = fileURLToPath(new URL('asan/run.sh', import.meta.url))
  const { status, stdout, stderr } = spawnSync(script, { encoding: 'utf8' })
  t.equal(status, 0, `${stdout}${stderr.slice(-2000)}`)
  t.match(stdout, /all good/)
  t.end()
})
