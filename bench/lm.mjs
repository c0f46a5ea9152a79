// Times a language model of SmolLM2-135M's sizes with random weights: a token after 64 others, and a prompt of 256, with float32 weights and with `weights` of each
// format, beside llama.cpp with the same weights in F32, F16, Q8_0 and Q4_0. All take turns, round by round, in one process. Prints Markdown, and the bandwidth
// that sums over a large tensor reach: of few rows, products take as long as it takes to read their weights.
//
//   node lm.mjs [--layers 30] [--threads 1,2] [--rounds 9] [--minimum] [--python PATH] [--llama FOLDER] [--models FOLDER] [--json FILE]
//
// models/language_model.py makes the models, with PyTorch, and, with the package gguf, those of llama.cpp. --llama is a folder in whose node_modules node-llama-cpp is
// installed (it is no dependency: its binaries take 100 MB); without it llama.cpp is left out. --minimum prints the fastest runs in place of medians: for machines with
// other work.
import { execFileSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { callOperator, cpu, loadModule, setNumThreads, tensor } from '../dist/index.js'

const { values: options } = parseArgs({
  options: {
    layers: { type: 'string', default: '30' },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '9' },
    minimum: { type: 'boolean', default: false },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    llama: { type: 'string' },
    models: { type: 'string', default: fileURLToPath(new URL('models/out/lm/', import.meta.url)) },
    json: { type: 'string' },
  },
})
const [VOCABULARY, KEY_HEADS, SIZE, PAST, PROMPT] = [49152, 3, 64, 64, 256]
const LAYERS = Number(options.layers)
const FORMATS = [
  ['float32', {}, 'F32'],
  ['bfloat16', { weights: 'bfloat16' }, null],
  ['float16', { weights: 'float16' }, 'F16'],
  ['int8', { weights: 'int8' }, 'Q8_0'],
  ['int4', { weights: 'int4' }, 'Q4_0'],
]

const folder = join(options.models, options.layers)
if (!existsSync(join(folder, 'lm.ptl'))) {
  console.error('making the models (once)')
  const script = fileURLToPath(new URL('models/language_model.py', import.meta.url))
  execFileSync(options.python, [script, folder, '--layers', options.layers], { stdio: ['ignore', 2, 2] })
}

/** `count` tokens after `past` others. */
function call(count, past) {
  const ids = Array.from({ length: count }, (_, i) => BigInt((7919 * (i + 1)) % VOCABULARY))
  const cache = () => {
    const data = Float32Array.from({ length: LAYERS * KEY_HEADS * past * SIZE }, (_, i) => Math.sin(i))
    return tensor(data, [LAYERS, 1, KEY_HEADS, past, SIZE])
  }
  const positions = Array.from({ length: count }, (_, i) => BigInt(past + i))
  return [tensor(BigInt64Array.from(ids), [1, count]), tensor(BigInt64Array.from(positions), [count]), cache(), cache()]
}

const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
const statistic = options.minimum ? (times) => Math.min(...times) : median

/** Gigabytes a second that sums over a tensor of 256 MB read. */
function bandwidth() {
  const large = callOperator('aten::ones', [[1 << 26]])
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now()
    callOperator('aten::sum', [large]).dispose()
    return performance.now() - start
  })
  large.dispose()
  return (4 * 2 ** 26) / Math.min(...times) / 1e6
}

async function ptlite(name, load) {
  const model = await loadModule(join(folder, 'lm.ptl'), load)
  const [token, prompt] = [call(1, PAST), call(PROMPT, 0)]
  const run = (args) => model.forward(...args).forEach((t) => t.dispose())
  for (const args of [token, prompt]) for (let i = 0; i < 3; i++) run(args)
  return { name, peer: 'ptlite', token: () => run(token), prompt: () => run(prompt), close: () => model.dispose() }
}

async function llamaCpp(kind, threads) {
  const path = join(folder, `lm-${kind}.gguf`)
  if (options.llama === undefined || !existsSync(path)) return null
  const entry = createRequire(join(resolve(options.llama), 'package.json')).resolve('node-llama-cpp')
  const { getLlama } = await import(pathToFileURL(entry).href)
  const llama = await getLlama({ gpu: false, build: 'never', maxThreads: threads, logLevel: 'error' })
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 })
  const context = await model.createContext({
    contextSize: 512,
    batchSize: PROMPT,
    threads: { ideal: threads, min: threads },
    flashAttention: false,
  })
  const sequence = context.getSequence()
  const ids = (count) => Array.from({ length: count }, (_, i) => (7919 * (i + 1)) % VOCABULARY)
  const evaluate = async (tokens) => {
    for await (const token of sequence.evaluate(tokens, { temperature: 0 })) return token
  }
  const token = async () => {
    // one position after 64 others, as ptlite's
    if (sequence.nextTokenIndex !== PAST) {
      await sequence.clearHistory()
      await sequence.evaluateWithoutGeneratingNewTokens(ids(PAST))
    }
    const start = performance.now()
    await evaluate([17])
    const time = performance.now() - start
    await sequence.eraseContextTokenRanges([{ start: PAST, end: sequence.nextTokenIndex }])
    return time
  }
  const prompt = async () => {
    await sequence.clearHistory()
    const start = performance.now()
    await evaluate(ids(PROMPT))
    return performance.now() - start
  }
  await token()
  return {
    name: kind,
    peer: 'llama.cpp',
    token,
    prompt,
    close: async () => (await context.dispose(), await model.dispose(), await llama.dispose()),
  }
}

/** What takes turns at one number of threads, with the times of a token and a prompt. */
async function measure(threads) {
  setNumThreads(threads)
  const found = []
  for (const [name, load, kind] of FORMATS) {
    for (const subject of [await ptlite(name, load), kind === null ? null : await llamaCpp(kind, threads)]) {
      if (subject === null) continue
      const times = { token: [], prompt: [] }
      for (let round = 0; round < Number(options.rounds); round++) {
        for (const [what, runs] of [
          ['token', 10],
          ['prompt', 1],
        ]) {
          for (let i = 0; i < runs; i++) {
            const start = performance.now()
            const own = await subject[what]()
            times[what].push(own ?? performance.now() - start)
          }
        }
      }
      await subject.close()
      const { peer } = subject
      found.push({ threads, peer, name: subject.name, format: name, token: statistic(times.token), prompt: statistic(times.prompt) })
    }
  }
  return found
}

console.log(`${cpus()[0].model}, kernels at ${cpu.currentLevel()}; ${LAYERS} layers, ${options.minimum ? 'fastest runs' : 'medians'}, ms\n`)
const rows = []
for (const threads of options.threads.split(',').map(Number)) {
  setNumThreads(threads)
  console.log(
    `${threads} threads, sums read ${bandwidth().toFixed(1)} GB/s\n\n| | token | GB/s of weights | prompt of ${PROMPT} |\n| --- | ---: | ---: | ---: |`,
  )
  for (const row of await measure(threads)) {
    rows.push(row)
    const { layers, bits } = { layers: LAYERS, bits: { float32: 32, bfloat16: 16, float16: 16, int8: 8, int4: 4.5 }[row.format] }
    const bytes = ((VOCABULARY * 576 + layers * 576 * (2 * 576 + 2 * 192 + 3 * 1536)) * bits) / 8
    console.log(
      `| ${row.peer} ${row.name} | ${row.token.toFixed(2)} | ${(bytes / row.token / 1e6).toFixed(1)} | ${row.prompt.toFixed(0)} |`,
    )
  }
  console.log()
}
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ file: statSync(join(folder, 'lm.ptl')).size, rows }, null, 1)}\n`)
