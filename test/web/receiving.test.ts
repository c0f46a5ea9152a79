import { readFileSync } from 'node:fs'
import t from 'tap'
import type * as library from '../../web/index.js'
import { fixturePath } from '../module/fixtures.js'
import { webLibrary, withoutWeb } from '../support/web.js'

/** Models that come in pieces lie in the kernels' memory as they come, and nowhere else. */

const options = { skip: withoutWeb }
const MB = 1 << 20

interface Kernels {
  readonly exports: { readonly memory: { readonly buffer: ArrayBuffer } }
}
const webAssembly = (globalThis as unknown as { WebAssembly: { instantiate(...args: unknown[]): Promise<Kernels> } }).WebAssembly

/** The library, and how large the kernels' memory is. */
async function start(): Promise<{ readonly web: typeof library; readonly memory: () => number }> {
  const { instantiate } = webAssembly
  let kernels: Kernels | undefined
  webAssembly.instantiate = async (...args) => {
    const instance = await instantiate.apply(webAssembly, args)
    // the second file of kernels has none of its own
    kernels ??= instance
    return instance
  }
  const web = await webLibrary()
  await web.ready()
  webAssembly.instantiate = instantiate
  return { web, memory: () => kernels!.exports.memory.buffer.byteLength }
}
const started = withoutWeb === false ? start() : undefined

const model = readFileSync(fixturePath('models/resnet18.ptl'))
const answer = (headers: Record<string, string>, body: ReadableStream | Uint8Array = new Uint8Array(model)): Response =>
  new Response(body, { headers })

/** A stream of pieces of 1 MB, the same one time and again; `at` is told the number of each. */
function pieces(count: number, at: (piece: number) => void | Promise<void> = () => undefined): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(MB)
  let next = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await at(next)
      if (next++ < count) controller.enqueue(piece)
      else controller.close()
    },
  })
}

async function result({ loadModule, Tensor }: typeof library, source: library.ModelSource): Promise<number[]> {
  const module = await loadModule(source)
  const output = module.forward<library.Tensor>(
    Tensor.fromStorage(new Float32Array(3 * 32 * 32).fill(0.5), { dtype: 'float32', shape: [1, 3, 32, 32] }),
  )
  const numbers = [...output.data()] as number[]
  module.dispose()
  return numbers
}

t.test('whatever is said of their size', options, async (t) => {
  const { web, memory } = await started!
  const expected = await result(web, new Uint8Array(model))
  const sizes: Record<string, Record<string, string>> = {
    right: { 'content-length': String(model.length) },
    none: {},
    'too small': { 'content-length': '17' },
    packed: { 'content-length': '17', 'content-encoding': 'br' },
    'no number': { 'content-length': '1e3' },
    negative: { 'content-length': '-1' },
  }
  for (const [name, headers] of Object.entries(sizes)) t.strictSame(await result(web, answer(headers)), expected, name)
  const before = memory()
  for (const length of [2 ** 40, 2 ** 32, 2 ** 53]) {
    // of another origin, where the length may be of what was packed on the way
    const response = Object.defineProperty(answer({ 'content-length': String(length) }), 'type', { value: 'cors' })
    t.strictSame(await result(web, response), expected, `${length} bytes that do not come`)
  }
  t.ok(memory() <= before + 4 * MB, `${memory()} bytes of memory, ${before} before`)
})

t.test('no second copy in JavaScript, and memory goes back', options, async (t) => {
  const { web, memory } = await started!
  const refused = async (): Promise<void> => {
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const body = pieces(64, () => void (most = Math.max(most, process.memoryUsage().arrayBuffers - before)))
    await t.rejects(web.loadModule(answer({ 'content-length': String(64 * MB) }, body)), { name: 'PtliteError', code: 'INVALID_FILE' })
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    t.ok(most < 16 * MB, `${most} bytes of JavaScript's for a file of 64 MB`)
  }
  await refused()
  const after = memory()
  for (let i = 0; i < 5; i++) await refused()
  t.equal(memory(), after, 'and what the first took serves the others')
})

t.test('memory that grows meanwhile', options, async (t) => {
  const { web, memory } = await started!
  const expected = await result(web, new Uint8Array(model))
  const before = memory()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(model.subarray(0, 10_000)))
    },
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      web.tensor(new Float32Array(24 * MB))
      controller.enqueue(new Uint8Array(model.subarray(10_000)))
      controller.close()
    },
  })
  t.strictSame(await result(web, body), expected)
  t.ok(memory() > before, 'it did grow')
})

t.test('what breaks off', options, async (t) => {
  const { web, memory } = await started!
  const breaks = (piece: number): void => {
    if (piece === 30) throw new TypeError('network error')
  }
  const late = async (): Promise<void> => {
    await t.rejects(web.loadModule(answer({ 'content-length': String(40 * MB) }, pieces(30))), {
      name: 'PtliteError',
      code: 'INVALID_FILE',
      message: `the bytes of the model ended after ${30 * MB} of ${40 * MB}; load it again`,
    })
    await t.rejects(web.loadModule(answer({ 'content-length': String(40 * MB) }, pieces(40, breaks))), {
      name: 'PtliteError',
      code: 'INVALID_FILE',
      message: 'the bytes of the model cannot be read: network error',
    })
  }
  await late()
  const after = memory()
  for (let i = 0; i < 5; i++) await late()
  t.equal(memory(), after, 'gives its memory back')
  await t.rejects(web.loadModule(new Response('', { status: 404 })), { code: 'NOT_FOUND', message: /status 404/ })
  const texts = new ReadableStream({ start: (controller) => controller.enqueue('text') }) as unknown as ReadableStream<Uint8Array>
  await t.rejects(web.loadModule(texts), { code: 'INVALID_ARGUMENT', message: /stream of bytes/ })
  const read = new Response(new Uint8Array(model))
  await read.arrayBuffer()
  await t.rejects(web.loadModule(read), { name: 'PtliteError', code: 'INVALID_FILE' })
})

t.test('a signal ends it', options, async (t) => {
  const { web, memory } = await started!
  const aborted = async (): Promise<void> => {
    const controller = new AbortController()
    const reason = new Error('never mind')
    const aborting = { name: 'PtliteError', code: 'ABORTED', cause: reason }
    let cancelled: unknown
    const stuck = new ReadableStream<Uint8Array>({
      pull: (stream) => (
        stream.enqueue(new Uint8Array(20 * MB)),
        setTimeout(() => controller.abort(reason), 5),
        new Promise(() => undefined)
      ),
      cancel: (why) => void (cancelled = why),
    })
    await t.rejects(web.loadModule(stuck, { signal: controller.signal }), aborting)
    t.match(cancelled, aborting, 'the stream is told')
    await t.rejects(web.loadModule(new Blob([model]), { signal: controller.signal }), aborting)
  }
  await aborted()
  const after = memory()
  for (let i = 0; i < 5; i++) await aborted()
  t.equal(memory(), after, 'and its memory goes back')
  const module = await web.loadModule(new Blob([model]), { signal: new AbortController().signal })
  t.ok(module.methods.includes('forward'))
})
