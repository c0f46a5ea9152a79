import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import * as native from '../../src/index.js'
import { topkTies } from '../backends/support/topk-ties.js'
import { fixturePath } from '../module/fixtures.js'
import { WEB_LIBRARY, webLibrary, withoutWeb } from '../support/web.js'

/** dist/web.js: the library over kernels of WebAssembly, in Node and where there is nothing of Node. */

const options = { skip: withoutWeb }

t.test('the parts import each other, and no modules of Node', options, (t) => {
  const folder = join(dirname(WEB_LIBRARY), 'web')
  const parts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  t.ok(parts.includes('tensors.js'))
  for (const file of [WEB_LIBRARY, ...parts.map((name) => join(folder, name))]) {
    const code = readFileSync(file, 'utf8')
    const imported = [...code.matchAll(/(?:\bfrom|\bimport\s*\(?)\s*"([.a-z@][^"\s,()=|;]*)"/g)].map(([, from]) => from!)
    t.strictSame(
      imported.filter((from) => !/^\.\/(web\/)?[a-z\d-]+\.js$|^\.\.\/web\.js$/.test(from)),
      [],
      file,
    )
    t.notMatch(code, /\brequire\(["']/)
  }
  const first = readFileSync(join(folder, 'tensors.js'), 'utf8')
  t.match(first, /new URL\("\.\/ptlite\.wasm",\s*import\.meta\.url\)/, 'bundlers find the kernels')
  t.match(first, /new Worker\(new URL\("\.\/thread\.js",\s*import\.meta\.url\)\s*,\s*\{\s*type:\s*"module",/, 'and the program of threads')
  t.end()
})

t.test('it has the names that the library has in Node', options, async (t) => {
  t.strictSame(
    Object.keys(await webLibrary()).sort(),
    [...Object.keys(native), 'WorkerModule', 'clearCache', 'codeReady', 'loadCached', 'loadInWorker', 'ready', 'setKernels'].sort(),
  )
})

interface Data {
  readonly dtype: 'float32' | 'int64'
  readonly shape: readonly number[]
  readonly data: string
}

function numbersOf({ dtype, data }: Data): Float32Array | BigInt64Array {
  const { buffer, byteOffset, length } = Buffer.from(data, 'base64')
  const bytes = buffer.slice(byteOffset, byteOffset + length)
  return dtype === 'int64' ? new BigInt64Array(bytes) : new Float32Array(bytes)
}

// other networks are in test/modes
for (const name of ['mobilenet_v2', 'tagger']) {
  t.test(`${name}, interpreted and compiled, from each source`, options, async (t) => {
    const web = await webLibrary()
    const { inputs } = JSON.parse(readFileSync(fixturePath(`models/${name}.json`), 'utf8')) as { readonly inputs: readonly Data[] }
    const file = fixturePath(`models/${name}.ptl`)
    const bytes = readFileSync(file)
    const sources = [file, pathToFileURL(file), new Uint8Array(bytes), new Blob([bytes]), new Response(bytes), new Blob([bytes]).stream()]
    const reference = await native.loadModule(file)
    const of = <T>(library: { Tensor: { fromStorage(data: Float32Array | BigInt64Array, options: object): T } }): T[] =>
      inputs.map((input) => library.Tensor.fromStorage(numbersOf(input), { dtype: input.dtype, shape: input.shape }))
    const expected = (reference.forward(...of<native.Tensor>(native as never)) as native.Tensor).data() as Float32Array
    for (const [i, source] of sources.entries()) {
      const module = await web.loadModule(source, { compile: i % 2 === 0 ? 'eager' : 'off' })
      const args = of<native.Tensor>(web as never)
      for (let call = 0; call < 3; call++) {
        const found = (module.forward(...args) as native.Tensor).data() as Float32Array
        t.equal(found.length, expected.length)
        const most = found.reduce((most, x, at) => Math.max(most, Math.abs(x - expected[at]!)), 0)
        const scale = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
        t.ok(most <= 2e-4 * scale, `source ${i}, call ${call}: within ${most / scale} of the native kernels`)
      }
      module.dispose()
    }
    reference.dispose()
  })
}

t.test('memory of what is disposed goes back', options, async (t) => {
  const web = await webLibrary()
  const file = fixturePath('models/resnet18.ptl')
  const round = async (): Promise<void> => {
    const module = await web.loadModule(file, { compile: 'eager' })
    const input = web.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
    for (let i = 0; i < 2; i++) (module.forward(input) as native.Tensor).dispose()
    input.dispose()
    module.dispose()
  }
  await round()
  const { live } = web.memoryStats()
  for (let i = 0; i < 20; i++) await round()
  t.ok(web.memoryStats().live <= live + 1e6, `${web.memoryStats().live} bytes after 20 more rounds, ${live} after the first`)
})

t.test('a deadline ends a kernel in its middle', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadModule(fixturePath('models/resnet18.ptl'))
  const input = web.tensor(new Float32Array(64 * 3 * 64 * 64), [64, 3, 64, 64])
  for (let i = 0; i < 3; i++)
    t.throws(() => module.call('forward', [input], { limits: { milliseconds: 5 } }), { name: 'PtliteError', code: 'LIMIT_EXCEEDED' })
  const one = web.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
  t.ok((module.forward(one) as native.Tensor).data().every(Number.isFinite), 'and kernels run after it')
})

t.test('run() and compile() fulfil', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadModule(fixturePath('models/resnet18.ptl'))
  const input = web.tensor(new Float32Array(3 * 32 * 32).fill(0.5), [1, 3, 32, 32])
  const expected = (module.forward(input) as native.Tensor).data()
  await module.compile('forward', [input])
  t.strictSame(((await module.run('forward', [input])) as native.Tensor).data().length, expected.length)
})

t.test('what there is not says so', options, async (t) => {
  const web = await webLibrary()
  web.tensor([1])
  t.throws(() => web.setKernels('elsewhere.wasm'), { code: 'NATIVE_LIBRARY', message: /loaded already/ })
  t.throws(() => web.custom.openLibrary('ops.so', 1, ''), { name: 'PtliteError', code: 'UNSUPPORTED_HOST' })
  await t.rejects(web.loadModule('/there/is/no.ptl'), { name: 'PtliteError', code: 'NOT_FOUND' })
})

/** Runs the library where a page would: nothing of Node, and kernels that come by fetch. */
const PAGE = `
  const { parentPort, workerData: { library, model, first } } = require('node:worker_threads')
  const { readFileSync } = require('node:fs')
  const asked = []
  globalThis.fetch = async (url) => {
    asked.push(String(url).split('/').pop())
    const found = String(url) === model || String(url).endsWith('.wasm')
    // Node's own Response needs what is deleted below
    const arrayBuffer = async () => new Uint8Array(readFileSync(new URL(url))).buffer
    return { ok: found, status: found ? 200 : 404, url: String(url), headers: new Map(), arrayBuffer }
  }
  delete globalThis.process
  delete globalThis.Buffer
  delete globalThis.setImmediate
  import(library).then(async (ptlite) => {
    const { tensor, ready, loadModule } = ptlite
    const said = {}
    try { tensor([1, 2]) } catch ({ name, code, message }) { said.early = { name, code, message } }
    if (first === 'ready') await ready()
    try { await loadModule('models/none.ptl') } catch ({ name, code, message }) { said.missing = { name, code, message } }
    const module = await loadModule(model)
    said.sum = ptlite.callOperator('aten::sum', [tensor([1, 2]), null]).data()[0]
    const input = tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
    for (let i = 0; i < 3; i++) said.numel = module.forward(input).numel
    said.ran = (await module.run('forward', [input])).numel
    said.asked = asked
    parentPort.postMessage(said)
  }).catch((error) => parentPort.postMessage({ error: String(error.stack) }))`

for (const first of ['ready', 'loadModule']) {
  t.test(`without anything of Node, ${first} first`, options, async (t) => {
    const worker = new Worker(PAGE, {
      eval: true,
      workerData: { library: pathToFileURL(WEB_LIBRARY).href, model: pathToFileURL(fixturePath('models/resnet18.ptl')).href, first },
      execArgv: [],
    })
    const said = await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    t.notOk((said as { error?: string }).error, 'nothing fails')
    t.match(said, {
      early: { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /await ready\(\)/ },
      missing: { name: 'PtliteError', code: 'NOT_FOUND', message: /404/ },
      sum: 3,
      numel: 10,
      ran: 10,
    })
    await worker.terminate()
  })
}

t.test('the file for relaxed SIMD, where the engine has it', options, (t) => {
  const program = `import(${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)}).then(({ cpu, callOperator, tensor }) => {
    const sum = callOperator('aten::matmul', [tensor([[1, 2], [3, 4]]), tensor([[5, 6], [7, 8]])])
    console.log(JSON.stringify([cpu.currentLevel(), cpu.report().levels.map((level) => level.inCpu), [...sum.data()]]))
  })`
  const [major] = process.versions.node.split('.').map(Number) as [number]
  // Node 20 compiles the products of bytes wrong with its first compiler
  const option = '--experimental-wasm-relaxed-simd'
  const flags = major < 22 ? [[], [option], [option, '--no-liftoff']] : [[]]
  for (const args of flags) {
    const [level, levels, product] = JSON.parse(execFileSync(process.execPath, [...args, '-e', program], { encoding: 'utf8' })) as [
      string,
      boolean[],
      number[],
    ]
    t.equal(level, major < 22 && args.length < 2 ? 'DEFAULT' : 'RELAXED')
    t.strictSame(levels, [true, level === 'RELAXED'])
    t.strictSame(product, [19, 22, 43, 50])
  }
  t.end()
})

t.test('operators that only the compiler writes can be waited for, like others', options, (t) => {
  const program = `import(${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)}).then(async ({ ready, callOperator, float, tensor }) => {
    const unknown = await ready({ for: ['ptlite::none'] }).catch((error) => error.code)
    await ready({ for: ['ptlite::linear'] })
    const sum = callOperator('ptlite::linear', [tensor([[1, 2]]), tensor([[3, 4]]), null, float(-Infinity), float(Infinity)])
    console.log(JSON.stringify([unknown, ...sum.data()]))
  })`
  t.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim(), '["MISSING_OPERATOR",11]')
  t.end()
})

t.test('topk takes those of equal elements that PyTorch takes', options, async (t) => {
  const web = await webLibrary()
  await web.ready()
  t.strictSame(topkTies(web as unknown as typeof native).wrong, [])
})
