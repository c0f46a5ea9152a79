import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type * as library from '../../web/index.js'
import { startHash } from '../../web/receiving/hash.js'
import { fixturePath } from '../module/fixtures.js'
import { MemoryCache, type ModelServer, modelServer, padded } from '../support/model-server.js'
import { webLibrary, withoutWeb } from '../support/web.js'

/** Models at addresses, as browsers load them; test/module/remote.test.ts has what servers do wrong. */

const options = { skip: withoutWeb }
const bytes = padded(readFileSync(fixturePath('models/squeezenet.ptl')))
const integrityOf = (content: Uint8Array): string => `sha256-${createHash('sha256').update(content).digest('base64')}`
const right = integrityOf(bytes)
const wrong = integrityOf(Buffer.from('another'))

async function served(t: Test): Promise<{ readonly web: typeof library; readonly server: ModelServer; readonly url: string }> {
  const server = await modelServer(bytes)
  t.teardown(() => server.close())
  return { web: await webLibrary(), server, url: `${server.base}/net.ptl` }
}

t.test('SHA-256 of bytes that come in pieces', (t) => {
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1000, 4097]) {
    const data = Uint8Array.from({ length }, (_, i) => (i * 31) ^ (i >> 3))
    for (const piece of [length || 1, 1, 7, 64, 100]) {
      const hash = startHash()
      for (let at = 0; at < length; at += piece) hash.update(data.subarray(at, at + piece))
      t.equal(hash.digest(), createHash('sha256').update(data).digest('base64'), `${length} in pieces of ${piece}`)
    }
  }
  t.end()
})

t.test('an address', options, async (t) => {
  const { web, server, url } = await served(t)
  const { conduct, asked } = server
  const loads = async (options: library.LoadOptions, name: string): Promise<void> => {
    const module = await web.loadModule(url, options)
    t.ok(module.methods.includes('forward') && module.parameters().size > 0, name)
    module.dispose()
  }
  const seen: library.LoadProgress[] = []
  await loads({ integrity: right, onProgress: (progress) => void seen.push(progress) }, 'with its hash')
  t.same(seen.at(-1), { loaded: bytes.length, total: bytes.length })
  await t.rejects(web.loadModule(url, { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  await t.rejects(web.loadModule(bytes, { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  await t.rejects(web.loadModule(new Blob([bytes]), { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  await t.rejects(web.loadModule(`${server.base}/gone`), { code: 'NOT_FOUND' })
  await t.rejects(web.loadModule('no such file.ptl'), { code: 'NOT_FOUND' })
  asked.length = 0
  conduct.breaks = [600_000, 1_500_000]
  await loads({ integrity: right }, 'over connections that break')
  t.match(asked, ['GET', /^GET bytes=\d+-$/, /^GET bytes=\d+-$/])

  const cache = new MemoryCache()
  const reason = new Error('never mind')
  const controller = new AbortController()
  const onProgress = ({ loaded }: library.LoadProgress): void => void (loaded > 1_500_000 && controller.abort(reason))
  await t.rejects(web.loadModule(url, { cache, onProgress, signal: controller.signal }), {
    ...{ name: 'PtliteError', code: 'ABORTED', cause: reason },
  })
  asked.length = 0
  await loads({ cache, integrity: right }, 'what came is kept')
  t.match(asked.splice(0), [/^GET bytes=\d{7}-$/])
  t.same([...cache.entries.keys()], [url])
  await loads({ cache }, 'kept')
  t.same(asked.splice(0), ['GET conditional'])
  conduct.tag = '"2"'
  await loads({ cache }, 'another version')
  conduct.status = 500
  await loads({ cache }, 'a server in trouble')
  cache.entries.set(url, { ...cache.entries.get(url)!, body: new ArrayBuffer(7) })
  await t.rejects(web.loadModule(url, { cache }), { code: 'INVALID_FILE', message: /status 500/ })
})

t.test('in a worker', options, async (t) => {
  const { web, server, url } = await served(t)
  const seen: library.LoadProgress[] = []
  const module = await web.loadInWorker(url, { integrity: right, onProgress: (progress) => void seen.push(progress) })
  t.same(seen.at(-1), { loaded: bytes.length, total: bytes.length })
  module.dispose()
  await t.rejects(web.loadInWorker(url, { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  await t.rejects(web.loadInWorker(`${server.base}/gone`), { code: 'NOT_FOUND' })
  await t.rejects(web.loadInWorker(url, { cache: new MemoryCache() }), { code: 'INVALID_ARGUMENT', message: /by their names/ })
})

t.test('loadCached', options, async (t) => {
  const { web, server, url } = await served(t)
  const cache = new MemoryCache()
  const seen: library.LoadProgress[] = []
  const module = await web.loadCached(url, { cache, integrity: right, onProgress: (progress) => void seen.push(progress) })
  t.same(seen.at(-1), { loaded: bytes.length, total: bytes.length })
  module.dispose()
  await t.rejects(web.loadCached(url, { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  await t.rejects(web.loadCached(`${server.base}/gone`), { code: 'NOT_FOUND' })
})
