import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { fixturePath } from '../module/fixtures.js'
import { WEB_LIBRARY, withoutWeb } from '../support/web.js'

/** The parts of dist/web.js, where there is nothing of Node: what is loaded when. */

const options = { skip: withoutWeb }
const DIST = dirname(WEB_LIBRARY)

/** What a program did: its result, and the files of dist that it loaded. */
interface Done {
  readonly result: unknown
  readonly files: readonly string[]
}

/** Runs the body of a function of the library, `model(name)`, a model's URL, and `input(shape)`, with no modules that Node could load at once. */
function page(program: string): Done {
  const code = `
    import { Session } from 'node:inspector'
    import { readFileSync, writeSync } from 'node:fs'
    const session = new Session(), files = []
    session.connect()
    session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url))
    session.post('Debugger.enable')
    const { Buffer, process } = globalThis
    globalThis.fetch = async (url) => {
      files.push(String(url))
      const bytes = new Uint8Array(readFileSync(new URL(url)))
      return { ok: true, status: 200, url: String(url), headers: new Map(), arrayBuffer: async () => bytes.buffer }
    }
    const lib = await import(${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)})
    for (const name of ['Buffer', 'process', 'setImmediate']) delete globalThis[name]
    const model = (name) => ${JSON.stringify(pathToFileURL(fixturePath('')).href)} + name
    const input = (shape) => lib.tensor(new Float32Array(shape.reduce((a, b) => a * b)).fill(0.5), shape)
    const codeOf = async (call) => { try { await call() } catch ({ name, code, message }) { return { name, code, message } } }
    let result
    try { result = await (async () => { ${program} })() } catch (error) { result = { failed: String(error.stack) } }
    writeSync(1, JSON.stringify({ result, files }))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const { result, files } = JSON.parse(stdout) as { result: unknown; files: string[] }
  const prefix = pathToFileURL(`${DIST}/`).href
  return { result, files: files.filter((url) => url.startsWith(prefix)).map((url) => url.slice(prefix.length)) }
}

const gzipped = (files: readonly string[]): number =>
  files.reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length, 0)
const scripts = (files: readonly string[]): string[] => files.filter((name) => name.endsWith('.js'))

/** What has to be loaded before a first result, gzipped: code, and kernels. */
const KERNELS = 280_000
const BUDGETS: readonly (readonly [string, number, string])[] = [
  ['importing', 60_000, 'return 1'],
  ['MobileNetV2', 180_000, "return (await lib.loadModule(model('models/mobilenet_v2.ptl'))).forward(input([1, 3, 32, 32])).numel > 0"],
  [
    'a transformer',
    205_000,
    `const m = await lib.loadModule(model('models/vit.ptl'))
return m.forward(input([2, 3, 32, 32])).numel > 0`,
  ],
]
for (const [title, most, program] of BUDGETS) {
  t.test(`${title}: at most ${most / 1000} kB of JavaScript, gzipped, before the first result`, options, (t) => {
    const { result, files } = page(program)
    t.match(result, /^(1|true)$/)
    const bytes = gzipped(scripts(files))
    t.ok(bytes > 0 && bytes <= most, `${bytes} bytes: ${files.join(' ')}`)
    t.notOk(files.includes('web/compiler.js'), 'the compiler comes after it')
    const kernels = files.filter((name) => name.endsWith('.wasm'))
    t.strictSame(kernels, title === 'importing' ? [] : ['web/ptlite.wasm'], 'and the second file of kernels')
    t.ok(gzipped(kernels) <= KERNELS, `${gzipped(kernels)} bytes of kernels`)
    t.end()
  })
}

t.test('every operator and function works once all parts are there', options, (t) => {
  const { result } = page(`await lib.ready()
const x = input([4])
const [sum, spectrum] = ['aten::logsumexp', 'aten::fft_rfft'].map((name) => lib.callOperator(name, name.includes('fft') ? [x] : [x, [0]]).numel)
return [sum, spectrum, lib.melSpectrogram(input([1, 400]), { sampleRate: 16000 }).shape.length, lib.operators().length > 2000]`)
  t.strictSame(result, [1, 3, 3, true])
  t.end()
})

/** Operators, each with a call of it: what one alone needs. */
const ALONE: Readonly<Record<string, string>> = {
  'aten::conv2d': 'input([1, 2, 4, 4]), input([3, 2, 1, 1]), null, [1, 1], [0, 0], [1, 1], 1',
  'aten::linear': 'input([2, 4]), input([3, 4]), null',
  'aten::upsample_bilinear2d': 'input([1, 1, 4, 4]), [8, 8], false, null, null',
  'aten::cumsum': 'input([4]), 0, null',
  'aten::logcumsumexp': 'input([4]), 0',
  'aten::gelu': "input([4]), 'none'",
  'aten::linalg_cholesky': 'lib.tensor([1], [1, 1]), false',
  'aten::nonzero': 'input([4])',
}
for (const [name, args] of Object.entries(ALONE)) {
  t.test(`${name} works once it was asked for`, options, (t) => {
    const { result } = page(`await lib.ready({ for: ['${name}'] })
return lib.callOperator('${name}', [${args}]).numel > 0`)
    t.strictSame(result, true)
    t.end()
  })
}

t.test('kernels of the second file are waited for', options, (t) => {
  const { result, files } = page(`await lib.ready({ for: [] })
const early = await codeOf(() => lib.callOperator('aten::cumsum', [input([4]), 0, null]))
const before = files.some((name) => name.endsWith('-more.wasm'))
const text = lib.cpu.currentLevel()
await lib.ready({ for: ['aten::cumsum'] })
return { early, before, text, sums: [...lib.callOperator('aten::cumsum', [input([4]), 0, null]).data()] }`)
  t.match(result, {
    early: { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /await ready\(\{ for/ },
    before: false,
    text: /^(DEFAULT|RELAXED)$/,
    sums: [0.5, 1, 1.5, 2],
  })
  t.ok(files.includes('web/ptlite-more.wasm'))
  t.end()
})

t.test('what is called too early says what to wait for', options, (t) => {
  const { result } = page(`await lib.ready({ for: [] })
const early = await codeOf(() => lib.callOperator('aten::fft_rfft', [input([4])]))
await lib.ready({ for: ['aten::fft_rfft', 'melSpectrogram'] })
return { early, numel: lib.callOperator('aten::fft_rfft', [input([4])]).numel, sum: input([4]).sum().item(),
  unknown: await codeOf(() => lib.ready({ for: ['aten::nothing'] })), wrong: await codeOf(() => lib.ready({ for: 'aten::add' })) }`)
  t.match(result, {
    early: { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /await ready\(\{ for/ },
    numel: 3,
    sum: 2,
    unknown: { name: 'PtliteError', code: 'MISSING_OPERATOR' },
    wrong: { name: 'PtliteError', code: 'INVALID_ARGUMENT' },
  })
  t.end()
})

for (const name of ['models/tagger.ptl', 'models/mobilenet_v2.mobile.ptl', 'models/efficientnet.ptl', 'linear.ptl']) {
  t.test(`${name} is read with the parts that it needs`, options, (t) => {
    const { result } = page(`return (await lib.loadModule(model('${name}'))).methods.includes('forward')`)
    t.strictSame(result, true)
    t.end()
  })
}

t.test('a module that is loaded has all its members', options, (t) => {
  const { result } = page(`const m = await lib.loadModule(model('models/mobilenet_v2.ptl'))
const x = input([1, 3, 32, 32])
const results = [m.forward(x), await m.run('forward', [x]), m.call('forward', [x], { limits: { milliseconds: 60000 } })]
const early = await codeOf(() => m.forward(1))
const { methods, operators, inputs, outputs, extraFiles } = m
const parameters = m.parameters().size
m.dispose()
return { shapes: results.map(({ shape }) => shape.length), early, methods, operators: operators.length, inputs: inputs.length, outputs: outputs.length,
  extra: extraFiles.size, parameters, late: await codeOf(() => m.forward(x)) }`)
  t.match(result, {
    ...{ shapes: [2, 2, 2], methods: ['forward'], inputs: 1, outputs: 1, early: { code: 'INVALID_ARGUMENT' }, late: { code: 'DISPOSED' } },
    ...{ operators: Number, parameters: Number, extra: Number },
  })
  t.end()
})

t.test('the compiler is loaded while calls are interpreted', options, (t) => {
  const { result, files } = page(`const m = await lib.loadModule(model('models/mobilenet_v2.ptl'))
const x = input([1, 3, 32, 32])
m.forward(x)
const before = m.plans().length
await m.compile('forward', [x])
return { before, states: m.plans().map(({ state }) => state) }`)
  t.strictSame(result, { before: 0, states: ['plan'] })
  t.ok(files.includes('web/compiler.js'))
  t.end()
})

t.test('each part has a map to its sources', options, (t) => {
  for (const name of scripts(page('await lib.ready()').files)) t.ok(existsSync(join(DIST, `${name}.map`)), name)
  t.end()
})
