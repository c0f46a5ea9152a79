// Times `generate` with a language model of SmolLM2-135M's sizes and random weights. All take turns, round by round, in one process; medians, in Markdown:
//
//   formats   tokens a second, milliseconds to the first one, and processor time, which other programs change least, in each format of weights: `generate`, a bare loop of
//             calls, llama.cpp and transformers.js with as many bits
//   loop      how long the event loop waits meanwhile, beside a process that does nothing
//   drafts    what guesses from the prompt gain
//   together  eight texts at a time of a model whose batch is free, beside one
//
//   node generate.mjs [--what formats,loop,drafts,together] [--formats float32,float16,int8,int4] [--threads 2] [--rounds 7] [--prompt 64] [--tokens 24] [--layers 30]
//                     [--peers FOLDER] [--python PATH] [--models FOLDER] [--json FILE]
//
// models/generation_model.py makes the models, once, with PyTorch and transformers, and those of the peers with the packages gguf, onnx and onnxruntime. --peers is a folder in whose
// node_modules node-llama-cpp and @huggingface/transformers are installed (they are no dependencies: their binaries take hundreds of megabytes); what is missing is left out.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { cpu, generate, loadModule, loadTokenizer, openSession, setNumThreads, tensor } from '../dist/index.js'
import { median } from './lib/compare.mjs'

const { values: options } = parseArgs({
  options: {
    what: { type: 'string', default: 'formats,loop,drafts,together' },
    formats: { type: 'string', default: 'float32,float16,int8,int4' },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '7' },
    prompt: { type: 'string', default: '64' },
    tokens: { type: 'string', default: '24' },
    layers: { type: 'string', default: '30' },
    peers: { type: 'string' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    models: { type: 'string', default: fileURLToPath(new URL('models/out/generation/', import.meta.url)) },
    json: { type: 'string' },
  },
})
const [THREADS, ROUNDS, PROMPT, TOKENS] = [options.threads, options.rounds, options.prompt, options.tokens].map(Number)
const WHAT = options.what.split(',')
/** What `generate` loads, and the files of llama.cpp and transformers.js with as many bits. */
const FORMATS = { float32: ['F32', 'fp32'], float16: ['F16', null], int8: ['Q8_0', 'q8'], int4: ['Q4_0', 'q4'] }

/** Milliseconds between two turns. */
const REST = 50

const folder = join(options.models, options.layers)
if (!existsSync(join(folder, 'lm-rows.pt2'))) {
  console.error('making the models (once)')
  const script = fileURLToPath(new URL('models/generation_model.py', import.meta.url))
  execFileSync(options.python, [script, folder, '--layers', options.layers], { stdio: ['ignore', 2, 2] })
}

const at = (all, share) => all.toSorted((a, b) => a - b)[Math.floor(share * (all.length - 1))] ?? NaN
const cells = (...all) => console.log(`| ${all.join(' | ')} |`)
const results = {}

/** Another prompt each time, so that nobody may have kept it. */
let asked = 0
function nextPrompt(count = PROMPT) {
  asked++
  return Array.from({ length: count }, (_, i) => 300 + ((7919 * (i + 1) + 104729 * asked) % 700))
}

/** Milliseconds of processor time of this thread. */
const ownTime = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6

/** Milliseconds that have passed, and those of processors that all threads of this process have had, and this one. */
const clock = () => {
  const { user, system } = process.cpuUsage()
  return { wall: performance.now(), processor: (user + system) / 1000, own: ownTime() }
}

/** Milliseconds to the first token and of each that follows, and processor time of these. */
function spans(start, [begin, ...others]) {
  const last = others.at(-1)
  const of = (what) => [begin[what] - start[what], (last[what] - begin[what]) / others.length]
  const [[first, each], [processorFirst, processor], [, own]] = ['wall', 'processor', 'own'].map(of)
  return { first, each, processorFirst, processor, own }
}

async function timed(tokens, count) {
  const start = clock()
  const found = []
  for await (const _ of tokens) {
    found.push(clock())
    if (found.length === count) break
  }
  if (found.length < count) throw new Error(`${found.length} tokens instead of ${count}`)
  return spans(start, found)
}

const weightsOf = (format) => (format === 'float32' ? {} : { weights: format })

async function ptlite(format) {
  const model = await loadModule(join(folder, 'lm-buffers.pt2'), weightsOf(format))
  const call = async (ids, from) => {
    const args = [tensor(BigInt64Array.from(ids, BigInt), [1, ids.length]), tensor(BigInt64Array.from(ids, (_, i) => BigInt(from + i)))]
    const logits = await model.run('forward', args)
    const last = logits.select(1, ids.length - 1)
    const best = last.argmax()
    const token = Number(best.item())
    for (const each of [...args, best, last, logits]) each.dispose()
    return token
  }
  async function* loop(prompt) {
    let token = await call(prompt, 0)
    for (let from = prompt.length; ; from++) {
      yield token
      token = await call([token], from)
    }
  }
  return [
    { name: 'generate', run: () => timed(generate(model, nextPrompt(), { maxTokens: TOKENS }), TOKENS) },
    { name: 'bare loop of run()', run: () => timed(loop(nextPrompt()), TOKENS), close: () => model.dispose() },
  ]
}

/** A package in --peers, or null. */
async function peer(name) {
  if (options.peers === undefined) return null
  try {
    return await import(pathToFileURL(createRequire(join(resolve(options.peers), 'package.json')).resolve(name)).href)
  } catch (error) {
    console.error(`${name} is left out: ${error.message.split('\n')[0]}`)
    return null
  }
}

async function llamaCpp(kind) {
  const path = join(folder, `lm-${kind}.gguf`)
  const library = existsSync(path) ? await peer('node-llama-cpp') : null
  if (library === null) return null
  const llama = await library.getLlama({ gpu: false, build: 'never', maxThreads: THREADS, logLevel: 'error' })
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 })
  const context = await model.createContext({ contextSize: 512, batchSize: 512, threads: { ideal: THREADS, min: THREADS } })
  const sequence = context.getSequence()
  return {
    name: `node-llama-cpp, ${kind}`,
    async run() {
      await sequence.clearHistory()
      return timed(sequence.evaluate(nextPrompt(), { temperature: 0, yieldEogToken: true }), TOKENS)
    },
    close: async () => (await context.dispose(), await model.dispose(), await llama.dispose()),
  }
}

async function transformersJs(dtype) {
  const library = dtype !== null && existsSync(join(folder, 'onnx')) ? await peer('@huggingface/transformers') : null
  if (library === null) return null
  Object.assign(library.env, { allowRemoteModels: false, localModelPath: `${resolve(folder)}/` })
  const model = await library.AutoModelForCausalLM.from_pretrained('onnx', {
    dtype,
    device: 'cpu',
    session_options: { intraOpNumThreads: THREADS, interOpNumThreads: 1 },
  })
  return {
    name: `transformers.js, ${dtype}`,
    async run() {
      const ids = nextPrompt()
      const of = (all) => new library.Tensor('int64', BigInt64Array.from(all, BigInt), [1, all.length])
      const times = []
      const streamer = { put: () => times.push(clock()), end() {} }
      const start = clock()
      await model.generate({
        ...{ input_ids: of(ids), attention_mask: of(ids.map(() => 1)) },
        ...{ max_new_tokens: TOKENS, min_new_tokens: TOKENS, do_sample: false, streamer },
      })
      // the streamer gets the prompt first
      return spans(start, times.slice(-TOKENS))
    },
    close: () => model.dispose(),
  }
}

async function formats() {
  const columns = ['tokens/s', 'first token, ms', 'processor time of a token, ms', "of it the main thread's", 'of the first, ms']
  cells('weights', '', ...columns, 'time of a token: generate to this', 'processor time', 'of the first')
  cells('---', '---', ...Array(8).fill('---:'))
  results.formats = []
  for (const format of options.formats.split(',')) {
    const [gguf, dtype] = FORMATS[format]
    const subjects = [...(await ptlite(format)), await llamaCpp(gguf), await transformersJs(dtype)].filter((each) => each !== null)
    const times = subjects.map(() => [])
    for (let round = -1; round < ROUNDS; round++)
      // whoever follows another one finds caches and processors as that one left them: the order turns round
      for (const [i, subject] of round % 2 === 0 ? subjects.entries() : [...subjects.entries()].reverse()) {
        // threads of the one before may still look for work
        await pause(REST)
        const found = await subject.run()
        if (round >= 0) times[i].push(found)
      }
    for (const [i, { name }] of subjects.entries()) {
      const of = (what) => median(times[i].map((each) => each[what]))
      // of each round, in which they ran one after the other
      const ratio = (what) => median(times[0].map((own, round) => own[what] / times[i][round][what]))
      const row = { format, name }
      const spans = ['each', 'first', 'processor', 'own', 'processorFirst']
      for (const what of spans) Object.assign(row, { [what]: of(what), [`${what}Ratio`]: ratio(what) })
      const ratios = [row.eachRatio, row.processorRatio, row.processorFirstRatio].map((each) => each.toFixed(2))
      const milliseconds = [row.first.toFixed(0), row.processor.toFixed(1), row.own.toFixed(2), row.processorFirst.toFixed(0)]
      cells(format, name, (1000 / row.each).toFixed(1), ...milliseconds, ...ratios)
      results.formats.push(row)
    }
    for (const { close } of subjects.toReversed()) await close?.()
  }
}

/** How late a timer of a millisecond fires while `work` runs, and how long this thread worked between two of these. */
async function delays(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const busy = []
  let before = ownTime()
  const timer = setInterval(() => {
    const now = ownTime()
    busy.push(now - before)
    before = now
  }, 1)
  delay.enable()
  await pause(5)
  await work()
  await pause(5)
  delay.disable()
  clearInterval(timer)
  return { p99: Math.max(0, delay.percentile(99) / 1e6 - 1), most: delay.max / 1e6 - 1, work: at(busy, 0.99) }
}

async function loop() {
  const model = await loadModule(join(folder, 'lm-buffers.pt2'), weightsOf('int8'))
  const run = async (extra) => {
    for (let i = 0; i < 3; i++) for await (const _ of generate(model, nextPrompt(), { maxTokens: TOKENS, ...extra }));
  }
  await run({})
  const tries = {
    nothing: () => pause(2000),
    generate: () => run({}),
    'generate, drawing with topP and topK': () => run({ temperature: 0.8, topP: 0.9, topK: 50, seed: 1 }),
  }
  cells('', 'event loop p99, ms', 'most, ms', "processor time of the loop's thread in a turn, p99, ms")
  cells('---', '---:', '---:', '---:')
  const found = Object.fromEntries(Object.keys(tries).map((name) => [name, []]))
  for (let round = 0; round < Math.min(ROUNDS, 5); round++)
    for (const [name, work] of Object.entries(tries)) found[name].push(await delays(work))
  for (const [name, all] of Object.entries(found)) {
    const [p99, most, work] = ['p99', 'most', 'work'].map((what) => median(all.map((each) => each[what])).toFixed(2))
    cells(name, p99, most, work)
  }
  results.loop = found
  model.dispose()
}

/** Milliseconds of a generation of so many tokens, without its first, and the share of guessed ones. */
async function guessed(model, prompt, count, extra) {
  const generation = generate(model, prompt, { maxTokens: count, ...extra })
  const { each } = await timed(generation, count)
  return { each, accepted: generation.usage.acceptedTokens / count }
}

async function drafts() {
  const chat = fileURLToPath(new URL('../examples/chat/', import.meta.url))
  const read = (name) => JSON.parse(readFileSync(join(chat, name), 'utf8'))
  const tokenizer = await loadTokenizer({ tokenizer: read('tokenizer.json'), config: read('tokenizer_config.json') })
  const story = 'Tell me a story about an owl.'
  const talk = tokenizer.chat([{ role: 'user', content: story }])
  const small = await loadModule(join(chat, 'model.pt2'))
  const large = await loadModule(join(folder, 'lm-rows.pt2'))
  let told = ''
  for await (const { text } of generate(small, talk, { tokenizer, stop: tokenizer.endTokens, maxTokens: 96 })) told += text
  const again = tokenizer.chat([
    { role: 'user', content: story },
    { role: 'assistant', content: told },
    { role: 'user', content: story },
  ])
  // a text that says again what it said eight tokens before, whatever the model would say: all guesses are right
  const repeat = { logits: (values, tokens) => (values[tokens.at(-8)] = 1e6) }
  const cases = [
    ['examples/chat, a story again', small, () => again, 48, {}],
    ['examples/chat, a story', small, () => talk, 48, {}],
    ['random weights, a text that is made to repeat itself', large, () => nextPrompt(), TOKENS, repeat],
  ]
  cells('model', 'tokens/s without', 'with', 'times', 'of them guessed')
  cells('---', '---:', '---:', '---:', '---:')
  results.drafts = []
  for (const [name, model, prompt, count, extra] of cases) {
    const [without, withDraft] = [[], []]
    for (let round = -1; round < ROUNDS; round++) {
      const ids = prompt()
      const [plain, own] = [await guessed(model, ids, count, extra), await guessed(model, ids, count, { ...extra, draft: 'prompt' })]
      if (round >= 0) without.push(plain) && withDraft.push(own)
    }
    const [plain, own] = [without, withDraft].map((all) => median(all.map(({ each }) => each)))
    const times = median(without.map(({ each }, i) => each / withDraft[i].each))
    const accepted = median(withDraft.map((each) => each.accepted))
    cells(name, (1000 / plain).toFixed(1), (1000 / own).toFixed(1), times.toFixed(2), `${(100 * accepted).toFixed(0)} %`)
    results.drafts.push({ name, plain, own, times, accepted })
  }
  for (const model of [small, large]) model.dispose()
}

async function together() {
  cells('weights', 'one text, tokens/s', 'eight texts', 'times')
  cells('---', '---:', '---:', '---:')
  results.together = []
  for (const format of options.formats.split(',')) {
    const model = await loadModule(join(folder, 'lm-rows.pt2'), weightsOf(format))
    const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(model)))
    const rate = async (count) => {
      const each = await Promise.all(
        sessions.slice(0, count).map(async (session) => timed(session.generate(nextPrompt(16), { maxTokens: TOKENS }), TOKENS)),
      )
      return each.reduce((sum, { each: ms }) => sum + 1000 / ms, 0)
    }
    const [one, eight] = [[], []]
    for (let round = -1; round < Math.min(ROUNDS, 5); round++) {
      const found = [await rate(1), await rate(8)]
      if (round >= 0) one.push(found[0]) && eight.push(found[1])
    }
    const times = median(eight.map((each, i) => each / one[i]))
    cells(format, median(one).toFixed(1), median(eight).toFixed(1), times.toFixed(2))
    results.together.push({ format, one: median(one), eight: median(eight), times })
    for (const session of sessions) session.dispose()
    model.dispose()
  }
}

setNumThreads(THREADS)
console.log(
  `${cpus()[0].model}, kernels at ${cpu.currentLevel()}, ${THREADS} threads; ${options.layers} layers, prompts of ${PROMPT} tokens, ${TOKENS} follow; medians of ${ROUNDS}\n`,
)
for (const [name, measure] of Object.entries({ formats, loop, drafts, together })) {
  if (!WHAT.includes(name)) continue
  await measure()
  console.log()
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`)
process.exit()
