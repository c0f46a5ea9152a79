import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import t from 'tap'
import { cpu, loadModule, PtliteError } from '../../src/index.js'
import { checkSmaller } from '../../selective-build/build/build.js'
import { selectiveBuild } from '../../src/cli/selective-build.js'
import type * as selectedTypes from '../../src/selected.js'
import { p, pickle } from '../module/pickle-writer.js'
import { zip } from '../module/zip-writer.js'
import { nodeArguments } from '../support/node.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const fixture = (name: string): string => join(root, 'test/selective-build/fixtures', name)
const folder = t.testdir({})
const out = join(folder, 'selected')
const trace = join(folder, 'model.trace')
const isa = cpu.highestCpuLevel().startsWith('AVX') || cpu.highestCpuLevel() === 'AMX' ? 'avx2' : 'default'

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const node = script.endsWith('.ts') ? nodeArguments(join(root, script)) : [join(root, script)]
  return spawnSync(process.execPath, [...node, ...args], { encoding: 'utf8', cwd: root })
}

const build = (...args: string[]): ReturnType<typeof run> => run('src/cli/selective-build-main.ts', ...args, '--isa', isa)

const runtimes = new Map<string, Promise<typeof selectedTypes>>()
const selected = (where = out): Promise<typeof selectedTypes> => {
  const load = async (): Promise<typeof selectedTypes> => {
    const module = (await import(pathToFileURL(join(where, 'index.js')).href)) as typeof selectedTypes
    module.setNativeLibrary(join(where, 'libptlite.so'))
    return module
  }
  const runtime = runtimes.get(where) ?? load()
  runtimes.set(where, runtime)
  return runtime
}

/** Names and contents of a zip file, by its central directory. */
function* unzip(file: Buffer): Generator<[string, Buffer]> {
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  let at = file.readUInt32LE(end + 16)
  for (let left = file.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = file.readUInt16LE(at + 28)
    const local = file.readUInt32LE(at + 42)
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
    const bytes = file.subarray(start, start + file.readUInt32LE(at + 20))
    yield [file.toString('utf8', at + 46, at + 46 + nameLength), file.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes)]
    at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32)
  }
}

t.test('trace, build and compare', (t) => {
  const traced = run('src/cli/main.ts', 'trace', fixture('add_relu.ptl'), '--input', join(root, 'examples/embed/input.json'), '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  t.match(traced.stdout, /7 of 7 instructions ran \(100\.0 %\)/)
  const built = build('--trace', trace, '--out', out)
  t.equal(built.status, 0, built.stderr)
  t.match(built.stdout, /1 runs give the same bits as the whole runtime/)
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as {
    native: { before: number; after: number }
    javascript: { before: number; after: number; gzipped: { after: number } }
    total: { before: number; after: number }
    kernels: Record<string, { after: number }>
  }
  t.ok(report.native.after <= 42_000, `kernel library: ${report.native.after} bytes`)
  t.ok(report.javascript.gzipped.after <= 42_000, `JavaScript: ${report.javascript.gzipped.after} bytes`)
  t.ok(5 * report.total.after < report.total.before, 'at least five times smaller')
  t.ok(report.kernels['activation']!.after > 0)
  t.match(readFileSync(join(out, 'report.svg'), 'utf8'), /^<svg .*<rect /s)
  t.end()
})

t.test('what the build lacks', async (t) => {
  const ptlite = await selected()
  const module = await ptlite.loadModule(fixture('add_relu.ptl'))
  const x = ptlite.tensor([1, -2, 3])
  t.strictSame((module.forward(x, x) as InstanceType<typeof ptlite.Tensor>).toArray(), [2, 0, 6])
  t.strictSame(x.add(x).toArray(), [2, -4, 6])
  t.throws(() => x.sum(), { code: 'MISSING_OPERATOR', message: /aten::sum.*--trace more\.trace/s })
  t.strictSame(x.relu().toArray(), [1, 0, 3])
  t.throws(() => x.clamp(0), { code: 'MISSING_OPERATOR', message: /aten::clamp.*--trace more\.trace/s })
  t.throws(() => x.add(1), { code: 'MISSING_OPERATOR', message: /aten::add\.Scalar.*--trace more\.trace/s })
  t.throws(() => x.at(0), { code: 'MISSING_OPERATOR', message: /aten::select\.int/ })
  t.match(ptlite.tensor([1, 2]).detach(), { dtype: 'float32', shape: [2] })
  t.match(JSON.stringify(x), /"dtype":"float32","shape":\[3\]/)
  const double = ptlite.tensor([1, 2], [2], 'float64')
  t.throws(() => module.forward(double, double), { code: 'UNSUPPORTED_DTYPE', message: /selective-build --trace .* --trace more\.trace/s })
  const extend = /is not in this build.*--trace more\.trace/s
  t.throws(() => module.forward(x, ptlite.tensor([1, 2, 3], [3], 'int64')), { code: 'UNSUPPORTED_DTYPE', message: extend })
  t.throws(() => module.forward(x, 1), { code: 'INVALID_ARGUMENT', message: /argument 2 \(.+\): expected Tensor, found int/ })
  const column = ptlite.tensor([[10], [20]])
  t.strictSame((module.forward(column, x) as InstanceType<typeof ptlite.Tensor>).toArray(), [[11, 8, 13], [21, 18, 23]]) // prettier-ignore
  t.throws(() => ptlite.tensor(new Uint16Array([1]), [1], 'float16').item(), { code: 'UNSUPPORTED_DTYPE', message: extend })
  await t.rejects(module.run('forward', [x, x]), { code: 'INVALID_ARGUMENT', message: /background thread is not in this build/ })
  await t.rejects(module.compile('forward', [x, x]), { code: 'INVALID_ARGUMENT', message: /compiler is not in this build/ })
  t.strictSame(module.plans(), [])
  await t.rejects(ptlite.loadModule(fixture('branches.ptl')), { code: 'MISSING_OPERATOR', message: /aten::sigmoid.*--trace more\.trace/s })
  const tanh = modelOf((name, data) => (name.endsWith('/bytecode.pkl') ? Buffer.from(data.toString('latin1').replaceAll('aten::relu', 'aten::tanh'), 'latin1') : data)) // prettier-ignore
  await t.rejects(ptlite.loadModule(tanh), { code: 'MISSING_OPERATOR', message: /aten::tanh.*--trace more\.trace/s })
  await t.rejects(ptlite.loadModule(join(root, 'test/fixtures/linear.ff')), {
    code: 'UNSUPPORTED_FILE',
    message: /reader of \.ff files is not in this build/,
  })
  await t.rejects(ptlite.loadModule(join(root, 'test/fixtures/torchscript.pt')), {
    code: 'UNSUPPORTED_FILE',
    message: /reader of \.pt files is not in this build/,
  })
})

/** The traced model with other records. */
function modelOf(recordOf: (name: string, data: Buffer) => Uint8Array): Uint8Array {
  return zip(
    [...unzip(readFileSync(fixture('add_relu.ptl')))].map(([name, data]) => ({ name, data: Uint8Array.from(recordOf(name, data)) })),
  )
}

/** The traced model with another state. */
const modelWith = (state: Uint8Array): Uint8Array => modelOf((name, data) => (name.endsWith('/data.pkl') ? state : data))

const stateOf = (...attributes: number[][]): Uint8Array =>
  pickle(p.global('__torch__', 'AddRelu'), p.emptyTuple, p.newObject, p.emptyDict, p.mark, ...attributes, p.setItems, p.build)

t.test('other models than the traced one', async (t) => {
  const ptlite = await selected()
  const x = ptlite.tensor([1, -2, 3])
  const alike = await ptlite.loadModule(
    modelWith(stateOf(p.text('training'), p.true, p.text('other'), p.none, p.text('name'), p.text('a'))),
  )
  t.strictSame((alike.forward(x, x) as InstanceType<typeof ptlite.Tensor>).toArray(), [2, 0, 6])
  t.equal(alike.getAttribute('name'), 'a')
  t.strictSame([...alike.parameters().keys()], [])
  t.throws(() => alike.getAttribute('none'), { code: 'UNKNOWN_ATTRIBUTE' })
  alike.dispose()
  t.throws(() => alike.forward(x, x), { code: 'DISPOSED' })
})

t.test('other shapes than the traced ones', async (t) => {
  const ptlite = await selected()
  const module = await ptlite.loadModule(fixture('add_relu.ptl'))
  const arrayOf = (value: unknown): unknown => (value as InstanceType<typeof ptlite.Tensor>).toArray()
  const column = ptlite.tensor([[1], [-5]])
  t.strictSame(arrayOf(module.forward(column, ptlite.tensor([1, 2, 3]))), [[2, 3, 4], [0, 0, 0]]) // prettier-ignore
  t.strictSame(arrayOf(module.forward(ptlite.tensor([[[2]]]), column)), [[[3], [0]]])
  t.strictSame(arrayOf(module.forward(ptlite.tensor([], [0, 3]), ptlite.tensor([1, 2, 3]))), [])
  t.strictSame(arrayOf(module.forward(ptlite.Tensor.fromStorage(new Float32Array([1, 2, 3, 4]), { shape: [2, 2], strides: [1, 2], dtype: 'float32' }), ptlite.tensor(1))), [[2, 4], [3, 5]]) // prettier-ignore
  t.throws(() => module.forward(ptlite.tensor([1, 2]), ptlite.tensor([1, 2, 3])), { code: 'INVALID_ARGUMENT', message: /Traceback/ })
})

t.test('damaged files are refused as by the whole library', async (t) => {
  const ptlite = await selected()
  const codeOf = async (
    load: () => Promise<{ dispose(): void }>,
    error: new (...args: never[]) => { code: string; message: string },
  ): Promise<string> => {
    try {
      ;(await load()).dispose()
      return 'loads'
    } catch (caught) {
      if (!(caught instanceof error)) throw caught
      return /is not in this build/.test(caught.message) ? 'missing' : caught.code
    }
  }
  const whole = Uint8Array.from(readFileSync(fixture('add_relu.ptl')))
  const found = new Map<string, number>()
  for (let at = 0; at < whole.length; at += 3) {
    const bytes = whole.slice()
    bytes[at]! ^= 1 << (at % 8)
    const [expected, code] = [
      await codeOf(() => loadModule(bytes), PtliteError),
      await codeOf(() => ptlite.loadModule(bytes), ptlite.PtliteError),
    ]
    // what a zip is that is no model, builds do not look into
    const isAlike = code === expected || code === 'missing' || (code === 'UNSUPPORTED_FILE' && expected === 'INVALID_FILE')
    if (!isAlike) t.equal(code, expected, `byte ${at}`)
    found.set(code, (found.get(code) ?? 0) + 1)
  }
  t.ok((found.get('INVALID_FILE') ?? 0) > 5 * (found.get('missing') ?? 0), JSON.stringify([...found]))
})

t.test('an app of one file', (t) => {
  const app = join(folder, 'app.mjs')
  const bundled = run('examples/embed/bundle.mjs', out, app)
  t.equal(bundled.status, 0, bundled.stderr)
  const model = join(root, 'examples/embed/model.ptl')
  const library = join(out, 'libptlite.so')
  const start = (args: string[], env: Record<string, string>): ReturnType<typeof run> =>
    spawnSync(process.execPath, [app, ...args, model], { encoding: 'utf8', env: { ...process.env, ...env } })
  t.equal(start(['--library', library], {}).stdout, '[1.5,0,3.5]\n', 'library by option')
  t.equal(start([], { PTLITE_NATIVE_LIBRARY: library }).stdout, '[1.5,0,3.5]\n', 'library by environment')
  const neither = start([], { PTLITE_NATIVE_LIBRARY: '' })
  t.not(neither.status, 0)
  t.match(neither.stderr, /no kernel library at/)
  t.end()
})

t.test('a zip with a handler', async (t) => {
  const zip = join(folder, 'function.zip')
  const packed = run('examples/lambda/pack.mjs', out, zip)
  t.equal(packed.status, 0, packed.stderr)
  const unpacked = join(folder, 'function')
  for (const [name, bytes] of unzip(readFileSync(zip))) {
    mkdirSync(dirname(join(unpacked, name)), { recursive: true })
    writeFileSync(join(unpacked, name), bytes)
  }
  const { handler } = (await import(pathToFileURL(join(unpacked, 'handler.mjs')).href)) as {
    handler: (event: { x: number[]; y: number[] }) => Promise<{ result: number[] }>
  }
  t.strictSame(await handler({ x: [1, -2, 3], y: [0.5, 0.5, 0.5] }), { result: [1.5, 0, 3.5] })
})

t.test('wrong command lines', async (t) => {
  const cases: [string[], string | undefined, RegExp][] = [
    [['--out', out], undefined, /say what to build/],
    [['--trace', trace], undefined, /--out/],
    [['--trace', `${trace}.not`, '--out', out], 'INVALID_FILE', /cannot read/],
    [['--trace', trace, '--out', out, '--isa', 'avx3'], 'INVALID_ARGUMENT', /no level 'avx3'; expected default, avx2/],
    [['--trace', trace, '--out', out, '--sources', folder], 'INVALID_ARGUMENT', /lacks codegen\/native_functions.*clone the repository/],
  ]
  for (const [args, code, message] of cases) {
    await t.rejects(async () => selectiveBuild.run(args), code === undefined ? { message } : { code, message })
  }
})

t.test('a build that is larger than the whole library is an error', (t) => {
  t.throws(() => checkSmaller({ before: 100, after: 101 }), { code: 'INTERNAL', message: /101 bytes, more than the 100/ })
  for (const total of [{ before: 100, after: 100 }, { before: null, after: 1 }]) t.doesNotThrow(() => checkSmaller(total)) // prettier-ignore
  t.end()
})
