/** How clients write requests. */
import { deflateSync, gzipSync } from 'node:zlib'

/** JSON as Python's json.dumps writes it by default. */
export function pythonJson(value) {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${pythonJson(each)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}

export const int32 = (values) => Buffer.from(Int32Array.from(values).buffer)
export const float32 = (values) => Buffer.from(Float32Array.from(values).buffer)

/** JSON, with tensors' bytes behind it: the length of the JSON stands in a header then. No content type, as clients on plain sockets have it. */
export function withBytes(json, parts, headers = {}) {
  const head = Buffer.from(json)
  return { headers: { ...headers, 'inference-header-content-length': String(head.length) }, body: Buffer.concat([head, ...parts]) }
}

/** The length of the JSON counts before compression. */
export function compressed({ headers, body }, encoding) {
  return { headers: { ...headers, 'content-encoding': encoding }, body: encoding === 'gzip' ? gzipSync(body) : deflateSync(body) }
}

/** Of an answer, the elements of an output that stands behind the JSON. */
export function bytesOfOutput({ json, raw }, name) {
  let at = 0
  for (const { name: found, parameters } of json.outputs) {
    const size = parameters?.binary_data_size ?? 0
    if (found === name) return raw.subarray(at, at + size)
    at += size
  }
  return undefined
}

/** What is wrong where two values are not the same. */
export function unequal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  return a === b ? undefined : `${what}: expected ${b}, found ${a}`
}
