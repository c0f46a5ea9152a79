/** The model that rules are tried on: any that the server has, with inputs made of its metadata. */
import { send } from './http.mjs'
import { MODEL_METADATA, SERVER_METADATA, SIZES, misfit } from './shape.mjs'

/** Bytes of elements, in the order of the binary extension. */
export function bytesOf(datatype, values) {
  if (datatype === 'BYTES')
    return Buffer.concat(
      values.map((value) => {
        const bytes = Buffer.from(value)
        const length = Buffer.alloc(4)
        length.writeUInt32LE(bytes.length)
        return Buffer.concat([length, bytes])
      }),
    )
  const bytes = Buffer.alloc(values.length * SIZES[datatype])
  values.forEach((value, i) => WRITERS[datatype](bytes, value, i * SIZES[datatype]))
  return bytes
}

/** Elements of bytes; integers of 64 bits are bigints. */
export function valuesOf(datatype, bytes) {
  if (datatype === 'BYTES') {
    const values = []
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt32LE(at)
      values.push(bytes.subarray(at + 4, at + 4 + length).toString())
      at += 4 + length
    }
    return values
  }
  return Array.from({ length: bytes.length / SIZES[datatype] }, (_, i) => READERS[datatype](bytes, i * SIZES[datatype]))
}

const WRITERS = {
  BOOL: (bytes, value, at) => bytes.writeUInt8(value ? 1 : 0, at),
  UINT8: (bytes, value, at) => bytes.writeUInt8(value, at),
  UINT16: (bytes, value, at) => bytes.writeUInt16LE(value, at),
  UINT32: (bytes, value, at) => bytes.writeUInt32LE(value, at),
  UINT64: (bytes, value, at) => bytes.writeBigUInt64LE(BigInt(value), at),
  INT8: (bytes, value, at) => bytes.writeInt8(value, at),
  INT16: (bytes, value, at) => bytes.writeInt16LE(value, at),
  INT32: (bytes, value, at) => bytes.writeInt32LE(value, at),
  INT64: (bytes, value, at) => bytes.writeBigInt64LE(BigInt(value), at),
  FP32: (bytes, value, at) => bytes.writeFloatLE(value, at),
  FP64: (bytes, value, at) => bytes.writeDoubleLE(value, at),
  // 1 and 0 alone
  FP16: (bytes, value, at) => bytes.writeUInt16LE(value === 0 ? 0 : 0x3c00, at),
  BF16: (bytes, value, at) => bytes.writeUInt16LE(value === 0 ? 0 : 0x3f80, at),
}
const READERS = {
  BOOL: (bytes, at) => bytes.readUInt8(at) === 1,
  UINT8: (bytes, at) => bytes.readUInt8(at),
  UINT16: (bytes, at) => bytes.readUInt16LE(at),
  UINT32: (bytes, at) => bytes.readUInt32LE(at),
  UINT64: (bytes, at) => bytes.readBigUInt64LE(at),
  INT8: (bytes, at) => bytes.readInt8(at),
  INT16: (bytes, at) => bytes.readInt16LE(at),
  INT32: (bytes, at) => bytes.readInt32LE(at),
  INT64: (bytes, at) => bytes.readBigInt64LE(at),
  FP32: (bytes, at) => bytes.readFloatLE(at),
  FP64: (bytes, at) => bytes.readDoubleLE(at),
  FP16: (bytes, at) => bytes.readUInt16LE(at),
  BF16: (bytes, at) => bytes.readUInt16LE(at),
}

/** Values that any model takes: indices into tables among them. */
function valuesFor({ datatype }, count) {
  const of =
    { BOOL: (i) => i % 2 === 0, BYTES: (i) => `text ${i}`, FP32: (i) => 0.5 + (i % 7), FP64: (i) => 0.5 + (i % 7) }[datatype] ??
    ((i) => i % 2)
  return Array.from({ length: count }, (_, i) => of(i))
}

export const countOf = (shape) => shape.reduce((product, size) => product * size, 1)

/** Values in rows, as their shape has them. */
export function nested(values, shape) {
  if (shape.length <= 1) return values
  const row = countOf(shape.slice(1))
  return Array.from({ length: shape[0] }, (_, i) => nested(values.slice(i * row, (i + 1) * row), shape.slice(1)))
}

export class Subject {
  constructor(base, headers, server, metadata) {
    this.base = base
    this.headers = headers
    this.server = server
    this.metadata = metadata
    this.name = metadata.name
    this.path = `v2/models/${encodeURIComponent(metadata.name)}`
    this.version = metadata.versions?.at(-1)
    /** Inputs with values, sizes that are not fixed being 1. */
    this.inputs = metadata.inputs.map((input) => {
      const shape = input.shape.map((size) => (size === -1 ? 1 : size))
      return { ...input, shape, values: valuesFor(input, countOf(shape)) }
    })
    const hasNoJson = ({ datatype }) => datatype === 'FP16' || datatype === 'BF16'
    this.outputsNeedBinary = metadata.outputs.some(hasNoJson)
    this.needsBinary = this.outputsNeedBinary || this.inputs.some(hasNoJson)
  }

  has(extension) {
    return this.server.extensions.includes(extension)
  }

  /** An inference whose tensors are JSON; `change` alters what is sent. */
  infer(change = (request) => request, path = `${this.path}/infer`) {
    const inputs = this.inputs.map(({ name, shape, datatype, values }) => ({ name, shape, datatype, data: values }))
    return this.post(path, change({ inputs }))
  }

  /** An inference whose inputs are bytes behind the JSON; so are outputs that have no form in it. */
  inferBinary(change = (request) => request, alter = {}) {
    const raw = this.inputs.map(({ datatype, values }) => bytesOf(datatype, values))
    const inputs = this.inputs.map(({ name, shape, datatype }, i) => ({
      name,
      shape,
      datatype,
      parameters: { binary_data_size: raw[i].length },
    }))
    const plain = this.outputsNeedBinary ? { parameters: { binary_data_output: true }, inputs } : { inputs }
    const json = Buffer.from(JSON.stringify(change(plain)))
    const body = Buffer.concat([json, ...raw, ...(alter.more ?? [])]).subarray(0, alter.cut === undefined ? undefined : -alter.cut)
    const headers = { 'content-type': 'application/octet-stream', 'inference-header-content-length': String(json.length), ...alter.headers }
    for (const name of alter.without ?? []) delete headers[name]
    return { method: 'POST', path: `${this.path}/infer`, headers: { ...this.headers, ...headers }, body }
  }

  post(path, value) {
    const body = typeof value === 'string' ? value : JSON.stringify(value)
    return { method: 'POST', path, headers: { ...this.headers, 'content-type': 'application/json' }, body }
  }

  get(path) {
    return { method: 'GET', path, headers: this.headers }
  }

  send(request) {
    return send(this.base, request)
  }
}

/** Finds the model: the one named, or else the first that is ready. */
export async function findSubject(base, name, headers) {
  const get = async (path, pattern) => {
    const { status, json } = await send(base, { method: 'GET', path, headers })
    const wrong = status !== 200 ? `status ${status}` : misfit(json, pattern)
    if (wrong !== undefined) throw new Error(`GET ${path}: ${wrong}`)
    return json
  }
  const server = await get('v2', SERVER_METADATA)
  let wanted = name
  if (wanted === undefined) {
    const { json } = await send(base, {
      method: 'POST',
      path: 'v2/repository/index',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"ready":true}',
    })
    wanted = Array.isArray(json) ? json[0]?.name : undefined
    if (wanted === undefined) throw new Error('the server names no model that is ready; name one with --model')
  }
  return new Subject(base, headers, server, await get(`v2/models/${encodeURIComponent(wanted)}`, MODEL_METADATA))
}

/** Alters a request: it has these parameters, too. */
export const withParameters = (parameters) => (request) => ({ ...request, parameters: { ...request.parameters, ...parameters } })

/** Values of an output, wherever they stand. */
export function outputValues(answer, name) {
  let at = 0
  for (const output of answer.json.outputs) {
    const size = output.parameters?.binary_data_size
    if (output.name === name)
      return size === undefined ? output.data.flat(Infinity) : valuesOf(output.datatype, answer.raw.subarray(at, at + size))
    at += size ?? 0
  }
  return undefined
}

/** Whether two answers have the same values, floats to six digits. */
export function differing(a, b) {
  for (const { name } of a.json.outputs) {
    const [left, right] = [outputValues(a, name), outputValues(b, name)]
    if (left?.length !== right?.length) return `output ${name} has ${left?.length} values in one answer, ${right?.length} in the other`
    const i = left.findIndex((value, i) => !alike(value, right[i]))
    if (i >= 0) return `output ${name} at ${i}: ${left[i]} in one answer, ${right[i]} in the other`
  }
  return undefined
}

export function alike(a, b) {
  if (typeof a === 'bigint' || typeof b === 'bigint') return BigInt(a) === BigInt(b)
  if (typeof a !== 'number' || typeof b !== 'number') return a === b
  return Object.is(a, b) || Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b), 1e-30)
}
