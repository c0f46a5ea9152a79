import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fixturePath } from '../module/fixtures.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'dist')
const skip = existsSync(join(dist, 'load.cjs')) && existsSync(join(dist, 'libptlite.so')) ? false : 'not built'

mkdirSync(join(root, 'build'), { recursive: true })
// inside of the project, whose packages it finds there
const folder = mkdtempSync(join(root, 'build/copies-'))
t.teardown(() => rmSync(folder, { recursive: true }))

/** What two copies, `a` and `b`, do with each other's objects; `show` prints a line for each. */
const EXCHANGE = `
const show = (name, f) => { try { console.log(name + ': ' + JSON.stringify(f())) } catch (e) { console.log(name + ': ' + (e instanceof b.PtliteError ? e.code + ' ' + e.message : e.stack)) } }
show('copies', () => a.Tensor !== b.Tensor && a.PtliteError !== b.PtliteError)
const x = a.tensor([[1, 2], [3, 4]])
show('tensor', () => b.callOperator('aten::add.Tensor', [x, x]).toArray())
show('strided', () => b.callOperator('aten::relu', [a.callOperator('aten::t', [x])]).toArray())
show('quantized', () => { const q = b.callOperator('aten::dequantize.self', [a.callOperator('aten::quantize_per_tensor', [x, 0.5, 3, 'quint8'])]); return q.toArray() })
show('list', () => b.callOperator('aten::cat', [[x, b.tensor([[5, 6]])], 0]).toArray())
show('float', () => b.callOperator('aten::add.Scalar', [b.tensor([1n]), a.float(2)]).dtype)
show('complex', () => String(b.callOperator('aten::add.complex', [a.complex(1, 2), b.complex(1, 1)])))
show('tuple', () => b.callOperator('prim::TupleIndex', [a.tuple(1, x), 1]).toArray())
show('written', () => b.callOperator('aten::add_.Tensor', [x, x]))
show('disposed', () => { const y = a.tensor([1]); y.dispose(); return b.callOperator('aten::neg', [y]) })
show('result', () => a.callOperator('aten::neg', [b.tensor([1])]) instanceof a.Tensor)
show('error', () => { try { a.tensor({}) } catch (e) { return [e instanceof b.PtliteError, e instanceof a.PtliteError] } })
class Own extends a.PtliteError {}
show('derived', () => [new Own('ABORTED', '') instanceof b.PtliteError, new a.PtliteError('ABORTED', '') instanceof Own, ({}) instanceof a.PtliteError, null instanceof a.PtliteError])
show('late part', () => a.callOperator('aten::linalg_inv', [a.tensor([[2, 0], [0, 2]])]) instanceof a.Tensor)
show('other late part', () => b.callOperator('aten::fft_fft', [b.tensor([1, 0])]) instanceof b.Tensor)
const load = async (lib, other) => {
  const m = await lib.loadModule(${JSON.stringify(fixturePath('compile.ptl'))})
  const args = [other.tensor([[1, 2, 3, 4]])]
  const values = [m.forward(...args), m.forward(...args), await m.run('forward', args)]
  return values.every((v) => v instanceof lib.Tensor) && JSON.stringify(values.map((v) => v.toArray()))
}
Promise.all([load(a, b), load(b, a)]).then(([one, two]) => console.log('models: ' + (one !== false && one === two)), (e) => console.log(e.stack))
`

const EXPECTED = [
  'copies: true',
  'tensor: [[2,4],[6,8]]',
  'strided: [[1,3],[2,4]]',
  'quantized: [[1,2],[3,4]]',
  'list: [[1,2],[3,4],[5,6]]',
  'float: "float32"',
  /^complex: ".*2.*3.*"$/,
  'tuple: [[1,2],[3,4]]',
  /^written: INVALID_ARGUMENT aten::add_.Tensor writes to 'self', which is of another copy of ptlite/,
  /^disposed: DISPOSED /,
  'result: true',
  'error: [true,true]',
  'derived: [true,false,false,false]',
  'late part: true',
  'other late part: true',
  'models: true',
]

function linesOf(file: string, program: string, env: Record<string, string> = {}): string[] {
  const path = join(folder, file)
  writeFileSync(path, program)
  const { stdout, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8', env: { ...process.env, ...env } })
  return (stdout + stderr).trim().split('\n')
}

const REGISTRY = `
const forget = () => { for (const file of Object.keys(require.cache)) if (file.startsWith(${JSON.stringify(dist)})) delete require.cache[file] }
const a = require(${JSON.stringify(join(dist, 'index.cjs'))})
forget()
const b = require(${JSON.stringify(join(dist, 'index.cjs'))})
forget()
`

t.test('a module registry that is emptied gives copies that know each other', { skip }, async (t) => {
  t.match(linesOf('registry.cjs', REGISTRY + EXCHANGE), EXPECTED)
  t.match(linesOf('registry.cjs', REGISTRY + EXCHANGE, { PTLITE_CODE_CACHE: '0' }), EXPECTED, 'without cached code')
})

t.test('copies in two folders, and the bundle for bundlers', { skip }, async (t) => {
  const other = join(folder, 'other')
  mkdirSync(other)
  for (const name of readdirSync(dist)) if (/\.(c?js|so)$/.test(name)) cpSync(join(dist, name), join(other, name))
  const two = `import * as a from './other/index.js'\nimport * as b from ${JSON.stringify(join(dist, 'index.js'))}\n`
  t.match(linesOf('two.mjs', two + EXCHANGE), EXPECTED)
  const whole = `import * as a from ${JSON.stringify(join(dist, 'whole.js'))}\nimport * as b from ${JSON.stringify(join(dist, 'index.js'))}\n`
  t.match(linesOf('whole.mjs', whole + EXCHANGE), EXPECTED)
  const same = `import { createRequire } from 'node:module'
import * as a from ${JSON.stringify(join(dist, 'index.js'))}
console.log(createRequire(import.meta.url)(${JSON.stringify(join(dist, 'index.cjs'))}).Tensor === a.Tensor)`
  t.strictSame(linesOf('same.mjs', same), ['true'], 'import and require give the same')
})

/** What Jest does: a context for a test file, a registry of modules in it that may be emptied, and Node's own modules and buffers from outside. */
const JEST = `
const { compileFunction, createContext, runInContext } = require('node:vm')
const { readFileSync } = require('node:fs')
const { dirname, resolve } = require('node:path')
const { createRequire } = require('node:module')
const context = createContext({ process, Buffer, console, performance, setTimeout, clearTimeout, setImmediate, AbortController, AbortSignal, TextEncoder, TextDecoder, URL, Uint8Array, ArrayBuffer, structuredClone, queueMicrotask })
context.global = context
let registry = new Map()
const requireFrom = (from) => (id) => {
  if (!id.startsWith('.') && !id.startsWith('/')) return createRequire(from)(id)
  const file = resolve(dirname(from), id)
  let module = registry.get(file)
  if (module === undefined) {
    registry.set(file, (module = { exports: {} }))
    const wrapper = compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], { filename: file, parsingContext: context })
    wrapper(module, module.exports, requireFrom(file), file, dirname(file))
  }
  return module.exports
}
const a = requireFrom(__filename)(${JSON.stringify(join(dist, 'index.cjs'))})
registry = new Map()
const b = requireFrom(__filename)(${JSON.stringify(join(dist, 'index.cjs'))})
registry = new Map()
`

t.test('contexts with registries of their own, as Jest has them', { skip }, async (t) => {
  t.match(linesOf('jest.cjs', JEST + EXCHANGE), EXPECTED)
  const values = `
const say = (f) => { try { console.log(JSON.stringify(f())) } catch (e) { console.log(e.stack) } }
const inside = (code) => runInContext(code, context)
for (const lib of [b, require(${JSON.stringify(join(dist, 'index.cjs'))})]) {
  say(() => lib.tensor(Buffer.from([1, 2]), [2]).dtype)
  for (const of of [inside, (code) => (0, eval)(code)]) {
    say(() => lib.tensor(of('new Float32Array([1, 2])')).toArray())
    say(() => lib.tensor(of('new Uint16Array([0x3c00])'), [1], 'float16').toArray())
    say(() => lib.Tensor.fromStorage(of('new Int32Array([1, 2])'), of('({ dtype: "int32", shape: [2] })')).toArray())
    say(() => lib.tensor(of('[[1, 2], [3, 4]]'), of('[4]')).toArray())
    say(() => lib.callOperator('aten::keys.str', [of('new Map([["k", 1]])')]))
    say(() => lib.callOperator('aten::cat', of('(t) => [[t, t], 0]')(lib.tensor([1]))).toArray())
    const list = of('[1, 2]')
    lib.callOperator('aten::append.t', [list, 3])
    say(() => list)
  }
}
const bytes = readFileSync(${JSON.stringify(fixturePath('compile.ptl'))})
const inner = new (inside('Uint8Array'))(bytes)
Promise.all([bytes, inner, inner.buffer].map((source) => b.loadModule(source))).then((all) => console.log(all.length), (e) => console.log(e.stack))
`
  const each = ['[1,2]', '[1]', '[1,2]', '[1,2,3,4]', '["k"]', '[1,1]', '[1,2,3]']
  t.strictSame(linesOf('values.cjs', JEST + values), [...Array.from({ length: 2 }, () => ['"uint8"', ...each, ...each]).flat(), '3'])
})
