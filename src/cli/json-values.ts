import { PtliteError } from '../../runtime/error.js'
import { arrayTypeOf } from '../../runtime/tensor/data.js'
import { bfloat16ToNumber, halfToNumber } from '../../runtime/tensor/half.js'
import { DType, dtypeFromName, type DTypeName, isComplex } from '../../runtime/tensor/dtype.js'
import { type DictKey, ScriptObject } from '../../runtime/tensor/value.js'
import { Complex, complex, float, type Input, int, type Output, type Quant, Tensor, tensor, tuple, type TypedArray } from '../index.js'
import { toBits } from './half.js'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The JSON text of a value file. Throws INVALID_FILE naming `where`. */
export function parseJson(text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `${where}: not JSON: ${(cause as Error).message}`, { cause })
  }
}

/**
 * The value that a JSON text stands for: nested numbers are a float32 tensor, a lone number, string, bool or null is
 * itself, and objects say what they are:
 *
 *     {"dtype": "int64", "shape": [2, 3], "data": [...]}      flat or nested; "quant": {"scale", "zeroPoint"} or {"axis", "scales", "zeroPoints"}
 *     {"tensor": base64, "dtype", "shape", "strides", "offset", "quant"}
 *     {"int": 5}  {"float": 2}  {"bool": true}  {"str": "x"}  {"none": true}      int also as a decimal string
 *     {"complex": [1, 2]}                                                         real and imaginary part, as in the data of complex tensors
 *     {"list": [...]}  {"tuple": [...]}  {"dict": [[key, value], ...]}
 *     {"dtype": "float32"}  {"device": "cpu"}  {"layout": "strided"}  {"memory_format": "channels_last"}
 *
 * Throws INVALID_ARGUMENT naming `where`.
 */
export function fromJson(json: Json, where: string): Input {
  if (json === null || typeof json !== 'object') return json
  if (Array.isArray(json)) return tensorOf({ data: json, dtype: 'float32' }, where)
  if ('tensor' in json || 'data' in json) return tensorOf(json, where)
  const keys = Object.keys(json).filter((key) => key in TAGS)
  const tag = keys[0]
  if (tag === undefined) fail(where, `an object with one of ${Object.keys(TAGS).join(', ')}, data or tensor`, json)
  return TAGS[tag]!(json[tag]!, `${where}.${tag}`)
}

const TAGS: Readonly<Record<string, (json: Json, where: string) => Input>> = {
  none: () => null,
  int: (json, where) => int(typeof json === 'string' ? bigintOf(json, where) : numberOf(json, where)),
  float: (json, where) => float(numberOf(json, where)),
  complex: complexOf,
  bool: (json, where) => (typeof json === 'boolean' ? json : fail(where, 'true or false', json)),
  str: textOf,
  list: (json, where) => itemsOf(json, where),
  tuple: (json, where) => tuple(...itemsOf(json, where)),
  dict: (json, where) => dictOf(json, where),
  dtype: (json, where) => dtypeFromName(textOf(json, where)),
  device: textOf,
  layout: (json, where) => codeOf(LAYOUTS, json, where),
  memory_format: (json, where) => codeOf(MEMORY_FORMATS, json, where),
}

const LAYOUTS = ['strided', 'sparse_coo']
const MEMORY_FORMATS = ['contiguous', 'preserve', 'channels_last', 'channels_last_3d']

function codeOf(names: readonly string[], json: Json, where: string): number {
  const code = names.indexOf(textOf(json, where))
  return code >= 0 ? code : fail(where, names.join(' or '), json)
}

function itemsOf(json: Json, where: string): Input[] {
  if (!Array.isArray(json)) fail(where, 'an array', json)
  // inside a list a bare array can only be a tensor, as everywhere else
  return json.map((item, i) => fromJson(item, `${where}[${i}]`))
}

function dictOf(json: Json, where: string): Map<DictKey, Input> {
  const entries = Array.isArray(json)
    ? json
    : json !== null && typeof json === 'object'
      ? Object.entries(json)
      : fail(where, '[key, value] pairs', json)
  return new Map(
    entries.map((entry, i) => {
      if (!Array.isArray(entry) || entry.length !== 2) fail(`${where}[${i}]`, 'a [key, value] pair', entry)
      const key = fromJson(entry[0]!, `${where}[${i}] key`)
      const plain = key !== null && typeof key === 'object' && 'value' in key ? Number(key) : key
      if (
        typeof plain !== 'string' &&
        typeof plain !== 'number' &&
        typeof plain !== 'bigint' &&
        typeof plain !== 'boolean' &&
        !(plain instanceof Complex)
      ) {
        fail(`${where}[${i}]`, 'a key that is a string, number or bool', entry[0]!)
      }
      return [plain, fromJson(entry[1]!, `${where}[${i}]`)] as const
    }),
  )
}

function tensorOf(json: { [key: string]: Json }, where: string): Tensor {
  const dtype: DTypeName = json.dtype === undefined ? 'float32' : (textOf(json.dtype, `${where}.dtype`) as DTypeName)
  const type = dtypeFromName(dtype)
  const flat: Json[] = []
  const raw = json.tensor ?? json.data!
  const nested = typeof raw === 'string' ? null : flatten(raw, flat, where)
  const data = typeof raw === 'string' ? fromBase64(raw, type, where) : elements(flat, type, where)
  const own = isComplex(type) ? withoutPairs(nested ?? [data.length / 2, 2], raw, where) : (nested ?? [data.length])
  const shape = json.shape === undefined ? own : sizesOf(json.shape, `${where}.shape`)
  const strides = json.strides === undefined ? undefined : sizesOf(json.strides, `${where}.strides`)
  const offset = json.offset === undefined ? undefined : numberOf(json.offset, `${where}.offset`)
  const quant = json.quant === undefined || json.quant === null ? undefined : quantOf(json.quant, `${where}.quant`)
  if (strides === undefined && offset === undefined && quant === undefined) return tensor(data, shape, dtype)
  return Tensor.fromStorage(data, { dtype, shape, strides, offset, quant })
}

/** The shape of pairs without their own dimension. */
function withoutPairs(shape: readonly number[], raw: Json, where: string): number[] {
  if (shape.at(-1) !== 2) fail(where, 'complex numbers as pairs', raw)
  return shape.slice(0, -1)
}

function flatten(json: Json, flat: Json[], where: string): number[] {
  if (!Array.isArray(json)) {
    flat.push(json)
    return []
  }
  let inner: number[] | null = null
  for (const item of json) {
    const shape = flatten(item, flat, where)
    if (inner !== null && shape.join() !== inner.join()) fail(where, `arrays of one shape, [${inner.join(', ')}]`, item)
    inner = shape
  }
  return [json.length, ...(inner ?? [])]
}

function elements(flat: readonly Json[], type: DType, where: string): Exclude<TypedArray, Uint8ClampedArray> {
  const data = new (arrayTypeOf(type))(flat.length)
  for (let i = 0; i < flat.length; i++) {
    const x = flat[i]!
    if (data instanceof BigInt64Array) data[i] = typeof x === 'string' ? bigintOf(x, where) : BigInt(numberOf(x, where))
    else if (type === DType.float16 || type === DType.bfloat16) data[i] = toBits(numberOf(x, where), type === DType.bfloat16)
    else data[i] = type === DType.bool ? Number(numberOf(x, where) !== 0) : numberOf(x, where)
  }
  return data
}

function fromBase64(text: string, type: DType, where: string): Exclude<TypedArray, Uint8ClampedArray> {
  const bytes = Buffer.from(text, 'base64')
  const ArrayType = arrayTypeOf(type)
  const size = new ArrayType(0).BYTES_PER_ELEMENT
  if (bytes.length % size !== 0) fail(where, `a multiple of ${size} bytes in base64`, bytes.length)
  return new ArrayType(new Uint8Array(bytes).buffer)
}

function complexOf(json: Json, where: string): Complex {
  if (!Array.isArray(json) || json.length !== 2) fail(where, 'a real and an imaginary part', json)
  return complex(numberOf(json[0]!, where), numberOf(json[1]!, where))
}

function quantOf(json: Json, where: string): Quant {
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    fail(where, '{"scale", "zeroPoint"} or {"axis", "scales", "zeroPoints"}', json)
  const zeroPoint = json.zeroPoint ?? json.zero_point
  const zeroPoints = json.zeroPoints ?? json.zero_points
  if (Array.isArray(json.scales) && Array.isArray(zeroPoints) && json.axis !== undefined) {
    const axis = numberOf(json.axis, `${where}.axis`)
    return { axis, scales: json.scales.map((x) => numberOf(x, where)), zeroPoints: zeroPoints.map((x) => numberOf(x, where)) }
  }
  if (json.scale === undefined || zeroPoint === undefined) fail(where, '{"scale", "zeroPoint"} or {"axis", "scales", "zeroPoints"}', json)
  return { scale: numberOf(json.scale, `${where}.scale`), zeroPoint: numberOf(zeroPoint, `${where}.zeroPoint`) }
}

function sizesOf(json: Json, where: string): number[] {
  if (!Array.isArray(json)) fail(where, 'an array of sizes', json)
  return json.map((x) => numberOf(x, where))
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: NaN }

function numberOf(json: Json, where: string): number {
  if (typeof json === 'number') return json
  if (typeof json === 'boolean') return Number(json)
  if (typeof json === 'string' && Object.hasOwn(SPECIAL, json)) return SPECIAL[json]!
  fail(where, 'a number', json)
}

function bigintOf(text: string, where: string): bigint {
  if (!/^-?\d{1,20}$/.test(text)) fail(where, 'a whole number', text)
  return BigInt(text)
}

function textOf(json: Json, where: string): string {
  return typeof json === 'string' ? json : fail(where, 'a string', json)
}

function fail(where: string, expected: string, found: Json): never {
  throw new PtliteError('INVALID_ARGUMENT', `${where}: expected ${expected}, found ${JSON.stringify(found).slice(0, 60)}`)
}

/**
 * A result as JSON: tensors as {"dtype", "shape", "data"} with nested data (complex numbers as pairs), lists and tuples as arrays, dicts as objects, or as
 * {"dict": [[key, value], ...]} where a key is not a string. NaN and infinities are the strings "nan", "inf" and "-inf"; integers
 * past 2^53 are decimal strings.
 */
export function toJson(value: Output): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return jsonNumber(value)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Complex) return { complex: [jsonNumber(value.re), jsonNumber(value.im)] }
  if (value instanceof Tensor) return tensorJson(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) {
    const entries = [...value]
    if (entries.every(([key]) => typeof key === 'string')) return Object.fromEntries(entries.map(([k, v]) => [k as string, toJson(v)]))
    return { dict: entries.map(([k, v]) => [toJson(k), toJson(v)]) }
  }
  return { object: value instanceof ScriptObject ? value.typeName : value.className }
}

function tensorJson(t: Tensor): Json {
  const data = t.data()
  const number = (x: number | bigint): Json => {
    if (typeof x === 'bigint') return Number.isSafeInteger(Number(x)) ? Number(x) : x.toString()
    if (t.dtype === 'bool') return x !== 0
    if (t.dtype === 'float16') return jsonNumber(halfToNumber(x))
    return jsonNumber(t.dtype === 'bfloat16' ? bfloat16ToNumber(x) : t.dtype === 'float32' || t.dtype === 'complex64' ? shortest(x) : x)
  }
  let at = 0
  const element = (): Json => (t.dtype.startsWith('complex') ? [number(data[at++]!), number(data[at++]!)] : number(data[at++]!))
  const nest = (dim: number): Json => (dim === t.shape.length ? element() : Array.from({ length: t.shape[dim]! }, () => nest(dim + 1)))
  const quant = t.quant === null ? {} : { quant: { ...t.quant } as unknown as Json }
  return { dtype: t.dtype, shape: [...t.shape], ...quant, data: nest(0) }
}

function jsonNumber(x: number): Json {
  return Number.isFinite(x) ? x : Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf'
}

/** The number with the fewest digits that is the same float32: 0.1 rather than 0.10000000149011612. */
export function shortest(x: number): number {
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(x.toPrecision(digits))
    if (Math.fround(short) === x) return short
  }
  return x
}
