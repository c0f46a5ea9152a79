import { createReadStream, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { loadModule, type ModelSource, type Tensor, tensor } from '../../src/index.js'

const path = 'test/selective-build/fixtures/add_relu.ptl'
const bytes = readFileSync(path)
const x = tensor([-3, 4, 5])

async function result(source: ModelSource): Promise<unknown> {
  const m = await loadModule(source)
  try {
    return m.forward<Tensor>(x, x).toArray()
  } finally {
    m.dispose()
  }
}

t.test('a model from wherever it is', async (t) => {
  const expected = await result(path)
  const sources: Record<string, ModelSource> = {
    'a URL': pathToFileURL(path),
    'a Buffer': bytes,
    'an ArrayBuffer': new Uint8Array(bytes).buffer,
    'a Blob': new Blob([bytes]),
    'a Response': new Response(bytes),
    'a stream of Node': createReadStream(path, { highWaterMark: 1000 }),
    'a stream of the web': new Blob([bytes]).stream() as unknown as AsyncIterable<Uint8Array>,
    parts: [bytes.subarray(0, 100), bytes.subarray(100)],
  }
  for (const [name, source] of Object.entries(sources)) t.same(await result(source), expected, name)
})

t.test('by fetch', async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/model' ? 200 : 404
    response.end(request.url === '/model' ? bytes : '<html></html>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.same(await result(await fetch(`${base}/model`)), await result(path))
  await t.rejects(loadModule(await fetch(`${base}/other`)), { code: 'NOT_FOUND', message: /status 404/ })
})

t.test('what is no source', async (t) => {
  const broken = new Readable({ read: () => broken.destroy(new Error('the line is dead')) })
  const refused: [unknown, { readonly code: string; readonly message?: RegExp }][] = [
    [new URL('ftp://example.org/model.ptl'), { code: 'INVALID_ARGUMENT', message: /found ftp/ }],
    [new URL('file://elsewhere/model.ptl'), { code: 'INVALID_ARGUMENT' }],
    [broken, { code: 'INVALID_FILE', message: /the line is dead/ }],
    [Readable.from(['text']), { code: 'INVALID_ARGUMENT', message: /stream of bytes/ }],
    [{ arrayBuffer: () => Promise.resolve('text') }, { code: 'INVALID_ARGUMENT' }],
    [{}, { code: 'INVALID_ARGUMENT', message: /expected a path/ }],
    [null, { code: 'INVALID_ARGUMENT' }],
    [undefined, { code: 'INVALID_ARGUMENT' }],
    [7, { code: 'INVALID_ARGUMENT' }],
    [new DataView(new ArrayBuffer(8)), { code: 'INVALID_ARGUMENT' }],
    [[], { code: 'INVALID_FILE' }],
  ]
  for (const [source, error] of refused) await t.rejects(loadModule(source as ModelSource), error)
})

t.test('using', { skip: (Symbol.dispose as symbol | undefined) === undefined && 'Node has no Symbol.dispose' }, async (t) => {
  const m = await loadModule(path)
  m[Symbol.dispose]()
  t.throws(() => void m.forward(x, x), { code: 'DISPOSED' })
})
