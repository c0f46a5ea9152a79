import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findLibrary } from '../../runtime/native/library-path.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'

const child = nodeArguments(fileURLToPath(new URL('library-child.ts', import.meta.url)))
const library = findLibrary()
const dist = fileURLToPath(new URL('../../dist', import.meta.url))

/** Lines that a program prints which calls an operator and loads a model. */
function linesOf(flags: readonly string[], env: Record<string, string> = {}, program: readonly string[] = child): string[] {
  // tap would load something of its own in it
  const clean = { NODE_OPTIONS: '', NODE_V8_COVERAGE: '', ...env }
  const words = [...Object.entries(clean).map(([name, value]) => `${name}=${value}`), process.execPath, ...flags, ...program]
  const result = spawnSync('env', [...words, fixturePath('compile.ptl')], { encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`${result.status} ${result.signal}: ${result.stderr}`)
  return result.stdout.trim().split('\n')
}

t.test('a kernel library that was cut off is refused, and does not end the process', async (t) => {
  const path = join(t.testdir({}), 'libptlite.so')
  const whole = readFileSync(library)
  for (const bytes of [64, 4096, 65_536, whole.length >> 1, whole.length - 1]) {
    writeFileSync(path, whole.subarray(0, bytes))
    for (const line of linesOf([], { PTLITE_NATIVE_LIBRARY: path }))
      t.match(line, new RegExp(`^NATIVE_LIBRARY: cannot load .*: the file was cut off: it has ${bytes} of ${whole.length} bytes`))
  }
  for (const other of ['', 'text', `\x7fELF${'\0'.repeat(20)}`]) {
    writeFileSync(path, other)
    t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: path })[0], /^NATIVE_LIBRARY: cannot load /)
  }
  t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: dist })[0], /^NATIVE_LIBRARY: cannot load .*EISDIR/)
})

t.test('without addons the error says what to start Node with', async (t) => {
  for (const line of linesOf(['--no-addons']))
    t.match(line, /^NATIVE_LIBRARY: cannot load koffi, .*loading addons is disabled.*; .* without --no-addons/)
})

t.test("under Node's permission model errors are PtliteErrors", async (t) => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const everything = [flag, '--allow-fs-read=*']
  for (const line of linesOf(everything)) t.match(line, /^NATIVE_LIBRARY: cannot load koffi, .*--allow-addons/)
  t.strictSame(linesOf([...everything, '--allow-addons']).length, 2)
  t.equal(linesOf([...everything, '--allow-addons'])[1], 'loaded')
})

t.test('without koffi the error says so', { skip: existsSync(join(dist, 'index.js')) ? false : 'not built' }, async (t) => {
  // outside of the project, whose packages it would find
  const folder = join('/tmp', `ptlite-no-koffi-${process.pid}`)
  t.teardown(() => spawnSync('rm', ['-r', folder]))
  mkdirSync(folder)
  for (const name of readdirSync(dist)) if (/\.c?js$/.test(name)) copyFileSync(join(dist, name), join(folder, name))
  copyFileSync(library, join(folder, 'libptlite.so'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const program = `import { callOperator, PtliteError } from './index.js'
try { callOperator('aten::neg', [1]) } catch (error) { console.log(error instanceof PtliteError, error.code) }
try { (await import('./index.js')).getNumThreads() } catch (error) { console.log(error instanceof PtliteError, error.code + ': ' + error.message) }`
  writeFileSync(join(folder, 'program.js'), program)
  const lines = linesOf([], {}, [join(folder, 'program.js')])
  t.match(
    lines[1],
    /^true NATIVE_LIBRARY: cannot load koffi, which calls the kernel library: Cannot find module 'koffi'; install the packages/,
  )
})
