import { DATATYPES, type Datatype, isDatatype } from '../protocol/datatypes.js'
import { quoted } from '../protocol/error.js'

/** A tensor as a config declares it: -1 is any size. */
export interface DeclaredTensor {
  readonly name: string
  readonly datatype: Datatype
  readonly shape: readonly number[]
}

export interface Batching {
  /** Rows of a batch. */
  readonly maxSize: number
  /** How long the first request of a batch waits for others. */
  readonly delayMs: number
  /** Sizes that batches are made of, ascending; 1 is always among them. */
  readonly preferred: readonly number[]
}

export interface WarmUpInput {
  readonly datatype: Datatype
  readonly shape: readonly number[]
  /** Zeros without. */
  readonly data: readonly unknown[] | null
}

export interface Stateful {
  /** Sequences that may be under way. */
  readonly most: number
  /** How long a sequence is kept that nothing is asked of. */
  readonly idleMs: number
}

/** How a language model is served, with its tokenizer beside it. */
export interface TextConfig {
  /** What becomes of text: more of it, or vectors; or of speech: text. */
  readonly task: 'generate' | 'embed' | 'transcribe'
  /** Sequences that are generated at a time; the others wait. */
  readonly slots: number
  /** How often the model is loaded. Sequences of one whose cache is in its buffers take turns in it, and each turn copies the cache. */
  readonly copies: number
  readonly pooling: 'mean' | 'cls' | 'last'
  /** Vectors have length 1. */
  readonly normalize: boolean
}

/** What config.json of a model says. */
export interface ModelConfig {
  readonly versions: 'all' | 'latest' | readonly string[]
  readonly method: string
  readonly inputs: readonly DeclaredTensor[] | null
  readonly outputs: readonly DeclaredTensor[] | null
  /** Names of classes, or the file of the model's folder that has them by line. */
  readonly labels: readonly string[] | string | null
  /** null: where the model's file says that it can be done; false: never. */
  readonly batching: Batching | false | null
  /** Worker threads that have the model; null: all. */
  readonly instances: number | null
  /** Whether short calls may be answered on the server's own thread; null: where measuring shows that they are. */
  readonly inline: boolean | null
  /** Calls before the model is ready, each with its inputs. */
  readonly warmUp: readonly (readonly WarmUpInput[])[] | null
  /** Requests that may wait. */
  readonly queueSize: number | null
  /** How long a request may take, its time in the queue included. */
  readonly timeoutMs: number | null
  /** Memory for tensors of one run. */
  readonly bytes: number | null
  readonly compile: 'auto' | 'off' | 'eager'
  /** false: the file is read in place of being mapped, for files that are written to where they are. */
  readonly map: boolean
  /** The model is taken out of training mode, as LibTorch's servers do. */
  readonly eval: boolean
  readonly stateful: Stateful | null
  /** null: the model takes and gives tensors. */
  readonly text: TextConfig | null
}

export const DEFAULT_CONFIG: ModelConfig = {
  ...{ versions: 'all', method: 'forward', inputs: null, outputs: null, labels: null, batching: null, instances: null, inline: null },
  ...{ warmUp: null, queueSize: null, timeoutMs: null, bytes: null, compile: 'auto', map: true, eval: true, stateful: null, text: null },
}

/** A config that makes no sense; the message says where. */
export class ConfigError extends Error {}

type Reader<T> = (value: unknown, where: string) => T

/** Reads config.json. Throws ConfigError. */
export function parseConfig(text: string): ModelConfig {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`config.json is no JSON: ${(error as Error).message}`)
  }
  const config = { ...DEFAULT_CONFIG, ...fields(value, 'config.json', READERS) }
  if (config.text !== null && config.stateful !== null)
    throw new ConfigError('text: a language model is not stateful; it keeps what it has seen itself')
  return config
}

const READERS: { readonly [Key in keyof ModelConfig]: Reader<ModelConfig[Key]> } = {
  versions: (value, where) => {
    if (value === 'all' || value === 'latest') return value
    if (Array.isArray(value)) return value.map((each: unknown) => String(count(1)(each, where)))
    throw wrong(where, '"all", "latest" or a list of versions', value)
  },
  method: string,
  inputs: list(declared),
  outputs: list(declared),
  labels: (value, where) => (typeof value === 'string' ? fileName(value, where) : list(string)(value, where)),
  batching: (value, where) => (value === false ? false : batching(value, where)),
  instances: count(1),
  inline: boolean,
  warmUp: list(list(warmUpInput)),
  queueSize: count(1),
  timeoutMs: count(1),
  bytes: count(1),
  compile: (value, where) => {
    if (value === 'auto' || value === 'off' || value === 'eager') return value
    throw wrong(where, '"auto", "off" or "eager"', value)
  },
  map: boolean,
  eval: boolean,
  stateful: (value, where) => {
    if (value === false) return null
    return { most: 64, idleMs: 60_000, ...(value === true ? {} : fields<Stateful>(value, where, { most: count(1), idleMs: count(1) })) }
  },
  text,
}

function text(value: unknown, where: string): TextConfig {
  const given = fields<TextConfig>(value, where, {
    task: oneOf('generate', 'embed', 'transcribe'),
    slots: atMost(MAX_SLOTS, count(1)),
    copies: atMost(MAX_SLOTS, count(1)),
    pooling: oneOf('mean', 'cls', 'last'),
    normalize: boolean,
  })
  const { task = 'generate', copies = 1, pooling = 'mean', normalize = true } = given
  // a recording keeps all of the processor busy by itself
  const { slots = task === 'transcribe' ? 1 : 8 } = given
  return { task, slots, copies: Math.min(copies, slots), pooling, normalize }
}

/** Sequences have a cache each. */
const MAX_SLOTS = 256

function batching(value: unknown, where: string): Batching {
  const {
    maxSize = 8,
    delayMs = 0,
    preferred,
  } = fields<Batching>(value, where, { maxSize: count(1), delayMs: milliseconds, preferred: list(count(1)) })
  return batchingOf(maxSize, delayMs, preferred, where)
}

/** Most sizes of batches: the library keeps as many plans of a method. */
const MAX_SIZES = 8

export function batchingOf(maxSize: number, delayMs: number, preferred?: readonly number[], where = 'batching'): Batching {
  const sizes = new Set([1, maxSize, ...(preferred ?? powersOfTwo(maxSize))])
  const sorted = [...sizes].sort((a, b) => a - b)
  if (sorted.at(-1)! > maxSize) throw new ConfigError(`${where}.preferred: ${sorted.at(-1)} is more than maxSize, ${maxSize}`)
  if (sorted.length > MAX_SIZES)
    throw new ConfigError(`${where}.preferred: at most ${MAX_SIZES} sizes, 1 and maxSize among them, found ${sorted.join(', ')}`)
  return { maxSize, delayMs, preferred: sorted }
}

/** Up to `most`; of those the largest. */
function powersOfTwo(most: number): number[] {
  const sizes: number[] = []
  for (let size = 2; size < most; size *= 2) sizes.push(size)
  return sizes.slice(-(MAX_SIZES - 2))
}

function declared(value: unknown, where: string): DeclaredTensor {
  const { name, datatype, shape } = fields<DeclaredTensor>(value, where, { name: string, datatype: datatypeName, shape: list(size) })
  if (name === undefined || datatype === undefined || shape === undefined) throw wrong(where, 'name, datatype and shape', value)
  return { name, datatype, shape }
}

function warmUpInput(value: unknown, where: string): WarmUpInput {
  const {
    datatype,
    shape,
    data = null,
  } = fields<WarmUpInput>(value, where, {
    datatype: datatypeName,
    shape: list(count(0)),
    data: (each, at) => {
      if (Array.isArray(each)) return each as unknown[]
      throw wrong(at, 'a list', each)
    },
  })
  if (datatype === undefined || shape === undefined) throw wrong(where, 'datatype and shape', value)
  return { datatype, shape, data }
}

function fields<T extends object>(value: unknown, where: string, readers: { readonly [Key in keyof T]-?: Reader<T[Key]> }): Partial<T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'an object', value)
  const found: Partial<T> = {}
  for (const [key, each] of Object.entries(value)) {
    if (!Object.hasOwn(readers, key)) throw new ConfigError(`${where} has ${quoted(key)}; there are ${Object.keys(readers).join(', ')}`)
    const name = key as keyof T
    found[name] = readers[name](each, where === 'config.json' ? key : `${where}.${key}`)
  }
  return found
}

function list<T>(reader: Reader<T>): Reader<T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw wrong(where, 'a list', value)
    return value.map((each, i) => reader(each, `${where}[${i}]`))
  }
}

function count(least: number): Reader<number> {
  return (value, where) => {
    if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
    throw wrong(where, `a whole number of at least ${least}`, value)
  }
}

function atMost(most: number, reader: Reader<number>): Reader<number> {
  return (value, where) => {
    const found = reader(value, where)
    if (found <= most) return found
    throw wrong(where, `at most ${most}`, value)
  }
}

function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (value, where) => {
    if (texts.includes(value as T)) return value as T
    throw wrong(where, texts.map((each) => `"${each}"`).join(' or '), value)
  }
}

function size(value: unknown, where: string): number {
  return value === -1 ? -1 : count(0)(value, where)
}

function milliseconds(value: unknown, where: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw wrong(where, 'a number of milliseconds', value)
}

function string(value: unknown, where: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw wrong(where, 'a text', value)
}

function boolean(value: unknown, where: string): boolean {
  if (typeof value === 'boolean') return value
  throw wrong(where, 'true or false', value)
}

function fileName(value: string, where: string): string {
  if (/^[^/\\\0]+$/.test(value) && !value.startsWith('.')) return value
  throw wrong(where, "the name of a file in the model's folder", value)
}

function datatypeName(value: unknown, where: string): Datatype {
  if (isDatatype(value)) return value
  throw wrong(where, `one of ${Object.keys(DATATYPES).join(', ')}`, value)
}

function wrong(where: string, expected: string, found: unknown): ConfigError {
  return new ConfigError(`${where}: expected ${expected}, found ${quoted(found)}`)
}
