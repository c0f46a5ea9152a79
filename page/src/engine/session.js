/** What the page does with a model. It knows nothing of pages and workers, so that tests run it in Node. */

const WARM_UP = 3
const REPLAYS = 15

/** Where times of operators are from more than one call, the middle one is taken. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** An open model file, and what runs it once that is asked for. `ptlite` is the library. */
export class Session {
  #ptlite
  #bytes
  #module = null
  #suggested = new Map()

  constructor(ptlite, bytes) {
    this.#ptlite = ptlite
    this.#bytes = bytes
  }

  /** What is in the file. */
  async inspect() {
    return await this.#ptlite.inspectModel(this.#bytes)
  }

  async #load() {
    if (this.#module !== null) return this.#module
    this.#module = await this.#ptlite.loadModule(this.#bytes)
    // the module has copies of what it needs
    this.#bytes = null
    return this.#module
  }

  /** Arguments to try a method with, as `run` takes them; null where none are found. */
  async suggest({ method }) {
    const module = await this.#load()
    const found = this.#ptlite.suggestInputs(module, method)
    if (found === null) return null
    this.#forget(method)
    this.#suggested.set(method, found.args)
    const shown = found.args.map((arg) => (arg instanceof this.#ptlite.Tensor ? { dtype: arg.dtype, shape: [...arg.shape] } : null))
    return { source: found.source, isBundled: /bundled/.test(found.source), args: shown }
  }

  /** Calls a method and says what it gave and how long it took. */
  async run({ method, args }) {
    const module = await this.#load()
    const made = this.#arguments(method, args)
    const start = performance.now()
    const result = module.call(method, made.values)
    const milliseconds = performance.now() - start
    const outputs = this.#describe(result)
    this.#release(made, result)
    return { outputs, milliseconds, plan: this.#planOf(module, method) }
  }

  #planOf(module, method) {
    // the most recently used one comes first
    const last = module.plans().find((info) => info.method === method)
    return last === undefined ? null : { state: last.state, reason: last.reason, level: last.level, frames: last.frames }
  }

  /** Times of operators and of kernels, medians in microseconds, and sizes of what operators give. */
  async profile({ method, args }) {
    const module = await this.#load()
    const made = this.#arguments(method, args)
    const { Profiler } = this.#ptlite
    try {
      const calls = this.#repeat(module, method, made, () => ({ profiler: new Profiler() }))
      const operators = mergeEvents(calls, ({ name, place }) => ({ name, place }))
      let kernels = null
      let reason = null
      try {
        const replays = this.#repeat(module, method, made, () => ({ profiler: new Profiler({ kernels: true }) }))
        kernels = mergeEvents(replays, ({ name, label, work }) => ({ name, label: label ?? null, work }))
      } catch (error) {
        reason = error.message
      }
      let sizes = []
      try {
        sizes = module.graph(method, made.values).nodes.flatMap(({ place, results }) => (place === null ? [] : [{ place, results }]))
      } catch {
        // a method that cannot be recorded has times all the same
      }
      const whole = this.#time(module, method, made)
      return { operators, kernels, reason, sizes, milliseconds: whole }
    } finally {
      this.#release(made)
    }
  }

  #repeat(module, method, made, options) {
    const calls = []
    for (let i = 0; i < WARM_UP + REPLAYS; i++) {
      const settings = options()
      const start = performance.now()
      this.#release(null, module.call(method, made.values, settings), made)
      if (i >= WARM_UP) calls.push(settings.profiler.events)
      // what takes long is measured less often
      if (calls.length >= 3 && (performance.now() - start) * calls.length > 1500) break
    }
    return calls
  }

  #time(module, method, made) {
    const times = []
    for (let i = 0; i < WARM_UP + REPLAYS; i++) {
      const start = performance.now()
      const result = module.call(method, made.values)
      const took = performance.now() - start
      this.#release(null, result, made)
      if (i >= WARM_UP) times.push(took)
      if (times.length >= 3 && took * times.length > 1500) break
    }
    return median(times)
  }

  /** Calls a method of this model and of another with the same arguments: how long each takes, and how far their results are apart. */
  async compare(other, { method, args }) {
    const [module, second] = [await this.#load(), await other.#load()]
    const made = this.#arguments(method, args)
    try {
      const times = [this.#time(module, method, made), this.#time(second, method, made)]
      const results = [module.call(method, made.values), second.call(method, made.values)]
      const [ours, theirs] = results.map((result) => [...tensorsIn(result, this.#ptlite.Tensor)].map((t) => this.#numbers(t)))
      const outputs = ours.map((one, i) => differenceOf(one, theirs[i]))
      for (const result of results) this.#release(null, result, made)
      return { times, outputs, isAlike: ours.length === theirs.length }
    } finally {
      this.#release(made)
    }
  }

  #numbers(t) {
    const isPlain = /^(u?int|float|bfloat|bool)/.test(t.dtype)
    const wide = isPlain && t.dtype !== 'float64' ? t.to('float64') : t
    const data = isPlain ? Float64Array.from(wide.data()) : null
    if (wide !== t) wide.dispose()
    return { dtype: t.dtype, shape: [...t.shape], data }
  }

  /** What a plan keeps in its arena; where there is no plan, why. */
  async arena({ method, args }) {
    const module = await this.#load()
    const made = this.#arguments(method, args)
    try {
      return { use: module.arena(method, made.values), reason: null }
    } catch (error) {
      if (error?.code !== 'INVALID_ARGUMENT') throw error
      return { use: null, reason: error.message }
    } finally {
      this.#release(made)
    }
  }

  /** Gives back what was suggested for a method. */
  #forget(method) {
    for (const t of tensorsIn(this.#suggested.get(method) ?? [], this.#ptlite.Tensor)) t.dispose()
    this.#suggested.delete(method)
  }

  close() {
    for (const method of [...this.#suggested.keys()]) this.#forget(method)
    this.#module?.dispose()
    this.#module = null
    this.#bytes = null
  }

  #arguments(method, args) {
    const own = new Set()
    const values = args.map((arg, i) => {
      const value = this.#argument(arg, this.#suggested.get(method)?.[i])
      if (arg.kind !== 'suggested' && value instanceof this.#ptlite.Tensor) own.add(value)
      return value
    })
    return { values, own }
  }

  #argument(arg, suggested) {
    const { Tensor, tensor, float, imageToTensor, resampleAudio, melSpectrogram } = this.#ptlite
    switch (arg.kind) {
      case 'suggested':
        return suggested
      case 'value':
        return arg.isFloat ? float(arg.value) : arg.value
      case 'nested':
        return tensor(arg.value)
      case 'tensor': {
        const isNarrow = arg.dtype === 'float16' || arg.dtype === 'bfloat16'
        const wide = Tensor.fromStorage(arg.data, { dtype: isNarrow ? 'float32' : arg.dtype, shape: arg.shape })
        return isNarrow ? wide.to(arg.dtype) : wide
      }
      case 'picture': {
        const x = imageToTensor(arg.pixels, arg.options)
        return arg.dtype === 'float32' ? x : x.to(arg.dtype)
      }
      case 'sound': {
        const heard = tensor(arg.samples, [1, arg.samples.length])
        const samples = arg.from === arg.rate ? heard : resampleAudio(heard, arg.from, arg.rate)
        return arg.mel === null ? samples : melSpectrogram(samples, { sampleRate: arg.rate, ...arg.mel })
      }
      default:
        throw new Error(`unknown kind of argument ${arg.kind}`)
    }
  }

  /** Gives tensors back that nobody sees any longer; results may be arguments. */
  #release(made, result, kept = null) {
    const keep = new Set(kept === null ? [] : kept.values)
    for (const t of tensorsIn(result, this.#ptlite.Tensor)) if (!keep.has(t) && !(made?.values.includes(t) && !made.own.has(t))) t.dispose()
    for (const t of made?.own ?? []) t.dispose()
  }

  #describe(value) {
    const { Tensor } = this.#ptlite
    if (value instanceof Tensor) return describeTensor(value, this.#ptlite)
    if (Array.isArray(value)) return { kind: 'list', items: value.slice(0, 32).map((item) => this.#describe(item)), count: value.length }
    if (value instanceof Map)
      return {
        kind: 'dict',
        items: [...value].slice(0, 32).map(([key, item]) => [String(key), this.#describe(item)]),
        count: value.size,
      }
    return { kind: 'value', text: value === null ? 'None' : typeof value === 'string' ? JSON.stringify(value) : String(value) }
  }
}

/** Elements that are looked at for the extremes of a result, and that are shown. */
const LOOKED_AT = 2 ** 22
const SHOWN = 64

function describeTensor(t, { tensorToImage }) {
  const { dtype, shape } = t
  const isPlain = /^(u?int|float|bfloat|bool)/.test(dtype)
  const data = t.data()
  const numbers = isPlain && data.length <= LOOKED_AT ? (dtype === 'float16' || dtype === 'bfloat16' ? t.to('float32').data() : data) : null
  const described = { kind: 'tensor', dtype, shape: [...shape], values: [], least: null, most: null, mean: null, top: null, picture: null }
  if (numbers === null || numbers.length === 0) return described
  let [least, most, sum] = [Infinity, -Infinity, 0]
  for (const element of numbers) {
    const number = Number(element)
    if (number < least) least = number
    if (number > most) most = number
    sum += number
  }
  const values = Array.from(numbers.subarray(0, SHOWN), Number)
  return {
    ...described,
    values,
    least,
    most,
    mean: sum / numbers.length,
    top: topOf(numbers, shape),
    picture: pictureOf(t, numbers, least, most, tensorToImage),
  }
}

/** How far a tensor is from another one of the same sizes: at most, and beside its largest element; null where sizes differ. */
function differenceOf(one, other) {
  const { dtype, shape } = one
  const isAlike = other?.shape.join() === shape.join() && one.data !== null && other.data !== null
  if (!isAlike) return { dtype, shape, other: other ?? null, most: null, relative: null }
  let [most, largest] = [0, 0]
  for (let i = 0; i < one.data.length; i++) {
    const [a, b] = [one.data[i], other.data[i]]
    // NaN beside NaN, and one infinity beside itself, are no difference
    const apart = Object.is(a, b) || a === b ? 0 : Math.abs(a - b)
    if (!(apart <= most)) most = Number.isNaN(apart) ? Infinity : apart
    if (Math.abs(a) > largest) largest = Math.abs(a)
  }
  return { dtype, shape, other: { dtype: other.dtype, shape: other.shape }, most, relative: largest === 0 ? 0 : most / largest }
}

/** The largest elements of what looks like a row of classes. */
function topOf(numbers, shape) {
  const classes = shape.at(-1) ?? 0
  if (classes !== numbers.length || classes < 2 || classes > 100_000) return null
  return Array.from(numbers, (value, at) => ({ at, value: Number(value) }))
    .sort((a, b) => b.value - a.value)
    .slice(0, 10)
}

/** Pixels of what looks like a picture. */
function pictureOf(t, numbers, least, most, tensorToImage) {
  const sizes = t.shape.length === 4 && t.shape[0] === 1 ? t.shape.slice(1) : t.shape
  const [channels, height, width] = sizes
  if (sizes.length !== 3 || ![1, 3].includes(channels) || height < 8 || width < 8 || height * width > 2 ** 22 || t.dtype !== 'float32')
    return null
  const range = most - least || 1
  try {
    const { data } = tensorToImage(t, { alpha: true, mean: -least / range, std: 1 / range })
    return { width, height, data: new Uint8ClampedArray(data) }
  } catch {
    return null
  }
}

function tensorsIn(value, Tensor, found = new Set()) {
  if (value instanceof Tensor) found.add(value)
  else if (Array.isArray(value) || value instanceof Map) for (const item of value.values()) tensorsIn(item, Tensor, found)
  return found
}

/** One row for each event of a call, with the middle of its times; calls that went another way are left out. */
function mergeEvents(calls, describe) {
  const [first] = calls
  const alike = calls.filter((events) => events.length === first.length && events.every(({ name }, i) => name === first[i].name))
  return first.map((event, i) => ({ ...describe(event), microseconds: median(alike.map((events) => events[i].duration)) }))
}
