// Times a cold page: from its address to the first result of a network, with ptlite/web and with onnxruntime-web (WebAssembly, 1 thread), each in Chromium with
// an empty profile, served by the same server, with and without a slow network. The two take turns. Prints medians in Markdown.
//
//   node web-page.mjs [--model mobilenet_v2] [--rounds 7] [--megabits 20] [--latency 20]
//
// Code is sent as a server compresses it (gzip), models as they are. `PTLITE_CHROMIUM` names a Chromium where it is not /usr/bin/chromium (lib/pages.mjs).
import { parseArgs } from 'node:util'
import { median } from './lib/compare.mjs'
import { modelPath } from './lib/models.mjs'
import { openBrowser, pageOf, PATIENCE, servePages } from './lib/pages.mjs'

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'mobilenet_v2' },
    rounds: { type: 'string', default: '7' },
    megabits: { type: 'string', default: '20' },
    latency: { type: 'string', default: '20' },
  },
})
const input = `new Float32Array(3 * 224 * 224).fill(0.5)`
const pages = {
  '/ptlite.html': pageOf(`
    import { loadModule, tensor } from '/ptlite/web.js'
    const module = await loadModule('/model.ptl')
    const output = module.forward(tensor(${input}, [1, 3, 224, 224]))
    globalThis.result = { milliseconds: performance.now(), first: [...output.data().slice(0, 3)] }`),
  '/ort.html': pageOf(`
    import * as ort from '/ort/ort.wasm.min.mjs'
    ort.env.wasm.numThreads = 1
    ort.env.wasm.wasmPaths = '/ort/'
    const session = await ort.InferenceSession.create('/model.onnx', { executionProviders: ['wasm'] })
    const { output } = await session.run({ input: new ort.Tensor('float32', ${input}, [1, 3, 224, 224]) })
    globalThis.result = { milliseconds: performance.now(), first: [...output.data.slice(0, 3)] }`),
}

const files = { '/model.ptl': modelPath(options.model, 'traced.ptl'), '/model.onnx': modelPath(options.model, 'onnx') }
const served = await servePages({ pages, fileOf: (path) => files[path] })

/** Milliseconds until the first result, and bytes that were sent, of a browser that has never been there. */
async function visit(path, slow) {
  const { browser, tab } = await openBrowser()
  try {
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
    const before = served.sent
    await tab.goto(served.address + path, { timeout: PATIENCE })
    const handle = await tab.waitForFunction('globalThis.result', undefined, { timeout: PATIENCE })
    return { ...(await handle.jsonValue()), bytes: served.sent - before }
  } finally {
    await browser.close()
  }
}

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
served.close()
