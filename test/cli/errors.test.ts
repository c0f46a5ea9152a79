import { join } from 'node:path'
import t from 'tap'
import { ptlite } from './in-process.js'

t.test('under --json failures are JSON on stdout, and stay on stderr', async (t) => {
  const path = join(t.testdir({ 'bad.ptl': 'not a model' }), 'bad.ptl')
  for (const command of ['run', 'inspect', 'bench']) {
    const plain = await ptlite(command, path)
    const { status, stdout, stderr } = await ptlite(command, path, '--json')
    t.strictSame([status, stderr], [plain.status, plain.stderr], command)
    t.equal(plain.stdout, '')
    t.equal(status, 1)
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
    t.match(error, { code: 'INVALID_FILE', message: /bad\.ptl: expected a \.ptl/ })
  }
})

t.test('a wrong command line is one, too', async (t) => {
  const { status, stdout, stderr } = await ptlite('run', '--json')
  t.equal(status, 2)
  t.match(stderr, /usage: ptlite run/)
  t.strictSame(JSON.parse(stdout), { error: { code: 'USAGE', message: 'name a model file' } })
})

t.test('the version, by each of its names', async (t) => {
  const { stdout } = await ptlite('--version')
  for (const name of ['-v', '-V']) t.strictSame(await ptlite(name), { status: 0, stdout, stderr: '' })
})
