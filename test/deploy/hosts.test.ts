import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeApp, outputOf } from './app-folder.js'

t.test('the permission model of Node', (t) => {
  const app = makeApp(t.testdir({}))
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const allowed = [flag, '--no-warnings', '--allow-fs-read=*', '--allow-addons', '--allow-worker']
  t.equal(outputOf(app, ...allowed), '1x10 1x10\n')
  t.match(outputOf(app, ...allowed.filter((option) => option !== '--allow-addons')), /^(NATIVE_LIBRARY|UNSUPPORTED_HOST): .*--allow-addons/)
  t.match(outputOf(app, ...allowed.filter((option) => option !== '--allow-worker')), /^UNSUPPORTED_HOST: .*--allow-worker/)
  t.end()
})

t.test('worker threads, several of which use one library', (t) => {
  const folder = t.testdir({})
  makeApp(folder)
  const file = join(folder, 'threads.mjs')
  const program = `import { Worker } from 'node:worker_threads'
for (let i = 0; i < 3; i++) new Worker(new URL('app.mjs', import.meta.url), { argv: process.argv.slice(2) })`
  writeFileSync(file, program)
  t.equal(outputOf(file), '1x10 1x10\n'.repeat(3))
  t.end()
})
