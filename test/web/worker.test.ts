import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type * as library from '../../web/index.js'
import { fixturePath } from '../module/fixtures.js'
import { WEB_LIBRARY, webLibrary, withoutWeb } from '../support/web.js'

/** Models in workers; Node's threads are workers here. */

const options = { skip: withoutWeb }
const file = fixturePath('models/resnet18.ptl')
const pixels = (): Float32Array => Float32Array.from({ length: 3 * 32 * 32 }, (_, i) => Math.sin(i))
const image = (web: typeof library): library.Tensor => web.tensor(pixels(), [1, 3, 32, 32])

t.test('from each source, with the results of a module here', options, async (t) => {
  const web = await webLibrary()
  const bytes = readFileSync(file)
  const here = await web.loadModule(file, { compile: 'off' })
  const expected = here.forward<library.Tensor>(image(web)).data()
  const sources = [
    file,
    pathToFileURL(file),
    new Uint8Array(bytes),
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    new Blob([bytes]),
  ]
  const pieces = [
    new Response(bytes, { headers: { 'content-length': String(bytes.length) } }),
    new Blob([bytes]).stream(),
    (async function* () {
      for (let at = 0; at < bytes.length; at += 10_000) yield await Promise.resolve(bytes.subarray(at, at + 10_000))
    })(),
  ]
  for (const [i, source] of [...sources, ...pieces].entries()) {
    const module = await web.loadInWorker(source as library.ModelSource, { compile: 'off' })
    t.strictSame(module.methods, here.methods)
    t.strictSame(module.operators, here.operators)
    t.strictSame([module.inputs, module.outputs], [here.inputs, here.outputs])
    const x = image(web)
    t.strictSame((await module.forward<library.Tensor>(x)).data(), expected, `source ${i}`)
    t.strictSame(x.data(), pixels(), 'what it was given is as before')
    module.dispose()
  }
})

t.test('plain data of a tensor go over', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadInWorker(file)
  const input = { dtype: 'float32', shape: [1, 3, 32, 32], buffer: pixels().buffer as ArrayBuffer } as const
  t.strictSame((await module.forward<library.Tensor>(input)).shape, [1, 10])
  t.equal(input.buffer.byteLength, 0)
  await t.rejects(module.forward(input), { name: 'PtliteError' }, 'and are empty afterwards')
  t.strictSame((await module.forward<library.Tensor>(image(web))).shape, [1, 10])
  await module.compile('forward', [image(web)])
  module.dispose()
})

t.test('structures, both ways', options, async (t) => {
  const web = await webLibrary()
  const calls: [string, string, () => library.Input[]][] = [
    ['keys', 'forward', () => [web.tensor([1, 2, 3])]],
    ['control', 'count_up', () => [web.int(3)]],
    ['control', 'forward', () => [3, null]],
    ['control', 'forward', () => [2, 'label']],
  ]
  for (const [name, method, args] of calls) {
    const path = fixturePath(`${name}.ptl`)
    const [here, module] = [await web.loadModule(path), await web.loadInWorker(path)]
    t.strictSame(plain(web, await module.run(method, args())), plain(web, here.call(method, args())), `${name}.${method}`)
    module.dispose()
  }
})

/** With the elements of tensors in place of these. */
function plain(web: typeof library, value: unknown): unknown {
  if (value instanceof web.Tensor) return { dtype: value.dtype, elements: value.toArray() }
  if (Array.isArray(value)) return value.map((item) => plain(web, item))
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key as unknown, plain(web, item)]))
  return value
}

t.test('errors, and what comes after them', options, async (t) => {
  const web = await webLibrary()
  await t.rejects(web.loadInWorker('/there/is/no.ptl'), { name: 'PtliteError', code: 'NOT_FOUND' })
  await t.rejects(web.loadInWorker(new Uint8Array(100)), { name: 'PtliteError', code: 'INVALID_FILE' })
  await t.rejects(web.loadInWorker(new Response('', { status: 404 })), { code: 'NOT_FOUND', message: /404/ })
  await t.rejects(web.loadInWorker(file, { compiled: true } as library.LoadOptions), {
    code: 'INVALID_ARGUMENT',
    message: /loadInWorker\(\) takes no option/,
  })
  await t.rejects(web.loadInWorker(3 as unknown as string), { code: 'INVALID_ARGUMENT' })
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('network error')) })
  await t.rejects(web.loadInWorker(broken), { code: 'INVALID_FILE', message: /network error/ })
  const module = await web.loadInWorker(file)
  await t.rejects(module.run('encode'), { name: 'PtliteError', code: 'UNKNOWN_METHOD' })
  await t.rejects(module.forward(3), { code: 'INVALID_ARGUMENT', message: /expected Tensor, found int/ })
  await t.rejects(module.forward((() => undefined) as never), { code: 'INVALID_ARGUMENT', message: /cannot leave its thread/ })
  await t.rejects(module.run('forward', [image(web)], { limits: { milliseconds: 0.001 } }), { code: 'LIMIT_EXCEEDED' })
  t.strictSame((await module.forward<library.Tensor>(image(web))).shape, [1, 10], 'calls go on')
  module.dispose()
  await t.rejects(module.forward(image(web)), { code: 'DISPOSED' })
  const limited = await web.loadInWorker(file, { limits: { milliseconds: 0.001 } }).catch((error: unknown) => error as library.PtliteError)
  if (limited instanceof web.PtliteError) t.equal(limited.code, 'LIMIT_EXCEEDED')
  else await t.rejects(limited.forward(image(web)), { code: 'LIMIT_EXCEEDED' })
})

t.test('calls wait for each other, and can be given up', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadInWorker(file)
  const order: number[] = []
  const large = (): library.Tensor => web.tensor(new Float32Array(32 * 3 * 64 * 64), [32, 3, 64, 64])
  const reason = new Error('never mind')
  const [running, waiting] = [new AbortController(), new AbortController()]
  const first = module.run('forward', [large()], { signal: running.signal })
  const second = module.run('forward', [large()], { signal: waiting.signal })
  const others = [0, 1, 2].map((i) => module.forward(image(web)).then(() => order.push(i)))
  waiting.abort(reason)
  const aborted = { name: 'PtliteError', code: 'ABORTED', cause: reason }
  await t.rejects(second, aborted)
  running.abort(reason)
  await t.rejects(first, aborted)
  await Promise.all(others)
  t.strictSame(order, [0, 1, 2])
  await t.rejects(module.run('forward', [image(web)], { signal: waiting.signal }), aborted, 'before it began')
  const pending = module.forward(large())
  module.dispose()
  await t.rejects(pending, { name: 'PtliteError', code: 'DISPOSED' })
  const early = new AbortController()
  const load = web.loadInWorker(new ReadableStream({ pull: () => new Promise<void>(() => undefined) }), { signal: early.signal })
  setTimeout(() => early.abort(reason), 50)
  await t.rejects(load, aborted)
})

t.test('a compiled call that is given up is ended', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadInWorker(file, { compile: 'eager' })
  const large = (): library.Tensor => web.tensor(new Float32Array(768 * 3 * 64 * 64), [768, 3, 64, 64])
  const time = async (call: () => Promise<unknown>): Promise<number> => {
    const begin = performance.now()
    await call()
    return performance.now() - begin
  }
  await module.forward(image(web))
  await module.compile('forward', [large()])
  await module.forward(large())
  const whole = await time(() => module.forward(large()))
  const after = await time(async () => {
    const controller = new AbortController()
    const call = module.run('forward', [large()], { signal: controller.signal })
    setTimeout(() => controller.abort(), whole / 10)
    await t.rejects(call, { code: 'ABORTED', cause: { name: 'AbortError' } })
    t.strictSame((await module.forward<library.Tensor>(image(web))).shape, [1, 10])
  })
  t.ok(after < 0.6 * whole, `the next one is answered after ${after} ms; a whole one takes ${whole}`)
  module.dispose()
})

t.test('a worker that ends rejects what waits', options, async (t) => {
  const web = await webLibrary()
  const threads = process.getBuiltinModule('worker_threads') as unknown as { Worker: unknown }
  const get = process.getBuiltinModule.bind(process)
  const real = threads.Worker as new (...args: unknown[]) => { terminate(): Promise<unknown> }
  let worker: { terminate(): Promise<unknown> } | undefined
  const Watched = new Proxy(real, { construct: (of, args: unknown[]) => (worker = new of(...args)) })
  process.getBuiltinModule = ((name: string) => (name === 'worker_threads' ? { Worker: Watched } : get(name as 'fs'))) as never
  const module = await web.loadInWorker(file)
  process.getBuiltinModule = get as never
  const pending = [module.forward(image(web)), module.forward(image(web))]
  await worker!.terminate()
  const gone = { name: 'PtliteError', code: 'INTERNAL', message: /worker of the model is gone/ }
  await Promise.all(pending.map((call) => t.rejects(call, gone)))
  await t.rejects(module.forward(image(web)), { code: 'INTERNAL', message: /load the model again/ })
})

t.test('kernels are those that setKernels names, and nothing keeps Node running', options, (t) => {
  const program = (kernels: string): string => `
    const web = await import(${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)})
    web.setKernels(${kernels})
    const module = await web.loadInWorker(${JSON.stringify(file)})
    const input = { dtype: 'float32', shape: [1, 3, 32, 32], buffer: new Float32Array(3072).buffer }
    console.log((await module.forward(input)).shape.join())`
  const run = (kernels: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', program(kernels)], {
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const kernels = pathToFileURL(WEB_LIBRARY.replace(/web\.js$/, 'web/ptlite.wasm')).href
  t.equal(run(JSON.stringify(kernels)), '1,10\n')
  t.equal(run(`{ DEFAULT: new URL(${JSON.stringify(kernels)}) }`), '1,10\n')
  t.throws(() => run('"file:///there/is/no.wasm"'), /NATIVE_LIBRARY/)
  t.throws(() => run('new Response("")'), /give setKernels their URL/)
  t.end()
})
