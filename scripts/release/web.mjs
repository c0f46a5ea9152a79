// The library for browsers, of an application that has the packages alone: in Node, and in Chromium where there is one.
import assert from 'node:assert/strict'
import { createReadStream, existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { chromium } from 'playwright-core'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const use = (library, model) => `import { loadInWorker, loadModule, tensor } from '${library}'
const input = () => tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')
const model = await loadModule('${model}')
const inWorker = await loadInWorker('${model}')
const result = [model.forward(input()).shape, (await inWorker.forward(input())).shape].join(' ')
inWorker.dispose()
`

/** Serves the files of a folder. */
async function serverOf(folder) {
  const server = createServer(({ url }, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(url, 'http://host').pathname)))
    if (!existsSync(path)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
    createReadStream(path).pipe(response)
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

/** Loads and runs a model with `ptlite/web` of the packages installed in `app`. */
export async function tryWeb({ app, succeed }) {
  if (!existsSync(join(app, 'node_modules/ptlite/dist/web/ptlite.wasm'))) {
    console.log('skipped ptlite/web: the packages were made without kernels for browsers')
    return
  }
  writeFileSync(join(app, 'web.mjs'), `${use('ptlite/web', 'digits.ptl')}console.log(result)\n`)
  assert.equal(succeed(process.execPath, 'web.mjs'), '1,10 1,10\n')
  const executablePath = process.env.PTLITE_CHROMIUM ?? PLACES.find((path) => existsSync(path))
  if (executablePath === undefined) {
    console.log('used ptlite/web in Node; there is no Chromium here')
    return
  }
  const program = `${use('./node_modules/ptlite/dist/web.js', 'digits.ptl')}self.result = result\n`
  writeFileSync(join(app, 'page.html'), `<!doctype html><link rel="icon" href="data:,"><script type="module">${program}</script>\n`)
  const server = await serverOf(app)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] })
  try {
    const page = await browser.newPage()
    const said = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    await page.goto(`http://127.0.0.1:${server.address().port}/page.html`)
    const found = await page.waitForFunction('self.result', undefined, { timeout: 120_000 }).catch(() => undefined)
    assert.deepEqual(said, [])
    assert.equal(await found?.jsonValue(), '1,10 1,10')
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
  console.log(`used ptlite/web in Node and in a page of ${executablePath}`)
}
