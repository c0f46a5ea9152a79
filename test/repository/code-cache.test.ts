import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'dist')
const skip = existsSync(join(dist, 'load.cjs')) && existsSync(join(dist, 'libptlite.so')) ? false : 'not built'

/** A copy of the package's JavaScript. */
function copyOfPackage(t: Test): string {
  mkdirSync(join(root, 'build'), { recursive: true })
  // inside of the project, whose packages it finds there
  const folder = mkdtempSync(join(root, 'build/code-cache-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of readdirSync(dist)) {
    // texts in one piece, which the build breaks where lines get long
    if (/\.c?js$/.test(name)) writeFileSync(join(folder, name), readFileSync(join(dist, name), 'utf8').replaceAll('\\\n', ''))
  }
  return folder
}

const PROGRAM = `import { callOperator } from './index.js'
try { callOperator('aten::relu', [null]) } catch ({ message }) { console.log(message) }`

const RESULT = "aten::relu: 'self' must be Tensor, found None\n"

function run(cwd: string, { env = {}, flags = [] }: { env?: NodeJS.ProcessEnv; flags?: string[] } = {}): string {
  const given = { ...process.env, NODE_V8_COVERAGE: '', ...env }
  const child = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', PROGRAM], { cwd, encoding: 'utf8', env: given })
  return child.status === 0 ? child.stdout + child.stderr : `${child.status}: ${child.stderr}`
}

/** Paths of the files with compiled code, below a folder. */
function kept(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => (/\.cjs-\d+$/.test(name) ? [join(folder, name)] : []))
}

t.test('a process keeps the code that it compiled, and the next one runs that', { skip }, (t) => {
  const folder = copyOfPackage(t)
  t.equal(run(folder), RESULT)
  const files = kept(join(folder, '.cache'))
  const parts = files.map((path) => /([a-z-]+)\.cjs-\d+$/.exec(path)![1]!)
  for (const part of ['tensors', 'operators']) t.ok(parts.includes(part), part)
  t.ok(
    files.every((path) => path.includes(`${process.version}-${process.arch}/`)),
    'for Node of this version and processor alone',
  )
  const times = files.map((path) => statSync(path).mtimeMs)
  const paths = parts.map((part) => join(folder, `${part}.cjs`)).filter((path) => readFileSync(path, 'utf8').includes('must be'))
  const { atime, mtime } = statSync(paths[0]!)
  for (const path of paths) {
    // of the same length, which is what V8 compares
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('must be', 'MUST BE'))
    utimesSync(path, atime, mtime)
  }
  t.equal(run(folder), RESULT, 'what runs is what was kept')
  t.strictSame(
    files.map((file) => statSync(file).mtimeMs),
    times,
    'and is not written again',
  )
  for (const path of paths) utimesSync(path, atime, new Date(mtime.getTime() + 2000))
  t.equal(run(folder), RESULT.replace('must be', 'MUST BE'), 'parts that were changed are compiled anew')
  t.equal(kept(join(folder, '.cache')).length, files.length + paths.length)
  t.equal(run(folder), RESULT.replace('must be', 'MUST BE'))
  t.end()
})

t.test('code that V8 refuses is compiled anew', { skip }, (t) => {
  const folder = copyOfPackage(t)
  t.equal(run(folder), RESULT)
  const files = kept(join(folder, '.cache'))
  t.equal(run(folder, { flags: ['--no-opt'] }), RESULT, 'of other flags')
  const others = kept(join(folder, '.cache')).filter((file) => !files.includes(file))
  t.equal(others.length, files.length, 'has a folder of its own')
  t.equal(run(folder, { flags: ['--no-opt'] }), RESULT)
  t.equal(kept(join(folder, '.cache')).length, 2 * files.length)
  for (const bytes of [Buffer.alloc(0), Buffer.from('nothing of V8'), readFileSync(files[0]!).subarray(0, 1000)]) {
    for (const file of files) writeFileSync(file, bytes)
    t.equal(run(folder), RESULT, `${bytes.length} bytes`)
  }
  t.end()
})

t.test('PTLITE_CODE_CACHE says where code is kept, if at all', { skip }, (t) => {
  const folder = copyOfPackage(t)
  t.equal(run(folder, { env: { PTLITE_CODE_CACHE: '0' } }), RESULT)
  t.equal(run(folder, { env: { NODE_V8_COVERAGE: join(folder, 'coverage') } }), RESULT)
  t.equal(run(folder, { env: { PTLITE_CODE_CACHE: join(folder, 'index.js/nowhere') } }), RESULT, 'a folder that there cannot be')
  t.equal(run(folder, { env: { PTLITE_CODE_CACHE: join(folder, 'elsewhere') } }), RESULT)
  t.ok(kept(join(folder, 'elsewhere')).length > 0)
  t.notOk(existsSync(join(folder, '.cache')))
  t.end()
})
