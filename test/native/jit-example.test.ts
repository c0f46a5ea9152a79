import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// builds the injector with AddressSanitizer and runs it in a generator that is not ours
await t.test('examples/jit-postops, with AddressSanitizer', (t) => {
  const script = fileURLToPath(new URL('../../examples/jit-postops/run.sh', import.meta.url))
  const { status, stdout, stderr } = spawnSync(script, ['-O0', '-fsanitize=address'], { encoding: 'utf8' })
  t.equal(status, 0, stderr.slice(-2000))
  t.match(stdout, /largest error|no code can be generated/)
  t.end()
})
