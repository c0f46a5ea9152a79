import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { makeApp, outputOf, root } from './app-folder.js'

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

t.test("files beside an archive of Electron, which shows them as the archive's", (t) => {
  // a folder stands in for the archive: what is unpacked is in the other one alone, as native code and threads see it
  const folder = t.testdir({ 'app.asar': { 'package.json': '{}' }, 'app.asar.unpacked': {} })
  const [packed, beside] = [join(folder, 'app.asar'), join(folder, 'app.asar.unpacked')]
  const library = 'node_modules/ptlite/dist/libptlite.so'
  const worker = 'node_modules/ptlite/dist/worker.cjs'
  const filter = (path: string): boolean => !/\.map$|\.cache$/.test(path)
  cpSync(join(root, 'dist'), join(packed, 'node_modules/ptlite/dist'), { recursive: true, filter })
  copyFileSync(join(root, 'package.json'), join(packed, 'node_modules/ptlite/package.json'))
  copyFileSync(join(root, 'test/deploy/app.mjs'), join(packed, 'app.mjs'))
  const app = join(packed, 'app.mjs')

  rmSync(join(packed, library))
  t.match(outputOf(app), /^NATIVE_LIBRARY: no kernel library at .*app\.asar\//)
  mkdirSync(join(beside, dirname(library)), { recursive: true })
  copyFileSync(join(root, 'dist/libptlite.so'), join(beside, library))
  t.equal(outputOf(app), '1x10 1x10\n')

  rmSync(join(packed, worker))
  t.match(outputOf(app), /^NATIVE_LIBRARY: no worker\.cjs in .*app\.asar\//)
  cpSync(join(root, 'dist'), dirname(join(beside, worker)), { recursive: true, filter: (path) => filter(path) && !path.endsWith('.so') })
  t.equal(outputOf(app), '1x10 1x10\n')
  t.end()
})
