// Times a cold page: from its address to the first result of a network, with ptlite/web and with onnxruntime-web (WebAssembly, 1 thread), each in Chromium with
// an empty profile, served by the same server, with and without a slow network. The two take turns. Prints medians in Markdown.
//
//   node web-page.mjs [--model mobilenet_v2] [--rounds 7] [--megabits 20] [--latency 20]
//
// Code is sent as a server compresses it (gzip), models as they are. `PTLITE_CHROMIUM` names a Chromium where it is not /usr/bin/chromium.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { modelPath } from './lib/models.mjs'

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'mobilenet_v2' },
    rounds: { type: 'string', default: '7' },
    megabits: { type: 'string', default: '20' },
    latency: { type: 'string', default: '20' },
  },
})
const here = dirname(fileURLToPath(import.meta.url))
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' }
const PREFIXES = { '/ptlite/': join(here, '../dist'), '/ort/': join(here, 'node_modules/onnxruntime-web/dist') }

const input = `new Float32Array(3 * 224 * 224).fill(0.5)`
const page = (program) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">${program}</script>`
const PAGES = {
  '/ptlite.html': page(`
    import { loadModule, tensor } from '/ptlite/web.js'
    const module = await loadModule('/model.ptl')
    const output = module.forward(tensor(${input}, [1, 3, 224, 224]))
    globalThis.result = { milliseconds: performance.now(), first: [...output.data().slice(0, 3)] }`),
  '/ort.html': page(`
    import * as ort from '/ort/ort.wasm.min.mjs'
    ort.env.wasm.numThreads = 1
    ort.env.wasm.wasmPaths = '/ort/'
    const session = await ort.InferenceSession.create('/model.onnx', { executionProviders: ['wasm'] })
    const { output } = await session.run({ input: new ort.Tensor('float32', ${input}, [1, 3, 224, 224]) })
    globalThis.result = { milliseconds: performance.now(), first: [...output.data.slice(0, 3)] }`),
}

/** What is sent, made once: a server has it compressed. */
const answers = new Map()
function answerTo(path) {
  if (!answers.has(path)) answers.set(path, made(path))
  return answers.get(path)
}
function made(path) {
  if (PAGES[path] !== undefined) return packed(Buffer.from(PAGES[path]), 'text/html')
  if (path === '/model.ptl')
    return { bytes: readFileSync(modelPath(options.model, 'traced.ptl')), headers: { 'content-type': 'application/octet-stream' } }
  if (path === '/model.onnx')
    return { bytes: readFileSync(modelPath(options.model, 'onnx')), headers: { 'content-type': 'application/octet-stream' } }
  const prefix = Object.keys(PREFIXES).find((start) => path.startsWith(start))
  if (prefix === undefined || path.includes('..')) return undefined
  return packed(readFileSync(join(PREFIXES[prefix], path.slice(prefix.length))), TYPES[extname(path)])
}
const packed = (bytes, type) => ({ bytes: gzipSync(bytes, { level: 9 }), headers: { 'content-type': type, 'content-encoding': 'gzip' } })

let sent = 0
const server = createServer(({ url }, response) => {
  let answer
  try {
    answer = answerTo(new URL(url, 'http://localhost').pathname)
  } catch {
    answer = undefined
  }
  if (answer === undefined) return response.writeHead(404).end()
  sent += answer.bytes.length
  response.writeHead(200, { ...answer.headers, 'content-length': answer.bytes.length, 'cache-control': 'max-age=3600' }).end(answer.bytes)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = `http://localhost:${server.address().port}`

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Milliseconds, on machines with other work. */
const PATIENCE = 180_000
/** What a browser does for itself at its start, such as its own first page, takes the processors for some time. */
const SETTLING = 1500

/** Milliseconds until the first result, and bytes that were sent, of a browser that has never been there. */
async function visit(path, slow) {
  const browser = await chromium.launch({
    executablePath: process.env.PTLITE_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    timeout: PATIENCE,
  })
  try {
    const tab = await browser.newPage()
    await new Promise((resolve) => setTimeout(resolve, SETTLING))
    tab.on('pageerror', (error) => console.error(`${path}: ${error.message}`))
    if (slow) {
      const session = await tab.context().newCDPSession(tab)
      const rate = (Number(options.megabits) * 1e6) / 8
      await session.send('Network.enable')
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: Number(options.latency),
        downloadThroughput: rate,
        uploadThroughput: rate,
      })
    }
    sent = 0
    await tab.goto(address + path, { timeout: PATIENCE })
    const handle = await tab.waitForFunction('globalThis.result', undefined, { timeout: PATIENCE })
    return { ...(await handle.jsonValue()), bytes: sent }
  } finally {
    await browser.close()
  }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

console.log(`${options.model}, ${options.rounds} visits each, Chromium with an empty profile; onnxruntime-web with 1 thread\n`)
console.log('| network | ptlite/web, ms | onnxruntime-web, ms | ratio | ptlite/web, MB | onnxruntime-web, MB |')
console.log('|---|---:|---:|---:|---:|---:|')
for (const slow of [false, true]) {
  const visits = { '/ptlite.html': [], '/ort.html': [] }
  for (let round = 0; round < Number(options.rounds); round++)
    for (const path of Object.keys(visits)) visits[path].push(await visit(path, slow))
  const [ours, theirs] = Object.values(visits)
  if (Math.abs(ours[0].first[0] - theirs[0].first[0]) > 1e-3) throw new Error('the results differ')
  const [a, b] = [ours, theirs].map((list) => median(list.map(({ milliseconds }) => milliseconds)))
  const [m, n] = [ours, theirs].map((list) => (median(list.map(({ bytes }) => bytes)) / 1e6).toFixed(1))
  const name = slow ? `${options.megabits} Mbit/s, ${options.latency} ms` : 'this machine'
  console.log(`| ${name} | ${a.toFixed(0)} | ${b.toFixed(0)} | ${(a / b).toFixed(2)}× | ${m} | ${n} |`)
}
server.closeAllConnections()
server.close()
