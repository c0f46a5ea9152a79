// Times `generate` of ptlite/web beside transformers.js (onnxruntime-web, WebAssembly) in one page of Chromium: they take turns, round by round, with the same prompts for a model of
// SmolLM2-135M's sizes and random weights. Prints medians in Markdown.
//
//   node generate-web.mjs --peers FOLDER [--formats int4,int8] [--threads 1] [--rounds 5] [--prompt 64] [--tokens 24] [--layers 30] [--models FOLDER]
//
// generate.mjs makes the models. --peers is a folder in whose node_modules @huggingface/transformers is installed. The model of ptlite is what `ptlite convert --weights` makes of it.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, normalize, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { median } from './lib/compare.mjs'
import { openBrowser, openFacts, pageOf, servePages } from './lib/pages.mjs'

const { values: options } = parseArgs({
  options: {
    peers: { type: 'string' },
    formats: { type: 'string', default: 'int4,int8' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    prompt: { type: 'string', default: '64' },
    tokens: { type: 'string', default: '24' },
    layers: { type: 'string', default: '30' },
    models: { type: 'string', default: fileURLToPath(new URL('models/out/generation/', import.meta.url)) },
  },
})
if (options.peers === undefined) throw new Error('--peers is needed: a folder in whose node_modules @huggingface/transformers is installed')
const [threads, rounds, length, count] = ['threads', 'rounds', 'prompt', 'tokens'].map((name) => Number(options[name]))
const folder = resolve(options.models, options.layers)
const packages = resolve(options.peers, 'node_modules')
/** What transformers.js calls as many bits. */
const DTYPES = { int4: 'q4', int8: 'q8', float32: 'fp32' }

const PAGE = pageOf(`
    import * as web from '/ptlite/web.js'
    import * as hf from '/packages/@huggingface/transformers/dist/transformers.min.js'
    web.setNumThreads(${threads})
    await web.ready()
    Object.assign(hf.env, { allowRemoteModels: false, allowLocalModels: true, localModelPath: '/models/', useBrowserCache: false })
    Object.assign(hf.env.backends.onnx.wasm, { wasmPaths: '/packages/onnxruntime-web/dist/', numThreads: ${threads} })
    const spans = (start, times) => ({ first: times[0] - start, each: (times.at(-1) - times[0]) / (times.length - 1) })
    let model, other
    globalThis.ptlite = {
      load: async (format) => void (model = await web.loadModule('/models/lm-' + format + '.ptl')),
      async time(ids) {
        const [start, times] = [performance.now(), []]
        for await (const _ of web.generate(model, ids, { maxTokens: ${count} })) times.push(performance.now())
        return spans(start, times)
      },
      close: () => model.dispose(),
    }
    globalThis.transformers = {
      load: async (_, dtype) => void (other = await hf.AutoModelForCausalLM.from_pretrained('onnx', { dtype, device: 'wasm' })),
      async time(ids) {
        const of = (all) => new hf.Tensor('int64', BigInt64Array.from(all, BigInt), [1, all.length])
        const times = []
        const streamer = { put: () => times.push(performance.now()), end() {} }
        const start = performance.now()
        const inputs = { input_ids: of(ids), attention_mask: of(ids.map(() => 1)) }
        await other.generate({ ...inputs, max_new_tokens: ${count}, min_new_tokens: ${count}, do_sample: false, streamer })
        // the streamer gets the prompt first
        return spans(start, times.slice(-${count}))
      },
      close: () => other.dispose(),
    }
    globalThis.facts = { threads: web.getNumThreads(), level: web.cpu.currentLevel(), version: hf.env.version }`)

for (const format of options.formats.split(',')) {
  const path = join(folder, `lm-${format}.ptl`)
  if (existsSync(path)) continue
  const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
  const weights = format === 'float32' ? [] : ['--weights', format]
  execFileSync(process.execPath, [cli, 'convert', join(folder, 'lm-buffers.pt2'), ...weights, '-o', path], { stdio: 'inherit' })
}
/** A file below a folder; undefined for others. */
const below = (root, path) => {
  const file = normalize(join(root, path))
  return file.startsWith(root) && existsSync(file) ? file : undefined
}
const served = await servePages({
  pages: { '/': PAGE },
  fileOf: (path) => {
    const [, root, rest] = /^\/(models|packages)\/(.*)$/.exec(path) ?? []
    return root === undefined ? undefined : below(root === 'models' ? folder : packages, rest)
  },
  isolated: true,
})
const { browser, tab } = await openBrowser()
try {
  const facts = await openFacts(tab, served.address, threads)
  console.log(
    `Chromium ${browser.version()}, kernels for ${facts.level}, transformers.js ${facts.version}, ${threads} threads; ${options.layers} layers, prompts of ${length} tokens, ${count} follow; medians of ${rounds}\n`,
  )
  console.log('| weights | | tokens/s | first token, ms | time of a token: ptlite/web to this | of the first |')
  console.log('|---|---|---:|---:|---:|---:|')
  let seed = 1
  const nextPrompt = () => Array.from({ length }, () => (seed = (seed * 48271) % 2147483647) % 49000)
  for (const format of options.formats.split(',')) {
    const subjects = [
      { name: '`generate`', object: 'ptlite', times: [] },
      { name: `transformers.js, ${DTYPES[format]}`, object: 'transformers', times: [] },
    ]
    for (const { object } of subjects) await tab.evaluate(`${object}.load(${JSON.stringify(format)}, ${JSON.stringify(DTYPES[format])})`)
    // plans are made in the first ones
    for (let round = -6; round < rounds; round++)
      for (const { object, times } of round % 2 === 0 ? subjects : subjects.toReversed()) {
        const found = await tab.evaluate(`${object}.time(${JSON.stringify(nextPrompt())})`)
        if (round >= 0) times.push(found)
      }
    for (const { name, times } of subjects) {
      const of = (what) => median(times.map((each) => each[what]))
      const ratio = (what) => median(subjects[0].times.map((own, round) => own[what] / times[round][what])).toFixed(2)
      console.log(
        `| ${format} | ${name} | ${(1000 / of('each')).toFixed(1)} | ${of('first').toFixed(0)} | ${ratio('each')} | ${ratio('first')} |`,
      )
    }
    for (const { object } of subjects) await tab.evaluate(`${object}.close()`)
  }
} finally {
  await browser.close()
  served.close()
}
