import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t from 'tap'
import { CHROMIUM, chromiumArguments, withoutChromium } from '../support/chromium.js'
import { type Override, pageServer } from '../support/page-server.js'
import { withoutWeb } from '../support/web.js'

/** Models in workers of a page, and models that a browser keeps, in Chromium. */

const COMMON = `
  import * as web from '/web.js'
  const FORM = [1, 3, 64, 64]
  const image = (rows = 1) => {
    const data = Float32Array.from({ length: rows * 3 * 64 * 64 }, (_, i) => Math.sin(i) * 3)
    return web.tensor(data, [rows, ...FORM.slice(1)])
  }
  const near = (a, b) => a.data().every((x, i) => Math.abs(x - b.data()[i]) < 1e-3)`

const FILES: Readonly<Record<string, string>> = {
  '/worker.js': `${COMMON}
    async function run() {
      const module = await web.loadInWorker('/models/resnet18.ptl')
      await web.ready()
      const here = await web.loadModule('/models/resnet18.ptl')
      const same = near(await module.forward(image()), here.forward(image()))
      let frames = 0
      let ended = false
      const frame = () => { frames++; if (!ended) requestAnimationFrame(frame) }
      requestAnimationFrame(frame)
      const began = performance.now()
      for (let i = 0; i < 4; i++) await module.forward(image(32))
      const took = performance.now() - began
      ended = true
      const failure = await module.run('forward', [web.tensor([1])]).catch(({ name, code }) => [name, code])
      const pending = module.forward(image(32)).catch(({ code }) => code)
      module.dispose()
      return { same, took, frames, failure, pending: await pending }
    }
    self.result = run().catch((error) => ({ error: String(error.stack) }))`,
  '/cached.js': `${COMMON}
    const calls = () => [{ method: 'forward', args: [image()] }]
    async function run() {
      const cached = await web.loadCached('/models/resnet18.ptl', { calls })
      const found = cached.forward(image())
      const plans = cached.plans?.().length ?? 0
      return { sum: [...found.data()].reduce((a, b) => a + b), plans }
    }
    self.result = run().catch((error) => ({ error: String(error.stack) }))`,
  '/kept.js': `${COMMON}
    async function run() {
      const cache = await caches.open('models')
      const model = await web.loadModule('/models/squeezenet.ptl', { cache })
      const sum = [...model.forward(image()).data()].reduce((a, b) => a + b)
      return { sum, kept: (await cache.keys()).map(({ url }) => new URL(url).pathname) }
    }
    self.result = run().catch((error) => ({ error: String(error.stack) }))`,
  '/clear.js': `
    import { clearCache } from '/web.js'
    self.result = clearCache().then(() => 'cleared')`,
}

const missing = withoutWeb || withoutChromium
if (missing !== false) {
  t.plan(0, missing)
} else {
  t.setTimeout(240_000)
  let asked: string[] = []
  let answer: Override = { status: 200, headers: { ETag: '"one"' } }
  const server = pageServer(FILES, ({ method, headers }) => {
    asked.push(method!)
    const condition = headers['if-none-match']
    if (condition !== undefined) asked.push(condition)
    return condition !== undefined && condition === answer.headers?.['ETag'] ? { status: 304, headers: answer.headers } : answer
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: chromiumArguments('/dev/null') })
  const context = await browser.newContext()
  t.teardown(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })

  const visit = async (name: string): Promise<unknown> => {
    const page = await context.newPage()
    try {
      await page.goto(`${address}/open/${name}`)
      await page.waitForFunction('self.result')
      return await page.evaluate('self.result')
    } finally {
      await page.close()
    }
  }

  t.test('a page draws its frames while a worker of it computes', async (t) => {
    const found = (await visit('worker')) as { took: number; frames: number }
    t.match(found, { same: true, failure: ['PtliteError', /^[A-Z_]+$/], pending: 'DISPOSED' })
    t.ok(found.frames > found.took / 100, `${found.frames} frames in ${found.took.toFixed(0)} ms`)
  })

  t.test('the second visit downloads no model, nor does one without a server', async (t) => {
    asked = []
    const first = (await visit('cached')) as { sum: number; error?: string }
    t.type(first.sum, 'number', String(first.error))
    t.strictSame(asked.filter((method) => method === 'GET').length, 1)
    const again = async (what: string, gets: number): Promise<void> => {
      asked = []
      const found = (await visit('cached')) as { sum: number; error?: string }
      t.equal(found.sum, first.sum, found.error ?? what)
      t.equal(asked.filter((method) => method === 'GET').length, gets, what)
    }
    await again('the same file', 0)
    answer = { status: 503 }
    await again('a server that is in trouble', 0)
    answer = { status: 200, headers: { ETag: '"two"' } }
    await again('another file', 1)
    await again('which is kept', 0)
    t.equal(await visit('clear'), 'cleared')
    await again('nothing any more', 1)
  })

  t.test("a Cache of the browser's keeps models by their tags", async (t) => {
    // not by what the browser keeps for itself
    const version = (tag: string): Override => ({ status: 200, headers: { ETag: tag, 'Cache-Control': 'no-store' } })
    answer = version('"one"')
    const load = async (sent: readonly string[]): Promise<unknown> => {
      asked = []
      const { sum, ...rest } = (await visit('kept')) as { sum: number; error?: string }
      t.strictSame(rest, { kept: ['/models/squeezenet.ptl'] })
      t.strictSame(asked, sent)
      return sum
    }
    const sum = await load(['GET'])
    t.equal(await load(['GET', '"one"']), sum, 'as it was')
    answer = version('"two"')
    t.equal(await load(['GET', '"one"']), sum, 'another version')
    t.equal(await load(['GET', '"two"']), sum)
    answer = { status: 503 }
    t.equal(await load(['GET', '"two"']), sum, 'a server that is in trouble')
  })
}
