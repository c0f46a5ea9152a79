import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type * as library from '../../web/index.js'
import { fixturePath } from '../module/fixtures.js'
import { webLibrary, withoutWeb } from '../support/web.js'

/** Models that are kept, compiled, in a cache like that of browsers. */

const options = { skip: withoutWeb }
const model = readFileSync(fixturePath('models/squeezenet.ptl'))

class Kept implements library.CacheLike {
  readonly entries = new Map<string, { body: ArrayBuffer; headers: Headers }>()
  isFull = false
  async match(address: string): Promise<Response | undefined> {
    const found = this.entries.get(address)
    return found && new Response(await Promise.resolve(found.body.slice(0)), { headers: found.headers })
  }
  async put(address: string, response: Response): Promise<void> {
    if (this.isFull) throw new DOMException('no room', 'QuotaExceededError')
    this.entries.set(address, { body: await response.arrayBuffer(), headers: response.headers })
  }
  delete(address: string): Promise<boolean> {
    return Promise.resolve(this.entries.delete(address))
  }
}

t.test('a second visit neither downloads nor compiles', options, async (t) => {
  const web = await webLibrary()
  let [tag, body] = ['"1"', model]
  const asked: string[] = []
  const server = createServer(({ method }, response) => {
    asked.push(method!)
    response
      .writeHead(200, { ...(tag === '' ? {} : { etag: tag }), 'content-length': body.length })
      .end(method === 'HEAD' ? undefined : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/squeezenet.ptl`
  const cache = new Kept()
  await web.ready()
  const image = (size: number): library.Tensor => web.tensor(new Float32Array(3 * size * size).fill(0.5), [1, 3, size, size])
  const calls =
    (size = 32) =>
    () => [{ method: 'forward', args: [image(size)] }]
  const visit = async (given: library.CachedOptions): Promise<{ asked: string[]; plans: number; data: unknown }> => {
    asked.length = 0
    const module = await web.loadCached(url, { cache, ...given })
    await new Promise((resolve) => setTimeout(resolve, 20))
    const plans = module.plans().filter(({ state }) => state === 'plan').length
    const { data } = { data: module.forward<library.Tensor>(image(32)).data() }
    module.dispose()
    return { asked: [...asked], plans, data }
  }
  const first = await visit({ calls: calls() })
  t.strictSame([first.asked, first.plans], [['HEAD', 'GET'], 1])
  t.equal(cache.entries.size, 1)
  const second = await visit({ calls: calls() })
  t.strictSame(second, { ...first, asked: ['HEAD'] })

  const [entry] = [...cache.entries.values()]
  new Uint8Array(entry!.body)[entry!.body.byteLength - 100]! ^= 1
  t.strictSame(await visit({ calls: calls() }), first, 'what is damaged is replaced')
  tag = '"2"'
  t.strictSame(await visit({ calls: calls() }), first, 'and what is another file')
  t.strictSame(await visit({ calls: calls() }), second)
  t.match(await visit({ calls: () => [...calls()(), ...calls(64)()] }), { asked: ['HEAD', 'GET'], plans: 2 }, 'and plans of other calls')
  cache.entries.get(url)!.headers.set('x-ptlite-made', '0.0.1')
  t.match(await visit({ calls: calls() }), { asked: ['HEAD', 'GET'] }, 'and those of another version')
  t.match(await visit({}), { asked: ['HEAD', 'GET'], plans: 0 }, 'without calls the file is kept')
  t.match(await visit({}), { asked: ['HEAD'] })
  cache.isFull = true
  t.match(await visit({ calls: calls() }), { asked: ['HEAD', 'GET'], plans: 1 }, 'no room')
  t.match(await visit({ calls: calls() }), { asked: ['HEAD', 'GET'], plans: 1 })
  cache.isFull = false
  tag = ''
  t.match(await visit({ calls: calls() }), { asked: ['HEAD', 'GET'], plans: 1 }, 'a server that names no version')
  t.equal(cache.entries.size, 0)
  tag = '"3"'
  await visit({ calls: calls() })
  body = Buffer.alloc(0)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  t.strictSame(await visit({ calls: calls() }), { ...first, asked: [] }, 'without the network')
  cache.entries.clear()
  await t.rejects(web.loadCached(url, { cache }), { name: 'PtliteError', code: 'INVALID_FILE', message: /cannot read the model/ })
  await t.rejects(web.loadCached(url, { calls: 3 } as never), { code: 'INVALID_ARGUMENT' })
  await web.clearCache()
})

t.test('a language model that is kept goes on from token to token', options, async (t) => {
  const web = await webLibrary()
  const program = gunzipSync(readFileSync(fixturePath('generation/llama-buffers.pt2.gz')))
  const server = createServer(({ method }, response) => {
    response.writeHead(200, { etag: '"1"', 'content-length': program.length }).end(method === 'HEAD' ? undefined : program)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/llama.pt2`
  await web.ready()
  const cache = new Kept()
  const step = (i: number): library.Tensor[] => [
    web.tensor(BigInt64Array.of(BigInt(3 * i + 1)), [1, 1]),
    web.tensor(BigInt64Array.of(BigInt(i)), [1]),
  ]
  const calls = () => [{ method: 'forward', args: step(0) }]
  const plain = await web.loadModule(program, { compile: 'off' })
  const wanted = Array.from({ length: 5 }, (_, i) => [...plain.forward<library.Tensor>(...step(i)).data()].map(Number))
  for (const visit of ['first', 'second']) {
    const module = await web.loadCached(url, { cache, calls })
    t.same(
      module.plans().map(({ state }) => state),
      ['plan'],
      `${visit} visit`,
    )
    for (const [i, want] of wanted.entries()) {
      const found = [...module.forward<library.Tensor>(...step(i)).data()].map(Number)
      t.ok(
        found.every((x, at) => Math.abs(x - want[at]!) < 1e-4),
        `${visit} visit, token ${i}`,
      )
    }
    module.dispose()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  plain.dispose()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
