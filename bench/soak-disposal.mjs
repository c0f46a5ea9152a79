// Memory that goes while others use it: several lanes run methods with shapes that keep changing, a few runs at a time, while arguments,
// results, state, weights and modules are disposed of at any moment, runs are aborted and the background thread is ended. Results are compared
// with the interpreter's.
//
// Exits 1 where a result is wrong, or a call fails that nothing was taken from.
//
//   [PTLITE_GUARD=end:64] node bench/soak-disposal.mjs [--minutes 5] [--lanes 6] [--threads 1] [--seed 1] [--no-ends]
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    lanes: { type: 'string', default: '6' },
    threads: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    'no-ends': { type: 'boolean', default: false },
  },
})
const { loadModule, setNumThreads, Tensor, tensor, tuple } = await import(process.env.PTLITE ?? '../dist/index.js')
setNumThreads(Number(options.threads))

const TOLERANCE = 1e-4
const MODULES = 4
const MODES = ['auto', 'auto', 'eager', 'off']
const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** xorshift32. */
let randomState = Number(options.seed) || 1
function random() {
  randomState ^= randomState << 13
  randomState ^= randomState >>> 17
  randomState ^= randomState << 5
  return (randomState >>> 0) / 2 ** 32
}
const upTo = (n) => Math.floor(random() * n)
const oneOf = (list) => list[upTo(list.length)]

const values = (shape) => {
  const size = shape.reduce((a, b) => a * b, 1)
  return tensor(
    Float32Array.from({ length: size }, () => random() - 0.5),
    shape,
  )
}
const rows = () => values([1 + upTo(17), 8])
const pair = () => {
  const n = 1 + upTo(17)
  return [values([n, 8]), values([n, 8])]
}
const images = () => [values([1 + upTo(3), 3, 32 + 16 * upTo(3), 32])]

/** What is called: `changes` says that results depend on earlier calls. */
const METHODS = {
  'disposal.ptl': [
    { method: 'forward', make: () => [rows()] },
    { method: 'of_two', make: pair },
    { method: 'of_list', make: () => [pair()] },
    {
      method: 'of_tuple',
      make() {
        const [a, b] = pair()
        return [tuple(a, tuple(b, 1))]
      },
    },
    { method: 'in_regions', make: pair },
    ...['step', 'step_in_place', 'step_list', 'step_pair', 'step_dict', 'view_of_state'].map((method) => ({
      method,
      make: () => [values([2, 8])],
      changes: true,
    })),
  ],
  'models/resnet18.ptl': [{ method: 'forward', make: images }],
  'models/mobilenet_v2.ptl': [{ method: 'forward', make: images }],
}
const FILES = ['disposal.ptl', 'disposal.ptl', 'disposal.ptl', 'models/resnet18.ptl', 'models/mobilenet_v2.ptl']

function tensorsOf(value) {
  if (value instanceof Tensor) return [value]
  if (value instanceof Map) return [...value.values()].flatMap(tensorsOf)
  if (Array.isArray(value)) return value.flatMap(tensorsOf)
  return value !== null && typeof value === 'object' && 'items' in value ? tensorsOf(value.items) : []
}

const references = {}
for (const file of Object.keys(METHODS)) references[file] = await loadModule(here(`../test/fixtures/${file}`), { compile: 'off' })

const workers = new Set()
process.on('worker', (worker) => {
  workers.add(worker)
  worker.on('exit', () => workers.delete(worker))
})
/** Times that a thread was ended. */
let ends = 0

const counts = {}
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1)
const wrong = []

async function load() {
  const file = oneOf(FILES)
  return { file, module: await loadModule(here(`../test/fixtures/${file}`), { compile: oneOf(MODES) }), touched: false, isGone: false }
}
const modules = await Promise.all(Array.from({ length: MODULES }, load))

/** Some time from now, or at once. */
async function later() {
  const when = upTo(4)
  if (when === 1) await Promise.resolve()
  else if (when === 2) await new Promise(setImmediate)
  else if (when === 3) await setTimeout(upTo(6))
}

async function exchange() {
  const slot = upTo(MODULES)
  const old = modules[slot]
  old.isGone = true
  old.module.dispose()
  count('modules disposed')
  modules[slot] = await load()
}

async function call() {
  const owner = oneOf(modules)
  const { file, module } = owner
  const { method, make, changes = false } = oneOf(METHODS[file])
  const args = make()
  const all = tensorsOf(args)
  let expected
  if (!changes) {
    const result = references[file].call(method, args)
    expected = tensorsOf(result).map((t) => t.data())
    for (const t of tensorsOf(result)) t.dispose()
  }
  const before = ends
  const aborting = random() < 0.1 ? new AbortController() : undefined
  const way = random() < 0.8 ? 'run' : random() < 0.7 ? 'call' : 'compile'
  let result
  let error
  try {
    const started =
      way === 'run'
        ? module.run(method, args, { signal: aborting?.signal })
        : way === 'call'
          ? module.call(method, args)
          : module.compile(method, args)
    // it is waited for below
    if (started instanceof Promise) started.catch(() => undefined)
    if (aborting !== undefined) void later().then(() => aborting.abort())
    if (random() < 0.5) {
      if (random() < 0.5) await later()
      for (const t of all) t.dispose()
    }
    result = await started
  } catch (caught) {
    error = caught
  }
  for (const t of all) t.dispose()
  if (error !== undefined) {
    const code = error.code ?? error.name
    const allowed =
      (code === 'ABORTED' && error.cause === aborting?.signal.reason && 'aborted') ||
      (code === 'DISPOSED' && (owner.isGone || owner.touched) && 'DISPOSED') ||
      // the arguments of what is compiled need not last
      (code === 'DISPOSED' && way === 'compile' && 'DISPOSED') ||
      (code === 'INTERNAL' && /background thread/.test(error.message) && ends > before && 'thread ended')
    if (allowed) count(allowed)
    else wrong.push(`${file} ${method} by ${way}: ${error.stack ?? error}`)
    return
  }
  count(way)
  if (way === 'compile') return
  const found = tensorsOf(result)
  // of a module that has gone, views on its weights have, too
  if (expected !== undefined && !owner.touched)
    for (const [i, t] of found.entries()) {
      const data = t.data()
      const want = expected[i]
      const scale = want.reduce((most, x) => Math.max(most, Math.abs(x)), 1)
      if (data.length !== want.length || data.some((x, k) => !(Math.abs(x - want[k]) <= TOLERANCE * scale)))
        wrong.push(`${file} ${method} by ${way}: a wrong result`)
    }
  if (random() < 0.7) {
    if (random() < 0.3) await later()
    // state is disposed of seldom, as nothing works after it
    if (changes && random() < 0.9) return
    if (changes) owner.touched = true
    for (const t of found) t.dispose()
  }
}

async function lane(until) {
  while (Date.now() < until && wrong.length === 0) {
    const pending = Array.from({ length: 1 + upTo(4) }, call)
    if (random() < 0.1) await exchange()
    if (random() < 0.01) {
      const { module } = oneOf(modules)
      const owner = modules.find((other) => other.module === module)
      owner.touched = true
      oneOf([...module.parameters().values()]).dispose()
      count('weights disposed')
    }
    if (!options['no-ends'] && random() < 0.003 && workers.size > 0) {
      ends++
      count('threads ended')
      void oneOf([...workers]).terminate()
    }
    await Promise.all(pending)
  }
}

const until = Date.now() + Number(options.minutes) * 60_000
await Promise.all(Array.from({ length: Number(options.lanes) }, () => lane(until)))
console.log(JSON.stringify(counts))
for (const text of wrong.slice(0, 5)) console.error(text)
process.exit(wrong.length > 0 ? 1 : 0)
