import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { partOf } from '../../scripts/parts/lazy-parts.js'
import { FIRST, PARTS } from '../../scripts/parts/parts.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'dist')
const skip = existsSync(join(dist, 'runtime.cjs')) && existsSync(join(dist, 'libptlite.so')) ? false : 'not built'

const sources = ['src', 'compiler', 'runtime', 'selective-build/trace'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
)

t.test('parts need parts that there are, and each has files', (t) => {
  const names = PARTS.map(({ name }) => name)
  for (const { name, needs } of PARTS) {
    t.strictSame(
      needs.filter((other) => !names.includes(other)),
      [],
      name,
    )
    t.ok(
      sources.some((file) => partOf(file) === name),
      `${name} has files`,
    )
  }
  t.end()
})

t.test('native functions and the compiler are not in what importing loads', (t) => {
  const first = sources.filter((file) => partOf(file) === FIRST)
  t.ok(first.includes('src/index.ts'))
  t.strictSame(
    first.filter((file) => /^(compiler|runtime\/backends\/[^/]*\/)/.test(file)),
    [],
  )
  t.end()
})

/** A file of the package with all that it imports statically. */
function closure(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, from] of readFileSync(join(dist, name), 'utf8').matchAll(/\(["\']\.\/([\w-]+\.cjs)["\']\)/g)) closure(from!, found)
  return found
}

t.test('importing the package loads at most 80 kB of JavaScript, gzipped', { skip }, (t) => {
  const files = [...closure('index.js')]
  t.strictSame(files, ['index.js', 'index.cjs', 'runtime.cjs'])
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0)
  t.ok(bytes > 0 && bytes <= 80_000, `${bytes} bytes`)
  t.ok(closure('worker.cjs').has('runtime.cjs'), 'the background thread shares them')
  t.end()
})

t.test('an operator loads the part that it is in, at its first call', { skip }, (t) => {
  const code = `import { callOperator, PtliteError } from './index.js'
const show = (e) => console.log(e instanceof PtliteError, e.name, e.constructor.name, e.code, e.message)
for (const [name, arg] of [['relu', null], ['upper', 'a']]) try { callOperator('aten::' + name, [arg]) } catch (e) { show(e) }`
  mkdirSync(join(root, 'build'), { recursive: true })
  // inside of the project, whose packages it finds there
  const folder = mkdtempSync(join(root, 'build/parts-'))
  try {
    for (const name of readdirSync(dist)) if (/\.c?js$/.test(name) && name !== 'values.cjs') cpSync(join(dist, name), join(folder, name))
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' })
    t.strictSame({ status, stderr }, { status: 0, stderr: '' })
    t.match(
      stdout,
      /^true PtliteError PtliteError INVALID_ARGUMENT aten::relu: .*\ntrue PtliteError PtliteError INTERNAL cannot load \.\/values\.cjs of ptlite, [^]*; install it again/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
  t.end()
})

t.test('parts share classes and state', { skip }, (t) => {
  const code = `import * as esm from ${JSON.stringify(join(dist, 'index.js'))}
const x = esm.tensor(new Float32Array([1, 4]), [2])
const y = esm.callOperator('aten::sqrt', [x])
console.log(y instanceof esm.Tensor, y.constructor.name, [...y.data()].join())
console.log(esm.callOperator('aten::softmax.int', [esm.callOperator('aten::zeros_like', [x]), 0]).toArray().join())`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  t.strictSame({ status, stderr, stdout }, { status: 0, stderr: '', stdout: 'true Tensor 1,2\n0.5,0.5\n' })
  t.end()
})
