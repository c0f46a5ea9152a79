// A server's life in short: several lanes call mixed models with random arguments, synchronously, in the background and in workers that come
// and go; they load, compile and drop modules, abort runs and replace model files meanwhile. Outputs are never disposed. Every result is
// compared with one that was computed at the start, by the interpreter and by a plan.
//
// Exits 1 where a result is wrong, a call fails that should not, the resident set is not flat (the median of the last quarter of the time is
// more than 10 % above that of the quarter before), or handles, threads or open files are left at the end.
//
//   node bench/soak.mjs [--minutes 10] [--lanes 4] [--models NAME,NAME] [--seed 1]
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

// idle threads end within the time that is waited for them at the end, and come back in between
process.env.PTLITE_BACKGROUND_IDLE ??= '3000'
const { loadModule, memoryStats, setNumThreads, Tensor } = await import('../dist/index.js')

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    lanes: { type: 'string', default: '4' },
    models: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
  },
})
const duration = Number(options.minutes) * 60_000
/** Arguments of each model. */
const VARIANTS = 4
/** Of the largest value. */
const TOLERANCE = 1e-4
const MAX_GROWTH = 0.1
/** How long threads and handles may take to go. */
const PATIENCE = 15_000

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const library = here('../dist/index.cjs')
const folder = mkdtempSync(join(tmpdir(), 'ptlite-soak-'))

/** xorshift32. */
let randomState = Number(options.seed) || 1
function random() {
  randomState ^= randomState << 13
  randomState ^= randomState >>> 17
  randomState ^= randomState << 5
  return (randomState >>> 0) / 2 ** 32
}
const oneOf = (list) => list[Math.floor(random() * list.length)]

/** Float inputs anew; others, which may be indices, in another order. */
function variantOf({ dtype, shape, data }) {
  if (dtype === 'float32') return { dtype, shape, data: data.map((x) => x * (0.5 + random()) + 0.1 * (random() - 0.5)) }
  const other = data.slice()
  for (let i = other.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1))
    ;[other[i], other[k]] = [other[k], other[i]]
  }
  return { dtype, shape, data: other }
}

const arrays = { float32: Float32Array, int64: BigInt64Array }
const typed = (dtype, bytes) => new arrays[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))

/** The repository's networks, and those of ../shared where it is there: name, file and inputs. */
function candidates() {
  const found = []
  const fixtures = here('../test/fixtures/models/')
  for (const file of readdirSync(fixtures).filter((name) => /^[^.]+\.(ptl|ff)$/.test(name))) {
    const { inputs } = JSON.parse(readFileSync(join(fixtures, file.replace(/\..*/, '.json')), 'utf8'))
    const decoded = inputs.map(({ dtype, shape, data }) => ({ dtype, shape, data: typed(dtype, Buffer.from(data, 'base64')) }))
    found.push({ name: file, path: join(fixtures, file), inputs: decoded })
  }
  const shared = here('../../shared/models/')
  for (const name of existsSync(shared) ? readdirSync(shared) : []) {
    const about = join(shared, name, 'meta.json')
    if (!existsSync(about)) continue
    const { file, cases, deterministic } = JSON.parse(readFileSync(about, 'utf8'))
    const inputs = cases[0]?.inputs ?? []
    const isPlain = inputs.length > 0 && inputs.every((x) => x.tensor !== undefined && arrays[x.dtype] !== undefined && !x.strides)
    if (!deterministic || !isPlain || cases[0].method !== 'forward' || !/\.(ptl|ff)$/.test(file)) continue
    const decoded = inputs.map(({ tensor, dtype, shape }) => ({
      dtype,
      shape,
      data: typed(dtype, readFileSync(join(shared, name, tensor))),
    }))
    found.push({ name, path: join(shared, name, file), inputs: decoded })
  }
  const wanted = options.models.split(',').filter((name) => name !== '')
  return wanted.length === 0 ? found : found.filter(({ name }) => wanted.includes(name))
}

const tensorsOf = (inputs) => inputs.map(({ dtype, shape, data }) => Tensor.fromStorage(data, { dtype, shape }))

/** The numbers of a result: those of its tensors, one after the other. */
function numbersOf(output) {
  if (output instanceof Tensor) return [output.data()]
  if (output instanceof Map) return [...output.values()].flatMap(numbersOf)
  return Array.isArray(output) ? output.flatMap(numbersOf) : []
}

function agrees(found, expected) {
  if (found.length !== expected.length) return false
  return found.every((array, i) => {
    const other = expected[i]
    if (array.length !== other.length) return false
    let scale = 1e-6
    for (let k = 0; k < other.length; k++) if (Number.isFinite(Number(other[k]))) scale = Math.max(scale, Math.abs(Number(other[k])))
    for (let k = 0; k < other.length; k++) {
      if (!Object.is(array[k], other[k]) && !(Math.abs(Number(array[k]) - Number(other[k])) <= TOLERANCE * scale)) return false
    }
    return true
  })
}

/** A model with arguments and what it makes of them; null where it keeps state, or is not to be compared within the tolerance. */
async function prepare({ name, path, inputs }) {
  const copy = join(folder, name.includes('.') ? name : `${name}${path.slice(path.lastIndexOf('.'))}`)
  copyFileSync(path, copy)
  const modules = [await loadModule(copy, { compile: 'off', onWarning() {} }), await loadModule(copy, { compile: 'eager', onWarning() {} })]
  try {
    const variants = Array.from({ length: VARIANTS }, () => inputs.map(variantOf)).map((arguments_) => {
      const results = modules.flatMap((m) => [1, 2].map(() => numbersOf(m.forward(...tensorsOf(arguments_)))))
      return results.every((result) => agrees(result, results[1])) && results[0].length > 0 ? { inputs: arguments_, results } : null
    })
    return variants.includes(null) ? null : { name, original: path, path: copy, variants, module: null }
  } finally {
    for (const m of modules) m.dispose()
  }
}

const counts = {}
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1)
const faults = []
function fault(text) {
  faults.push(text)
  console.error(`FAULT: ${text}`)
}
function judge(model, variant, numbers, what) {
  count(what)
  if (!variant.results.some((result) => agrees(numbers, result))) fault(`${model.name}: a wrong result of ${what}`)
}

const workerCode = `
const { parentPort, workerData: { library, path, inputs, background } } = require('node:worker_threads')
const { loadModule, Tensor } = require(library)
const numbersOf = ${numbersOf}
loadModule(path, { onWarning() {} }).then(async (m) => {
  for (let i = 0; i < 3; i++) {
    const args = inputs.map(({ dtype, shape, data }) => Tensor.fromStorage(data, { dtype, shape }))
    parentPort.postMessage(numbersOf(background ? await m.run('forward', args) : m.forward(...args)))
  }
  if (workerData.exits) process.exit(0)
})
const { workerData } = require('node:worker_threads')
`

/** A worker that computes a few results and ends in one of three ways, leaving everything behind. */
function runWorker(model, variant) {
  const end = oneOf(['natural', 'exit', 'terminate', 'terminate early'])
  const stopAfter = 1 + Math.floor(random() * 3)
  let results = 0
  return new Promise((resolve) => {
    const worker = new Worker(workerCode, {
      eval: true,
      workerData: { library, path: model.path, inputs: variant.inputs, background: random() < 0.3, exits: end === 'exit' },
    })
    worker.on('message', (numbers) => {
      judge(model, variant, numbers, `a worker (${end})`)
      if (++results === stopAfter && end === 'terminate') void worker.terminate()
    })
    // at any moment from the start of the thread on
    if (end === 'terminate early') void setTimeout(100 * random()).then(() => worker.terminate())
    worker.on('error', (error) => fault(`${model.name}: a worker failed: ${error.stack}`))
    worker.on('exit', resolve)
  })
}

/** What a lane does next, as often as its first number says. */
const actions = [
  [30, (model, variant) => judge(model, variant, numbersOf(model.module.forward(...tensorsOf(variant.inputs))), 'forward()')],
  [30, async (model, variant) => judge(model, variant, numbersOf(await model.module.run('forward', tensorsOf(variant.inputs))), 'run()')],
  [
    10,
    async (model, variant) => {
      const controller = new AbortController()
      const timer = setTimeout(Math.floor(random() * 20)).then(() => controller.abort())
      try {
        judge(
          model,
          variant,
          numbersOf(await model.module.run('forward', tensorsOf(variant.inputs), { signal: controller.signal })),
          'run()',
        )
      } catch (error) {
        if (error.code !== 'ABORTED') throw error
        count('an aborted run')
      }
      await timer
    },
  ],
  [
    6,
    async (model, variant) => {
      const module = await loadModule(model.path, { compile: oneOf(['auto', 'off', 'eager']), onWarning() {} })
      for (let i = 0; i < 3; i++) {
        const arguments_ = tensorsOf(variant.inputs)
        const output = random() < 0.5 ? module.forward(...arguments_) : await module.run('forward', arguments_)
        judge(model, variant, numbersOf(output), 'another module')
      }
      module.dispose()
    },
  ],
  [3, (model, variant) => model.module.compile('forward', tensorsOf(variant.inputs)).then(() => count('compile()'))],
  [
    2,
    (model) => {
      const next = `${model.path}.${process.pid}`
      copyFileSync(model.original, next)
      renameSync(next, model.path)
      count('a file replaced')
    },
  ],
  [1, runWorker],
]
const total = actions.reduce((sum, [weight]) => sum + weight, 0)
function nextAction() {
  let at = random() * total
  return actions.find(([weight]) => (at -= weight) < 0)[1]
}

const threads = () => readdirSync('/proc/self/task').length
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`).replace(/\d+/g, '')]
    } catch {
      // the listing's own
      return []
    }
  })
/** Names of what keeps the event loop alive, or would. */
const handles = () => process._getActiveHandles().map((handle) => handle.constructor.name)

async function lane(models, end) {
  while (performance.now() < end && faults.length === 0) {
    const model = oneOf(models)
    const variant = oneOf(model.variants)
    try {
      await nextAction()(model, variant)
    } catch (error) {
      fault(`${model.name}: ${error.stack}`)
    }
    // a turn of the event loop, in which finalizers run
    await setTimeout(0)
  }
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]

try {
  // libuv's threads come with the first such call and stay, as does what Node opens for its first worker
  await readdir(folder)
  await new Promise((resolve) => new Worker('', { eval: true }).on('exit', resolve))
  const before = { threads: threads(), files: openFiles(), handles: handles() }
  setNumThreads(2)
  const models = []
  for (const candidate of candidates()) {
    const model = await prepare(candidate)
    if (model === null) console.log(`${candidate.name} is left out: it keeps state, or its results are not to be compared`)
    else models.push(model)
  }
  for (const model of models) model.module = await loadModule(model.path, { onWarning() {} })
  const start = performance.now()
  const end = start + duration
  const samples = []
  const sampler = setInterval(
    () => samples.push([performance.now() - start, process.memoryUsage.rss() / 1e6]),
    Math.max(200, duration / 600),
  )
  const report = setInterval(() => {
    const { live, cached } = memoryStats()
    console.log(
      `${((performance.now() - start) / 60_000).toFixed(1)} min: resident ${samples.at(-1)?.[1].toFixed(0)} MB, tensors ${(live / 1e6).toFixed(0)} MB and ` +
        `${(cached / 1e6).toFixed(0)} MB kept, threads ${threads()}, ${Object.values(counts).reduce((a, b) => a + b, 0)} results`,
    )
  }, duration / 10)
  console.log(`${models.length} models, ${options.lanes} lanes, ${options.minutes} minutes, seed ${options.seed}`)
  await Promise.all(Array.from({ length: Number(options.lanes) }, () => lane(models, end)))
  clearInterval(sampler)
  clearInterval(report)
  for (const model of models) model.module.dispose()

  console.log(
    Object.entries(counts)
      .map(([what, n]) => `${n} of ${what}`)
      .join(', '),
  )
  const quarter = (n) => samples.filter(([at]) => Math.floor((4 * at) / duration) === n).map(([, megabytes]) => megabytes)
  const [third, last] = [median(quarter(2)), median(quarter(3))]
  console.log(`resident set: ${third?.toFixed(1)} MB in the third quarter, ${last?.toFixed(1)} MB in the last (medians)`)
  if (faults.length === 0 && !(last <= third * (1 + MAX_GROWTH))) fault('the resident set grows')

  const isIdle = () => threads() <= before.threads && openFiles().length <= before.files.length && handles().length <= before.handles.length
  for (let waited = 0; waited < PATIENCE && !isIdle(); waited += 200) await setTimeout(200)
  const told = ({ threads, files, handles }) => `${threads} threads, ${files.length} open files, handles: ${handles.join(', ') || 'none'}`
  const after = { threads: threads(), files: openFiles(), handles: handles() }
  console.log(`at the start ${told(before)}; at the end ${told(after)}`)
  if (!isIdle()) fault(`threads, files or handles are left: ${after.files.filter((name) => !before.files.includes(name)).join(', ')}`)
} finally {
  rmSync(folder, { recursive: true })
}
console.log(faults.length === 0 ? 'no fault' : `${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
