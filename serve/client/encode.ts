import {
  CLASSES,
  RANGES,
  datatypeOfArray,
  datatypeOfDtype,
  elementsOf,
  isDatatype,
  type Datatype,
  type NumericDatatype,
  type TypedData,
} from './datatypes.js'
import { wrong } from './errors.js'
import { type Input, type InferOptions, type Parameters, type ParameterValue } from './types.js'

/** An input that was checked: as many elements as its shape says, in an array of its datatype. */
export type CheckedInput =
  | {
      readonly name: string
      readonly shape: readonly number[]
      readonly parameters: Parameters
      readonly datatype: NumericDatatype
      readonly data: TypedData
    }
  | {
      readonly name: string
      readonly shape: readonly number[]
      readonly parameters: Parameters
      readonly datatype: 'BYTES'
      readonly data: readonly Uint8Array[]
    }

/** A request as it is sent. */
export interface EncodedRequest {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

const utf8 = new TextEncoder()

/** Checks inputs before anything is sent. Throws `argument` errors that name the input. */
export function checkInputs(inputs: Readonly<Record<string, Input>>): CheckedInput[] {
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs))
    throw wrong('inputs: expected an object with an input for each name')
  return Object.entries(inputs).map(([name, input]) => checkInput(name, input))
}

function checkInput(name: string, input: Input): CheckedInput {
  if (typeof input !== 'object' || input === null) throw wrong(`input ${name}: expected { data, shape } or a tensor, found ${typeof input}`)
  if ('dtype' in input) {
    const datatype = datatypeOfDtype(input.dtype)
    if (datatype === undefined) throw wrong(`input ${name}: no datatype of the protocol holds ${input.dtype}; convert the tensor first`)
    return numeric(name, datatype, input.data(), input.shape, {})
  }
  const { data, parameters = {} } = input
  if (!ArrayBuffer.isView(data) && !Array.isArray(data)) throw wrong(`input ${name}: data is neither a typed array nor an array`)
  checkParameters(parameters, `input ${name}`)
  const shape = input.shape ?? [data.length]
  const datatype = input.datatype ?? guess(name, data)
  if (!isDatatype(datatype)) throw wrong(`input ${name}: ${String(datatype)} is no datatype of the protocol`)
  if (datatype === 'BYTES') return { name, shape: checkedShape(name, shape, data.length), parameters, datatype, data: bytesOf(name, data) }
  return numeric(name, datatype, data, shape, parameters)
}

function guess(name: string, data: object): Datatype {
  const [first] = Array.isArray(data) ? (data as unknown[]) : []
  const found =
    datatypeOfArray(data) ??
    (typeof first === 'boolean' ? 'BOOL' : typeof first === 'string' || first instanceof Uint8Array ? 'BYTES' : undefined)
  if (found === undefined) throw wrong(`input ${name}: an array of this kind needs a datatype, e.g. { datatype: 'FP32' }`)
  return found
}

function checkedShape(name: string, shape: readonly number[], length: number): readonly number[] {
  const count = elementsOf(shape)
  if (count === undefined) throw wrong(`input ${name}: shape [${String(shape)}] is not a list of integers from 0`)
  if (count !== length) throw wrong(`input ${name}: shape [${String(shape)}] has ${count} elements, data has ${length}`)
  return [...shape]
}

function numeric(
  name: string,
  datatype: NumericDatatype,
  data: ArrayBufferView | readonly unknown[],
  shape: readonly number[],
  parameters: Parameters,
): CheckedInput {
  const type = CLASSES[datatype]
  if (ArrayBuffer.isView(data)) {
    const own = datatypeOfArray(data)
    // Uint8Array holds BOOL, too, and Uint16Array the bits of the 16-bit floats
    if (own === undefined || CLASSES[own] !== type)
      throw wrong(`input ${name}: ${datatype} takes a ${type.name}, found a ${data.constructor.name}`)
    const typed = data as TypedData
    if (datatype === 'BOOL' && typed.some((each: number | bigint) => each !== 0 && each !== 1))
      throw wrong(`input ${name}: BOOL takes 0 and 1 alone`)
    return { name, shape: checkedShape(name, shape, typed.length), parameters, datatype, data: typed }
  }
  const checked = checkedShape(name, shape, data.length)
  if (datatype === 'FP16' || datatype === 'BF16') throw wrong(`input ${name}: ${datatype} takes a Uint16Array of raw bits`)
  const typed = new type(data.length)
  data.forEach((element, i) => {
    typed[i] = elementOf(name, datatype, element, i) as never
  })
  return { name, shape: checked, parameters, datatype, data: typed }
}

/** An element as the array of its datatype takes it. */
function elementOf(name: string, datatype: NumericDatatype, element: unknown, i: number): number | bigint {
  const bad = (): never => {
    throw wrong(`input ${name}: ${String(element)} at ${i} is not a value of ${datatype}`)
  }
  if (datatype === 'BOOL') return element === true || element === 1 ? 1 : element === false || element === 0 ? 0 : bad()
  const range = RANGES[datatype]
  if (range === undefined) return typeof element === 'number' ? element : bad()
  if (typeof element === 'number' ? !Number.isInteger(element) : typeof element !== 'bigint') return bad()
  const value = BigInt(element as number | bigint)
  if (value < range[0] || value > range[1]) return bad()
  return datatype === 'INT64' || datatype === 'UINT64' ? value : Number(value)
}

function bytesOf(name: string, data: ArrayBufferView | readonly unknown[]): Uint8Array[] {
  if (!Array.isArray(data)) throw wrong(`input ${name}: BYTES takes an array of strings or of Uint8Array`)
  return (data as unknown[]).map((element, i) => {
    const bytes = typeof element === 'string' ? utf8.encode(element) : element
    if (!(bytes instanceof Uint8Array)) throw wrong(`input ${name}: the element at ${i} is neither a string nor a Uint8Array`)
    return bytes
  })
}

export function checkParameters(parameters: Parameters, where: string): void {
  for (const [key, value] of Object.entries(parameters as Record<string, unknown>))
    if (typeof value !== 'string' && typeof value !== 'boolean' && !(typeof value === 'number' && Number.isFinite(value)))
      throw wrong(`${where}: parameter ${key} is neither a string nor a finite number nor a boolean`)
}

/** The parameters of a request, with priority and sequence as the extensions name them. */
export function requestParameters({ parameters = {}, priority, sequence }: InferOptions): Record<string, ParameterValue> {
  checkParameters(parameters, 'parameters')
  const all: Record<string, ParameterValue> = { ...parameters }
  if (priority !== undefined) {
    if (!Number.isSafeInteger(priority) || priority < 0) throw wrong(`priority: expected an integer from 0, found ${priority}`)
    all['priority'] = priority
  }
  if (sequence !== undefined) {
    const { id, start, end } = sequence
    if (typeof id === 'number' ? !Number.isSafeInteger(id) || id <= 0 : typeof id !== 'string' || id === '')
      throw wrong(`sequence.id: expected an integer from 1 or a string that is not empty, found ${JSON.stringify(id)}`)
    all['sequence_id'] = id
    if (start === true) all['sequence_start'] = true
    if (end === true) all['sequence_end'] = true
  }
  return all
}

/** The body and headers of an inference request, with tensors as bytes behind the JSON or as numbers in it. */
export function encodeRequest(inputs: readonly CheckedInput[], options: InferOptions, binary: boolean): EncodedRequest {
  const parameters = requestParameters(options)
  if (binary && options.outputs === undefined) parameters['binary_data_output'] = true
  const parts = binary ? inputs.map(rawBytes) : []
  const head = [
    ...(options.id === undefined ? [] : [`"id":${JSON.stringify(String(options.id))}`]),
    ...(Object.keys(parameters).length === 0 ? [] : [`"parameters":${JSON.stringify(parameters)}`]),
    `"inputs":[${inputs.map((input, i) => inputJson(input, parts[i])).join(',')}]`,
    ...(options.outputs === undefined ? [] : [`"outputs":${outputsJson(options.outputs, binary)}`]),
  ]
  const json = utf8.encode(`{${head.join(',')}}`)
  if (!binary) return { body: json, headers: { 'content-type': 'application/json' } }
  const body = new Uint8Array(parts.reduce((sum, part) => sum + part.length, json.length))
  body.set(json)
  let at = json.length
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return { body, headers: { 'content-type': 'application/octet-stream', 'inference-header-content-length': String(json.length) } }
}

function outputsJson(names: readonly string[], binary: boolean): string {
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) throw wrong('outputs: expected a list of names')
  return JSON.stringify(names.map((name: string) => (binary ? { name, parameters: { binary_data: true } } : { name })))
}

function inputJson(input: CheckedInput, raw: Uint8Array | undefined): string {
  const { name, shape, datatype } = input
  const parameters: Parameters = raw === undefined ? input.parameters : { ...input.parameters, binary_data_size: raw.length }
  const head = JSON.stringify({ name, shape, datatype, ...(Object.keys(parameters).length > 0 && { parameters }) })
  return raw === undefined ? `${head.slice(0, -1)},"data":${dataJson(input)}}` : head
}

/** The elements of one tensor, as the binary extension wants them. */
function rawBytes(input: CheckedInput): Uint8Array {
  if (input.datatype !== 'BYTES') return new Uint8Array(input.data.buffer, input.data.byteOffset, input.data.byteLength)
  const raw = new Uint8Array(input.data.reduce((sum, each) => sum + 4 + each.length, 0))
  const view = new DataView(raw.buffer)
  let at = 0
  for (const each of input.data) {
    view.setUint32(at, each.length, true)
    raw.set(each, at + 4)
    at += 4 + each.length
  }
  return raw
}

function dataJson(input: CheckedInput): string {
  const { name, datatype, data } = input
  if (datatype === 'FP16' || datatype === 'BF16')
    throw wrong(`input ${name}: JSON has no form for ${datatype}; the server has to take binary tensors`)
  if (datatype === 'BOOL') return `[${Array.from(data as Uint8Array, (each) => each === 1).join(',')}]`
  if (datatype === 'BYTES') return JSON.stringify(data.map((each, i) => textOf(name, each, i)))
  if ((datatype === 'FP32' || datatype === 'FP64') && !(data as Float32Array).every(Number.isFinite))
    throw wrong(`input ${name}: JSON has no NaN and no infinity; the server has to take binary tensors`)
  // a bigint's own text is a JSON number, with all its digits
  return `[${data.join(',')}]`
}

function textOf(name: string, bytes: Uint8Array, i: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw wrong(
      `input ${name}: the bytes at ${i} are not UTF-8, which JSON needs; the server has to take binary tensors (${String(cause)})`,
    )
  }
}
