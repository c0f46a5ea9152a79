import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap, type SourceMapping, type SourceMapPayload } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { names } from '../../runtime/operators/table/generated/table.js'
import { partOf } from '../../scripts/parts/lazy-parts.js'
import { FIRST, PARTS } from '../../scripts/parts/parts.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'dist')
const skip = existsSync(join(dist, 'runtime.cjs')) && existsSync(join(dist, 'libptlite.so')) ? false : 'not built'

const sources = ['src', 'media', 'engine', 'interpreter', 'formats', 'program', 'compiler', 'runtime', 'selective-build/trace'].flatMap(
  (folder) =>
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

/** Files of the package that a program loads, which has `lib`; its last line prints nothing. */
function loadedBy(program: string): string[] {
  const code = `import { Session } from 'node:inspector'
const session = new Session(), urls = []
session.connect()
session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url))
session.post('Debugger.enable')
const lib = await import(${JSON.stringify(join(dist, 'index.js'))})
${program}
console.log(urls.join('\\n'))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.split('\n').flatMap((url) => (url.startsWith(`file://${dist}`) ? [basename(url)] : []))
}

function gzipped(files: readonly string[]): number {
  return files.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0)
}

const USUAL: readonly (readonly [string, number, string])[] = [
  ['importing the package', 60_000, ''],
  ['a first operator', 60_000, "lib.callOperator('aten::add.Tensor', [lib.tensor([1, 2]), lib.tensor([3, 4]), 1])"],
  [
    'loading and interpreting MobileNetV2',
    140_000,
    `const m = await lib.loadModule(${JSON.stringify(join(root, 'test/fixtures/models/mobilenet_v2.ptl'))})
m.forward(lib.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32]))`,
  ],
]
for (const [title, most, program] of USUAL) {
  t.test(`${title} loads at most ${most / 1000} kB of JavaScript, gzipped`, { skip }, (t) => {
    const files = loadedBy(program)
    const bytes = gzipped(files)
    t.ok(bytes > 0 && bytes <= most, `${bytes} bytes: ${files.join(' ')}; scripts/parts/parts.ts says which files belong together`)
    t.end()
  })
}

t.test('an operator loads the part that it is in, at its first call', { skip }, (t) => {
  const code = `import { callOperator, PtliteError } from './index.js'
const show = (e) => console.log(e instanceof PtliteError, e.name, e.constructor.name, e.code, e.message)
for (const [name, arg] of [['relu', null], ['upper', 'a']]) try { callOperator('aten::' + name, [arg]) } catch (e) { show(e) }`
  mkdirSync(join(root, 'build'), { recursive: true })
  // inside of the project, whose packages it finds there
  const folder = mkdtempSync(join(root, 'build/parts-'))
  try {
    for (const name of readdirSync(dist))
      if (/\.c?js$/.test(name) && !name.startsWith('texts')) cpSync(join(dist, name), join(folder, name))
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' })
    t.strictSame({ status, stderr }, { status: 0, stderr: '' })
    t.match(
      stdout,
      /^true PtliteError PtliteError INVALID_ARGUMENT aten::relu: .*\ntrue PtliteError PtliteError INTERNAL cannot load \.\/texts(-rare)?\.cjs of ptlite, [^]*; install it again/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
  t.end()
})

t.test('usual programs load nothing that is rarely needed, but powers and roots of numbers', { skip }, (t) => {
  mkdirSync(join(root, 'build'), { recursive: true })
  const folder = mkdtempSync(join(root, 'build/usual-'))
  const [input, compiled] = [join(folder, 'input.json'), join(folder, 'usual.ptlc')]
  writeFileSync(input, JSON.stringify([Array.from({ length: 3 }, () => Array.from({ length: 384 }, () => new Array<number>(384).fill(0)))]))
  try {
    const model = join(root, 'test/fixtures/models/mobilenet_v2.ptl')
    const made = spawnSync(process.execPath, [join(dist, 'cli.js'), 'compile', model, '--input', input, '-o', compiled], {
      encoding: 'utf8',
    })
    t.equal(made.status, 0, made.stderr)
    const files = loadedBy(`const { runUsualPrograms } = await import(${JSON.stringify(join(root, 'scripts/parts/usual-programs.mjs'))})
await runUsualPrograms(lib, ${JSON.stringify(compiled)})`)
    t.ok(files.includes('compiled-files.cjs'))
    t.strictSame(
      files.filter((name) => /-rare\.cjs$/.test(name)),
      ['values-rare.cjs'],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
  t.end()
})

t.test('each file has a map to its sources', { skip }, (t) => {
  for (const name of readdirSync(dist).filter((name) => /\.c?js$/.test(name) && !/^(?:index\.c?js|cli\.js|web\.js)$/.test(name))) {
    t.match(readFileSync(join(dist, name), 'utf8').slice(-100), `//# sourceMappingURL=${name}.map`, name)
    const { sources } = JSON.parse(readFileSync(join(dist, `${name}.map`), 'utf8')) as { sources: string[] }
    t.ok(
      sources.some((source) => existsSync(join(dist, source))),
      `${name}: ${sources.slice(0, 3).join(' ')}`,
    )
  }
  const [text, lost] = [readFileSync(join(dist, 'runtime.cjs'), 'utf8'), 'install it again']
  // lines are cut at a width, within texts too
  const before = text.slice(0, text.search(new RegExp([...lost].join('(?:\\\\\n)?')))).split('\n')
  const map = new SourceMap(JSON.parse(readFileSync(join(dist, 'runtime.cjs.map'), 'utf8')) as SourceMapPayload)
  const { originalSource, originalLine } = map.findEntry(before.length - 1, before.at(-1)!.length) as SourceMapping
  t.equal(originalSource, '../runtime/part.ts')
  const around = readFileSync(join(root, 'runtime/part.ts'), 'utf8').split('\n')
  t.match(around.slice(originalLine - 2, originalLine + 3).join('\n'), lost)
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

t.test('modules that give classes more are in them', { skip }, (t) => {
  const code = `import { loadModule, tensor } from ${JSON.stringify(join(dist, 'index.js'))}
const [x, m] = [tensor([1]), await loadModule(${JSON.stringify(join(root, 'examples/digits/digits.ptl'))})]
for (const one of [x, m]) one[Symbol.dispose]()
for (const use of [() => x.data(), () => m.forward(x)]) try { use() } catch (e) { console.log(e.code) }
console.log(typeof x.topk, typeof x.toJSON)`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  t.strictSame({ status, stderr, stdout }, { status: 0, stderr: '', stdout: 'DISPOSED\nDISPOSED\nfunction function\n' })
  t.end()
})

t.test('the tables of the parts are that of the library', { skip }, (t) => {
  const code = `import { operators } from ${JSON.stringify(join(dist, 'index.js'))}
console.log(operators().map(({ name, overload }) => overload === '' ? name : name + '.' + overload).join(' '))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', maxBuffer: 1e7 })
  t.strictSame({ status, stderr, stdout }, { status: 0, stderr: '', stdout: `${names}\n` })
  t.end()
})
