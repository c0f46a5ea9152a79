// Times ptlite/web beside onnxruntime-web in one page of Chromium: they take turns, round by round, with the same input. Prints medians in Markdown, with the
// geometric mean of the ratios.
//
//   node web-chromium.mjs [--models mobilenet_v2,mlp] [--seconds 6] [--rounds 5] [--threads 2]
import { parseArgs } from 'node:util'
import { compare, geometricMean, relativeError } from './lib/compare.mjs'
import { modelPath, WEB_MODELS } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'
import { openBrowser, openFacts, pageOf, servePages } from './lib/pages.mjs'

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: WEB_MODELS.join() },
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '1' },
  },
})
const [rounds, threads] = [Number(options.rounds), Number(options.threads)]

/** Milliseconds of `runs` calls each: of so many together that the clock of a page can tell them. */
const TIME = `async (call, runs) => {
    const LEAST = 2
    const some = async (count) => {
      const begin = performance.now()
      for (let i = 0; i < count; i++) await call()
      return performance.now() - begin
    }
    const together = Math.min(runs, Math.max(1, Math.ceil(LEAST / (await some(Math.min(runs, 3)) / Math.min(runs, 3) + 0.001))))
    const times = []
    for (let left = runs; left > 0; left -= together) times.push((await some(together)) / together)
    return times
  }`
const PAGE = pageOf(`
    import * as web from '/ptlite/web.js'
    import * as ort from '/ort/ort.wasm.min.mjs'
    ort.env.wasm.numThreads = ${threads}
    ort.env.wasm.wasmPaths = '/ort/'
    ort.env.logLevel = 'error'
    web.setNumThreads(${threads})
    await web.ready()
    const time = ${TIME}
    const dataOf = (dtype, numbers) => (dtype === 'int64' ? BigInt64Array.from(numbers, BigInt) : Float32Array.from(numbers))
    let module, input, session, feeds
    globalThis.ptlite = {
      async load(model, dtype, shape, numbers) {
        module?.dispose()
        module = await web.loadModule('/' + model + '.ptl', { compile: 'eager' })
        input = web.Tensor.fromStorage(dataOf(dtype, numbers), { dtype, shape })
        return [...module.forward(input).data()]
      },
      time: (runs) => time(() => module.forward(input).dispose(), runs),
    }
    globalThis.onnxruntime = {
      async load(model, dtype, shape, numbers) {
        await session?.release()
        session = undefined
        session = await ort.InferenceSession.create('/' + model + '.onnx', { executionProviders: ['wasm'], logSeverityLevel: 3 })
        feeds = { input: new ort.Tensor(dtype, dataOf(dtype, numbers), shape) }
        return [...(await session.run(feeds)).output.data]
      },
      time: (runs) => time(() => session.run(feeds), runs),
    }
    globalThis.facts = { threads: web.getNumThreads(), level: web.cpu.currentLevel(), version: ort.env.versions.web }`)

/** A library of the page, as `compare` has runtimes. */
class PagePeer {
  constructor(name, tab, object) {
    Object.assign(this, { name, tab, object })
  }

  load(model, { dtype, shape, data }) {
    const text = JSON.stringify([model, dtype, shape, Array.from(data, Number)])
    return this.tab.evaluate(`${this.object}.load(...${text})`)
  }

  time(runs) {
    return this.tab.evaluate(`${this.object}.time(${runs})`)
  }
}

const served = await servePages({
  pages: { '/': PAGE },
  fileOf: (path) => {
    const [, model, kind] = /^\/(\w+)\.(ptl|onnx)$/.exec(path) ?? []
    return model === undefined ? undefined : modelPath(model, kind === 'ptl' ? 'traced.ptl' : 'onnx')
  },
  // clocks are coarser in other pages, and onnxruntime-web took 2.5 times as long there
  isolated: true,
})
const { browser, tab } = await openBrowser()
try {
  const facts = await openFacts(tab, served.address, threads)
  const count = threads === 1 ? '1 thread' : `${threads} threads`
  console.log(`Chromium ${browser.version()}, kernels for ${facts.level}, onnxruntime-web ${facts.version}, ${count}, medians in ms\n`)
  console.log('| network | ptlite/web | onnxruntime-web | ratio | difference |')
  console.log('|---|---:|---:|---:|---:|')
  const [ours, theirs] = [new PagePeer('ptlite/web', tab, 'ptlite'), new PagePeer('onnxruntime-web', tab, 'onnxruntime')]
  const ratios = []
  for (const model of options.models.split(',')) {
    const input = readNpy(modelPath(model, 'npy'))
    const outputs = [await ours.load(model, input), await theirs.load(model, input)]
    const times = await compare([ours, theirs], { rounds, milliseconds: (1000 * Number(options.seconds)) / rounds })
    const [a, b] = [ours, theirs].map(({ name }) => times[name].median)
    ratios.push(a / b)
    const cells = [a, b].map((ms) => String(Number(ms.toPrecision(3))))
    console.log(`| ${model} | ${cells.join(' | ')} | ${(a / b).toFixed(2)}× | ${relativeError(...outputs).toExponential(1)} |`)
  }
  console.log(`\ngeometric mean: ${geometricMean(ratios).toFixed(2)}×`)
} finally {
  await browser.close()
  served.close()
}
