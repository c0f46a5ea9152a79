import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t from 'tap'
import { CHROMIUM, chromiumArguments, withoutChromium } from '../support/chromium.js'
import { pageServer } from '../support/page-server.js'
import { withoutWeb } from '../support/web.js'

/** Threads of the library for browsers, in pages of Chromium that are isolated and in one that is not. */

/** Says what it finds in `result`, in the page and in a worker of it. */
const PROGRAM = `
  import * as web from '/web.js'
  const numbers = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i) * 3)
  const bits = (tensor) => [...new Uint32Array(tensor.data().buffer)].join()
  async function run(count) {
    const module = await web.loadModule('/models/resnet18.ptl', { compile: 'eager' })
    const input = web.tensor(numbers(3 * 64 * 64), [1, 3, 64, 64])
    for (let i = 0; i < 2; i++) module.forward(input)
    await web.codeReady()
    const expected = bits(module.forward(input))
    web.setNumThreads(count)
    await web.ready()
    const same = []
    for (let i = 0; i < 20; i++) same.push(bits(module.forward(input)) === expected)
    const long = web.tensor(numbers(64 * 3 * 64 * 64), [64, 3, 64, 64])
    module.forward(long)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const outputs = await Promise.all([0, 1, 2].map(() => module.run('forward', [long])))
    clearInterval(timer)
    same.push(new Set(outputs.map(bits)).size === 1)
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 2)
    const aborted = await module.run('forward', [long], { signal: controller.signal }).catch(({ code, cause }) => code + ' ' + cause.name)
    const limited = await module.run('forward', [long], { limits: { milliseconds: 2 } }).catch(({ code }) => code)
    const threads = web.getNumThreads()
    web.setNumThreads(1)
    return { isolated: self.crossOriginIsolated, threads, same: same.every(Boolean), turns, aborted, limited }
  }`
const FILES: Readonly<Record<string, string>> = {
  '/page.js': `${PROGRAM}
    self.result = run(2).catch((error) => ({ error: String(error.stack) }))`,
  '/worker.js': `${PROGRAM}
    run(2).catch((error) => ({ error: String(error.stack) })).then((result) => postMessage(result))`,
  '/in-worker.js': `
    self.result = new Promise((resolve) => {
      const worker = new Worker('/worker.js', { type: 'module' })
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => resolve({ error: message })
    })`,
  '/lost.js': `
    import * as web from '/web.js'
    web.setKernels({ DEFAULT: '/web/ptlite.wasm', THREAD: '/there-is-no.js' })
    web.setNumThreads(2)
    const x = () => web.tensor(new Float32Array(65536).fill(1), [256, 256])
    self.result = web.ready().then(() => web.callOperator('aten::matmul', [x(), x()]).data()[7])`,
}

const missing = withoutWeb || withoutChromium
if (missing !== false) {
  t.plan(0, missing)
} else {
  t.setTimeout(240_000)
  const server = pageServer(FILES)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: chromiumArguments('/dev/null') })
  t.teardown(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })

  const resultOf = async (path: string): Promise<{ readonly result: unknown; readonly said: readonly string[] }> => {
    const page = await browser.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    await page.goto(address + path)
    await page.waitForFunction('self.result !== undefined')
    const result = await page.evaluate('self.result')
    await page.close()
    return { result, said }
  }

  for (const name of ['page', 'in-worker']) {
    t.test(`isolated: ${name}`, async (t) => {
      const { result, said } = await resultOf(`/isolated/${name}`)
      t.match(result, { isolated: true, threads: 2, same: true, aborted: 'ABORTED AbortError', limited: 'LIMIT_EXCEEDED' })
      t.ok((result as { turns: number }).turns > 3, 'the page goes on while plans run')
      t.strictSame(said, [])
    })
  }

  t.test('without isolation there is one thread', async (t) => {
    const { result, said } = await resultOf('/open/page')
    t.match(result, { isolated: false, threads: 1, same: true, limited: 'LIMIT_EXCEEDED' })
    t.strictSame(said, [])
  })

  t.test('a program of threads that is not there', async (t) => {
    const { result, said } = await resultOf('/isolated/lost')
    t.equal(result, 256)
    t.match(said.join('\n'), /ptlite: no thread can be started/)
  })
}
