import { CLASSES, RANGES, elementsOf, isDatatype, type Datatype, type NumericDatatype } from './datatypes.js'
import { InferenceError } from './errors.js'
import { type InferResult, type OutputTensor, type Parameters } from './types.js'

type Json = Readonly<Record<string, unknown>>

const utf8 = new TextEncoder()

function unlike(message: string, cause?: unknown): InferenceError {
  return new InferenceError('protocol', `the answer is not of the protocol: ${message.replaceAll(DIGITS, '')}`, { status: 200, cause })
}

export function object(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unlike(`${what} is no object`)
  return value as Json
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unlike(`${what} is no array`)
  return value as unknown[]
}

export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unlike(`${what} is no string`)
  return value
}

export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw unlike('its JSON cannot be read', cause)
  }
}

/** Stands before the digits of an integer that a number would round. */
const DIGITS = 'ptlite:integer:'
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const LONG = /^-?\d{16,}$/

/** JSON whose integers keep all their digits, as strings that `DIGITS` begins. */
function parseExactly(bytes: Uint8Array): unknown {
  const source = new TextDecoder().decode(bytes)
  // few answers have such integers, and the others are parsed as they are
  const exact = /\d{16}/.test(source) ? source.replace(TOKENS, (token) => (LONG.test(token) ? `"${DIGITS}${token}"` : token)) : source
  try {
    return JSON.parse(exact)
  } catch (cause) {
    throw unlike('its JSON cannot be read', cause)
  }
}

/** What an inference answered. `headerLength` is the length of the JSON before the bytes of tensors, or null where there is nothing but JSON. */
export function decodeResponse(body: Uint8Array, headerLength: string | null): InferResult {
  const length = headerLength === null ? body.length : Number(headerLength)
  if (!Number.isSafeInteger(length) || length < 0 || length > body.length)
    throw unlike(`its JSON is said to have ${headerLength} bytes, and the whole body has ${body.length}`)
  const answer = object(parseExactly(body.subarray(0, length)), 'it')
  const outputs: Record<string, OutputTensor> = {}
  let at = length
  for (const value of list(answer['outputs'], 'outputs')) {
    const described = object(value, 'an output')
    const name = text(described['name'], 'the name of an output')
    if (Object.hasOwn(outputs, name)) throw unlike(`output ${name} is there twice`)
    const { binary_data_size: size, ...parameters } = numbersBack(described['parameters'])
    const raw = size === undefined ? undefined : take(name, body, at, size)
    at += raw?.length ?? 0
    // defined, since an output may be called __proto__
    Object.defineProperty(outputs, name, { value: outputTensor(name, described, parameters, raw), enumerable: true })
  }
  if (at !== body.length) throw unlike(`${body.length - at} bytes belong to no output`)
  return {
    modelName: text(answer['model_name'] ?? '', 'model_name'),
    modelVersion: answer['model_version'] === undefined ? undefined : text(answer['model_version'], 'model_version'),
    id: answer['id'] === undefined ? undefined : text(answer['id'], 'id'),
    parameters: numbersBack(answer['parameters']),
    outputs,
  }
}

function take(name: string, body: Uint8Array, at: number, size: unknown): Uint8Array {
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || at + size > body.length)
    throw unlike(`output ${name} is said to have ${String(size)} bytes, and ${body.length - at} are left`)
  return body.subarray(at, at + size)
}

function outputTensor(name: string, described: Json, parameters: Parameters, raw: Uint8Array | undefined): OutputTensor {
  const { datatype, shape } = described
  if (!isDatatype(datatype)) throw unlike(`output ${name} has the datatype ${JSON.stringify(datatype)}`)
  const count = elementsOf(shape)
  if (count === undefined) throw unlike(`output ${name} has the shape ${JSON.stringify(shape)}`)
  const data = raw === undefined ? dataOfJson(name, datatype, described['data'], count) : dataOfBytes(name, datatype, raw, count)
  // which array belongs to which datatype was the business of the two functions above
  return { name, datatype, shape: shape as number[], data, parameters } as OutputTensor
}

function dataOfBytes(name: string, datatype: Datatype, raw: Uint8Array, count: number): OutputTensor['data'] {
  if (datatype === 'BYTES') return stringsOf(name, raw, count)
  const type = CLASSES[datatype]
  if (raw.length !== count * type.BYTES_PER_ELEMENT)
    throw unlike(`output ${name} has ${raw.length} bytes for ${count} elements of ${datatype}`)
  // a copy: it is aligned, and does not hold the other outputs
  return new type(raw.slice().buffer)
}

function stringsOf(name: string, raw: Uint8Array, count: number): Uint8Array[] {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length)
  const all: Uint8Array[] = []
  let at = 0
  while (at < raw.length) {
    const length = at + 4 <= raw.length ? view.getUint32(at, true) : Infinity
    if (at + 4 + length > raw.length || all.length === count) throw unlike(`output ${name} has other strings than its shape says`)
    all.push(raw.slice(at + 4, at + 4 + length))
    at += 4 + length
  }
  if (all.length !== count) throw unlike(`output ${name} has ${all.length} strings for ${count} elements`)
  return all
}

function dataOfJson(name: string, datatype: Datatype, data: unknown, count: number): OutputTensor['data'] {
  const flat = list(data, `data of output ${name}`).flat(Infinity as 1)
  if (flat.length !== count) throw unlike(`output ${name} has ${flat.length} elements, and its shape ${count}`)
  if (datatype === 'BYTES') return flat.map((each) => utf8.encode(text(each, `an element of output ${name}`)))
  if (datatype === 'FP16' || datatype === 'BF16') throw unlike(`output ${name} is ${datatype} in JSON, for which there is no form`)
  const typed = new CLASSES[datatype](count)
  flat.forEach((each, i) => {
    typed[i] = element(name, datatype, each) as never
  })
  return typed
}

function element(name: string, datatype: NumericDatatype, value: unknown): number | bigint {
  const digits = typeof value === 'string' && value.startsWith(DIGITS) ? value.slice(DIGITS.length) : undefined
  const bad = (): InferenceError => unlike(`output ${name}: ${digits ?? JSON.stringify(value)} is not a value of ${datatype}`)
  if (datatype === 'BOOL') {
    if (value === true || value === 1) return 1
    if (value === false || value === 0) return 0
    throw bad()
  }
  const number = digits === undefined ? value : Number(digits)
  if (typeof number !== 'number') throw bad()
  const range = RANGES[datatype]
  if (range === undefined) return number
  if (!Number.isInteger(number)) throw bad()
  const integer = BigInt(digits ?? number)
  if (integer < range[0] || integer > range[1]) throw bad()
  return datatype === 'INT64' || datatype === 'UINT64' ? integer : number
}

/** Parameters, whose long integers are numbers like others. */
function numbersBack(value: unknown): Record<string, string | number | boolean> {
  if (value === undefined || value === null) return {}
  const known = Object.entries(object(value, 'parameters')).filter(([, each]) => ['string', 'number', 'boolean'].includes(typeof each))
  return Object.fromEntries(
    known.map(([key, each]) => [
      key,
      typeof each === 'string' && each.startsWith(DIGITS) ? Number(each.slice(DIGITS.length)) : (each as string | number | boolean),
    ]),
  )
}

/** The elements of a BYTES tensor as text. */
export function strings(output: OutputTensor): string[] {
  if (output.datatype !== 'BYTES') throw new InferenceError('argument', `output ${output.name} is ${output.datatype}, and not BYTES`)
  const decoder = new TextDecoder()
  return output.data.map((each) => decoder.decode(each))
}
