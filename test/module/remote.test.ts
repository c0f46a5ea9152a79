import { createHash } from 'node:crypto'
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import * as ptlite from '../../src/index.js'
import { fixturePath } from './fixtures.js'
import { MemoryCache, type ModelServer, modelServer, padded } from '../support/model-server.js'

/** Models at addresses: from servers that are there, that are not, and that lie. */

const { loadModule } = ptlite
const bytes = padded(readFileSync(fixturePath('models/squeezenet.ptl')))
const folder = mkdtempSync(join(tmpdir(), 'ptlite-remote-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'net.ptl')
writeFileSync(path, bytes)
const integrityOf = (content: Uint8Array): string => `sha256-${createHash('sha256').update(content).digest('base64')}`
const right = integrityOf(bytes)
const wrong = integrityOf(Buffer.from('another'))

async function servedBy(t: Test): Promise<ModelServer> {
  const server = await modelServer(bytes)
  t.teardown(() => server.close())
  return server
}

async function loads(t: Test, source: ptlite.ModelSource, options: ptlite.LoadOptions = {}, name = 'loads'): Promise<void> {
  const module = await loadModule(source, options)
  t.ok(module.methods.includes('forward') && module.parameters().size > 0, name)
  module.dispose()
}

t.test('an address', async (t) => {
  const { base, conduct, asked } = await servedBy(t)
  const seen: ptlite.LoadProgress[] = []
  await loads(t, `${base}/model.ptl`, { onProgress: (progress) => void seen.push(progress) })
  t.same(seen.at(-1), { loaded: bytes.length, total: bytes.length })
  t.ok(
    seen.every(({ loaded }, i) => loaded > (seen[i - 1]?.loaded ?? 0)),
    'progress goes forward',
  )
  await loads(t, new URL(`${base}/model.ptl`), { integrity: right })
  await loads(t, `${base}/moved`, {}, 'where a server leads to')
  conduct.length = null
  await loads(t, `${base}/model.ptl`, { integrity: right }, 'without a length')
  conduct.length = undefined
  conduct.packed = true
  await loads(t, `${base}/model.ptl`, { integrity: right }, 'that is packed on its way')
  conduct.packed = false
  t.equal((await ptlite.inspectModel(`${base}/model.ptl`)).format, '.ptl')
  asked.length = 0
  conduct.breaks = [600_000, 1_500_000]
  await loads(t, `${base}/model.ptl`, { integrity: right }, 'over connections that break')
  t.equal(asked.length, 3)
  t.match(asked[1], /^GET bytes=\d+-$/)
  asked.length = 0
  conduct.breaks = [bytes.length]
  await loads(t, `${base}/model.ptl`, { integrity: right }, 'over one that breaks behind the last byte')
  t.equal(asked.length, 1)
})

t.test('what cannot be had', async (t) => {
  const { base, conduct } = await servedBy(t)
  const url = `${base}/model.ptl?secret=1`
  const refused = async (expected: object, options: ptlite.LoadOptions = {}, address = url): Promise<void> => {
    const error = await loadModule(address, options).catch((error: unknown) => error as ptlite.PtliteError)
    t.match(error, { name: 'PtliteError', ...expected })
    t.notMatch((error as Error).message, /secret/, 'queries are not told')
  }
  await refused({ code: 'NOT_FOUND', message: /status 404/ }, {}, `${base}/gone`)
  await refused({ code: 'INVALID_FILE', message: /redirect/ }, {}, `${base}/around`)
  await refused({ code: 'INVALID_FILE', message: /expected|another/ }, { integrity: wrong })
  for (const status of [400, 401, 403, 418, 500, 503]) {
    conduct.status = status
    await refused({ code: 'INVALID_FILE', message: new RegExp(`status ${status}`) })
  }
  conduct.status = 200
  conduct.length = 2 ** 40
  await refused({ code: 'INVALID_FILE', message: /longer than/ })
  // less than was promised, and no parts to be had
  conduct.length = bytes.length + 100
  conduct.breaks = [bytes.length]
  conduct.ranges = false
  await refused({ code: 'INVALID_FILE', message: /broke after/ })
  conduct.length = undefined
  for (const contentRange of ['bytes 0-9/10', 'bytes 9-1/2', `bytes 600000-${bytes.length}/${bytes.length}`, 'text', 'bytes */*']) {
    conduct.ranges = true
    conduct.contentRange = contentRange
    conduct.breaks = [600_000]
    await refused({ code: 'INVALID_FILE', message: /broke after/ })
  }
  conduct.contentRange = undefined
  conduct.tag = ''
  conduct.breaks = [600_000]
  await refused({ code: 'INVALID_FILE', message: /broke after/ }, {})
  conduct.tag = '"1"'
  conduct.breaks = Array<number>(20).fill(10)
  await refused({ code: 'INVALID_FILE', message: /more tries did not help/ })
  conduct.breaks = []
  await refused({ code: 'INVALID_FILE' }, {}, 'http://127.0.0.1:1/model.ptl')
  await refused({ code: 'INVALID_ARGUMENT', message: /user name/ }, {}, 'https://me:pass@example.org/model.ptl')
  await refused({ code: 'INVALID_ARGUMENT' }, {}, 'http://')
  await t.rejects(loadModule(new URL('ftp://example.org/model.ptl')), { code: 'INVALID_ARGUMENT', message: /found ftp/ })
  await t.rejects(loadModule('no such file.ptl'), { code: 'NOT_FOUND' })
  await t.rejects(loadModule(`${path}/under a file`), { code: 'NOT_FOUND' })
  await t.rejects(loadModule(t.testdir()), { code: 'INVALID_FILE' })
  for (const integrity of ['', 'sha256-', 'sha384-AAAA', `${right}=`, right.slice(0, -1)])
    await t.rejects(loadModule(path, { integrity }), { code: 'INVALID_ARGUMENT', message: /sha256-/ })
  for (const cache of ['', {}, { match: 1, put: 2, delete: 3 }])
    await t.rejects(loadModule(path, { cache } as ptlite.LoadOptions), { code: 'INVALID_ARGUMENT', message: /directory/ })
})

t.test('aborts', async (t) => {
  const { base, conduct, asked } = await servedBy(t)
  const reason = new Error('never mind')
  const aborted = { name: 'PtliteError', code: 'ABORTED', message: /never mind/, cause: reason }
  for (const source of [path, `${base}/model.ptl`, createReadStream(path), new Blob([bytes])])
    await t.rejects(loadModule(source, { signal: AbortSignal.abort(reason) }), aborted)
  t.equal(asked.length, 0)
  for (const options of [{}, { cache: t.testdir() }, { cache: new MemoryCache() }]) {
    const controller = new AbortController()
    const onProgress = (): void => controller.abort(reason)
    await t.rejects(loadModule(`${base}/model.ptl`, { ...options, onProgress, signal: controller.signal }), aborted)
  }
  conduct.breaks = Array<number>(20).fill(10)
  const signal = AbortSignal.timeout(300)
  await t.rejects(loadModule(`${base}/model.ptl`, { signal }), { code: 'ABORTED', cause: { name: 'TimeoutError' } }, 'between tries')
})

t.test('on the hub', async (t) => {
  const { base, asked, heads } = await servedBy(t)
  const urls: string[] = []
  const { fetch } = globalThis
  globalThis.fetch = (url, options) => {
    urls.push(url as string)
    return fetch(url, options)
  }
  t.teardown(() => void (globalThis.fetch = fetch))
  process.env['HF_ENDPOINT'] = `${base}/`
  process.env['HF_TOKEN'] = 'hf_x'
  t.teardown(() => {
    delete process.env['HF_ENDPOINT']
    delete process.env['HF_TOKEN']
  })
  await loads(t, 'hf://owner/repo.x/a folder/model.ptl')
  await loads(t, new URL('hf://owner/repo@refs%2Fpr%2F1/model.ptl'))
  await loads(t, 'hf://datasets/owner/repo@v1.0/model.ptl')
  t.same(
    urls.map((url) => url.slice(base.length)),
    [
      '/owner/repo.x/resolve/main/a%20folder/model.ptl',
      '/owner/repo/resolve/refs%2Fpr%2F1/model.ptl',
      '/datasets/owner/repo/resolve/v1.0/model.ptl',
    ],
  )
  t.equal(heads.at(-1)!.authorization, 'Bearer hf_x')
  await loads(t, `${base}/model.ptl`)
  t.equal(heads.at(-1)!.authorization, undefined, 'other servers are not told the token')
  const count = asked.length
  for (const address of [
    'hf://owner/repo',
    'hf://owner',
    'hf://../repo/x',
    'hf://o/r/../x',
    'hf://o/r/%2e%2e/x',
    'hf://o/r@../x',
    'hf://o/r/%zz',
    'hf://o/r//x',
  ])
    await t.rejects(loadModule(address), { code: 'INVALID_ARGUMENT', message: /hf:\/\/owner\/repository/ }, address)
  t.equal(asked.length, count)
})

t.test('a directory keeps it', async (t) => {
  const { base, conduct, asked } = await servedBy(t)
  const cache = join(t.testdir(), 'made/of it')
  const url = `${base}/models/net.ptl`
  const load = (options: ptlite.LoadOptions = {}, name?: string): Promise<void> => loads(t, url, { cache, ...options }, name)
  const files = (form: RegExp): string[] => readdirSync(cache).filter((name) => form.test(name))
  await load()
  await load()
  t.same(asked.splice(0), ['GET', 'GET conditional'])
  const [kept] = files(/^net-\w+-\w+\.ptl$/)
  t.equal(statSync(join(cache, kept!)).size, bytes.length)

  conduct.tag = '"2"'
  await load({}, 'a new version')
  t.same(asked.splice(0), ['GET conditional'])
  t.equal(files(/\.ptl$/).length, 1, 'of which there is one')

  const seen: ptlite.LoadProgress[] = []
  conduct.status = 503
  await load({ onProgress: (progress) => void seen.push(progress) }, 'a server in trouble')
  t.same(seen, [{ loaded: bytes.length, total: bytes.length }])
  conduct.status = 404
  await t.rejects(load(), { code: 'NOT_FOUND' })
  conduct.status = 200

  asked.length = 0
  truncateSync(join(cache, files(/\.ptl$/)[0]!), 1000)
  await load({}, 'a damaged file')
  t.same(asked.splice(0), ['GET'])
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '{"tag":1}',
    JSON.stringify({ tag: '"2"', bytes: 3, file: '../../net.ptl' }),
    'x'.repeat(10_000),
  ]) {
    writeFileSync(join(cache, files(/\.json$/)[0]!), text)
    await load({}, `a damaged description: ${text.slice(0, 20)}`)
  }
  t.ok(asked.splice(0).every((request) => request === 'GET'))

  await load({ integrity: right })
  asked.length = 0
  await load({ integrity: right }, 'known by its hash')
  t.same(asked, [], 'is not asked for')
  const whole = join(cache, files(/\.ptl$/)[0]!)
  writeFileSync(whole, Buffer.alloc(bytes.length))
  await load({ integrity: right }, 'with other bytes')
  t.same(asked.splice(0), ['GET'])
  await t.rejects(load({ integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  t.same(files(/part/), [], 'no part of what is another file is left')
})

t.test('a directory keeps what came', async (t) => {
  const { base, conduct, asked } = await servedBy(t)
  const cache = t.testdir()
  const url = `${base}/net.ptl`
  const parts = (): string[] => readdirSync(cache).filter((name) => name.includes('.part-'))
  const broken = async (): Promise<void> => {
    const controller = new AbortController()
    const onProgress = ({ loaded }: ptlite.LoadProgress): void => void (loaded > 1_000_000 && controller.abort())
    await t.rejects(loadModule(url, { cache, onProgress, signal: controller.signal }), { code: 'ABORTED' })
  }
  await broken()
  t.match(parts(), [/\.part-0-/])
  asked.length = 0
  const seen: ptlite.LoadProgress[] = []
  await loads(t, url, { cache, integrity: right, onProgress: (progress) => void seen.push(progress) })
  t.match(asked.splice(0), [/^GET bytes=\d{7}-$/])
  t.ok(seen[0]!.loaded > 1_000_000 && seen.at(-1)!.loaded === bytes.length)
  t.same(parts(), [])

  for (const [name, change, requests] of [
    ['another version', () => (conduct.tag = '"2"'), [/bytes=/, /^GET$/]],
    ['no ranges', () => (conduct.ranges = false), [/bytes=/]],
    ['what is shorter now', () => (conduct.contentRange = 'bytes 1-2/3'), [/bytes=/, /^GET$/]],
  ] as const) {
    for (const file of readdirSync(cache)) if (file.endsWith('.json')) writeFileSync(join(cache, file), '')
    await broken()
    asked.length = 0
    change()
    await loads(t, url, { cache, integrity: right }, name)
    t.match(asked, requests)
    t.equal(asked.length, requests.length, `${name}: ${asked.join(', ')}`)
    conduct.ranges = true
    conduct.contentRange = undefined
    for (const file of readdirSync(cache)) if (file.endsWith('.json')) writeFileSync(join(cache, file), '')
  }

  // of a process that is gone
  const [key] = readdirSync(cache).filter((name) => name.endsWith('.json'))
  t.same(parts(), [])
  const part = `${key!.slice(0, -5)}.${Buffer.from('"2"').toString('base64url')}.part-999999999-0`
  writeFileSync(join(cache, part), bytes.subarray(0, 500_000))
  asked.length = 0
  await loads(t, url, { cache, integrity: right }, 'of a process that is gone')
  t.same(asked, ['GET bytes=500000-'])

  // whose ends and beginnings meet
  const begun = async (i: number): Promise<void> => {
    await setTimeout(i * 7)
    await loads(t, `${base}/many.ptl`, { cache }, 'many at a time')
  }
  await Promise.all(Array.from({ length: 20 }, (_, i) => begun(i)))
  t.same(parts(), [])
  writeFileSync(join(cache, 'a file'), '')
  await t.rejects(loadModule(url, { cache: join(cache, 'a file') }), { code: 'WRITE_FAILED', message: /a file/ })
})

t.test('a cache keeps it', async (t) => {
  const { base, conduct, asked } = await servedBy(t)
  const cache = new MemoryCache()
  const url = `${base}/net.ptl`
  await loads(t, url, { cache })
  await loads(t, url, { cache })
  t.same(asked.splice(0), ['GET', 'GET conditional'])
  conduct.status = 500
  await loads(t, url, { cache }, 'a server in trouble')
  conduct.status = 200
  cache.entries.set(url, { ...cache.entries.get(url)!, body: new ArrayBuffer(7) })
  asked.length = 0
  await loads(t, url, { cache }, 'a damaged entry')
  t.same(asked.splice(0), ['GET conditional', 'GET'])
  cache.entries.clear()
  const controller = new AbortController()
  const onProgress = ({ loaded }: ptlite.LoadProgress): void => void (loaded > 1_500_000 && controller.abort())
  await t.rejects(loadModule(url, { cache, onProgress, signal: controller.signal }), { code: 'ABORTED' })
  asked.length = 0
  await loads(t, url, { cache, integrity: right }, 'the rest of it')
  t.match(asked.splice(0), [/^GET bytes=\d{7}-$/])
  t.same([...cache.entries.keys()], [url])
  await loads(t, url, { cache, integrity: right }, 'known by its hash')
  t.same(asked, [])
  cache.put = () => Promise.reject(new Error('no room'))
  cache.entries.clear()
  await loads(t, url, { cache }, 'no room')
})

t.test('integrity and progress of other sources', async (t) => {
  const sources: (() => ptlite.ModelSource)[] = [
    () => path,
    () => bytes,
    () => new Uint8Array(bytes).buffer,
    () => new Blob([bytes]),
    () => createReadStream(path),
    () => new Response(bytes),
    () => [bytes.subarray(0, 100), bytes.subarray(100)],
  ]
  for (const source of sources) {
    await loads(t, source(), { integrity: right })
    await t.rejects(loadModule(source(), { integrity: wrong }), { code: 'INVALID_FILE', message: /expected/ })
  }
  for (const source of sources.slice(3, 6)) {
    let last: ptlite.LoadProgress | undefined
    await loads(t, source(), { onProgress: (progress) => void (last = progress) })
    t.equal(last?.loaded, bytes.length)
  }
})
