import { DATATYPES, type Datatype, type ElementArray } from './datatypes.js'
import { invalid, quoted } from './error.js'

/** Least and greatest number that fits; of others than these whatever JSON has. */
const RANGES: Partial<Record<Datatype, readonly [number, number]>> = {
  UINT8: [0, 255],
  INT8: [-128, 127],
  INT16: [-32768, 32767],
  INT32: [-(2 ** 31), 2 ** 31 - 1],
  INT64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
}

const MAX_DIMENSIONS = 32

/** The number of elements of a shape. Throws for what is none, and beyond `most`. */
export function elementsOf(shape: unknown, name: string, most: number): number {
  if (!Array.isArray(shape) || shape.length > MAX_DIMENSIONS)
    throw invalid(`input '${name}': expected "shape" to be a list of sizes, found ${quoted(shape)}`)
  let count = 1
  for (const size of shape as unknown[]) {
    if (!Number.isSafeInteger(size) || (size as number) < 0)
      throw invalid(`input '${name}': expected "shape" to have whole numbers of at least 0, found ${quoted(size)}`)
    count *= size as number
  }
  if (count > most) throw invalid(`input '${name}': shape [${shape.join(', ')}] has more than the ${most} elements that a request may have`)
  return count
}

/** The elements of a JSON array, nested or flat. */
export function fromJson(
  data: unknown,
  datatype: Datatype,
  shape: readonly number[],
  count: number,
  name: string,
): ElementArray | Uint8Array[] {
  if (!Array.isArray(data)) throw invalid(`input '${name}': expected "data" to be an array, found ${quoted(data)}`)
  const flat = Array.isArray(data[0]) ? flattened(data, shape, count, name) : (data as unknown[])
  if (flat.length !== count)
    throw invalid(`input '${name}': shape [${shape.join(', ')}] needs ${count} elements, found ${flat.length} in "data"`)
  if (datatype === 'BYTES') return flat.map((each) => bytesOf(each, name))
  return numbers(flat, datatype, count, name)
}

function numbers(flat: readonly unknown[], datatype: Datatype, count: number, name: string): ElementArray {
  const { array: ArrayOf, dtype } = DATATYPES[datatype]
  if (dtype === null) throw invalid(`input '${name}': no model here takes ${datatype}`)
  if (datatype === 'FP16' || datatype === 'BF16')
    throw invalid(`input '${name}': ${datatype} has no form in JSON; send it as binary data ("binary_data_size")`)
  const out = new ArrayOf(count)
  const wrong = (value: unknown): Error => invalid(`input '${name}': ${quoted(value)} is no ${datatype}`)
  if (datatype === 'BOOL') {
    for (let i = 0; i < count; i++) {
      const value = flat[i]
      if (value !== true && value !== false && value !== 0 && value !== 1) throw wrong(value)
      out[i] = value === true || value === 1 ? 1 : 0
    }
    return out
  }
  const range = RANGES[datatype]
  if (range === undefined) {
    for (let i = 0; i < count; i++) {
      const value = flat[i]
      if (typeof value !== 'number') throw wrong(value)
      out[i] = value
    }
    return out
  }
  const [least, greatest] = range
  const isLong = datatype === 'INT64'
  for (let i = 0; i < count; i++) {
    const value = flat[i]
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > greatest) throw wrong(value)
    out[i] = isLong ? BigInt(value as number) : (value as number)
  }
  return out
}

/** Nesting has to be that of the shape. */
function flattened(data: readonly unknown[], shape: readonly number[], count: number, name: string): unknown[] {
  const flat: unknown[] = []
  const walk = (level: readonly unknown[], depth: number): void => {
    if (level.length !== shape[depth])
      throw invalid(
        `input '${name}': "data" is nested otherwise than shape [${shape.join(', ')}] says: ${level.length} at depth ${depth + 1}`,
      )
    if (depth === shape.length - 1) {
      for (const value of level) flat.push(value)
      return
    }
    for (const value of level) {
      if (!Array.isArray(value)) throw invalid(`input '${name}': "data" is nested otherwise than shape [${shape.join(', ')}] says`)
      walk(value, depth + 1)
    }
    if (flat.length > count) throw invalid(`input '${name}': shape [${shape.join(', ')}] needs ${count} elements, found more in "data"`)
  }
  walk(data, 0)
  return flat
}

function bytesOf(value: unknown, name: string): Uint8Array {
  if (typeof value !== 'string') throw invalid(`input '${name}': ${quoted(value)} is no BYTES, which are strings in JSON`)
  return Buffer.from(value, 'utf8')
}

/** The elements in `bytes`, in place where they lie at a multiple of their size. */
export function fromBinary(
  bytes: Uint8Array,
  datatype: Datatype,
  shape: readonly number[],
  count: number,
  name: string,
): ElementArray | Uint8Array[] {
  if (datatype === 'BYTES') return stringsOf(bytes, count, name)
  const { bytes: size, array: ArrayOf, dtype } = DATATYPES[datatype]
  if (dtype === null) throw invalid(`input '${name}': no model here takes ${datatype}`)
  if (bytes.length !== count * size)
    throw invalid(`input '${name}': ${datatype} of shape [${shape.join(', ')}] has ${count * size} bytes, found ${bytes.length}`)
  const { buffer, byteOffset } = byteOffsetFits(bytes, size) ? bytes : Uint8Array.from(bytes)
  const data = new ArrayOf(buffer as ArrayBuffer, byteOffset, count)
  if (datatype === 'BOOL') {
    for (let i = 0; i < count; i++) if ((data[i] as number) > 1) throw invalid(`input '${name}': ${data[i]} is no BOOL`)
  }
  return data
}

function byteOffsetFits({ byteOffset }: Uint8Array, size: number): boolean {
  return byteOffset % size === 0
}

/** Each behind its length, four bytes, little-endian. */
function stringsOf(bytes: Uint8Array, count: number, name: string): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    const length = at + 4 <= bytes.length ? view.getUint32(at, true) : Infinity
    if (length > bytes.length - at - 4) throw invalid(`input '${name}': its BYTES end in the middle of an element`)
    found.push(bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
    if (found.length > count) break
  }
  if (found.length !== count)
    throw invalid(`input '${name}': expected ${count} elements of BYTES, found ${found.length > count ? 'more' : found.length}`)
  return found
}

/** What binary data hold of a tensor. */
export function toBinary(datatype: Datatype, data: ElementArray | readonly Uint8Array[]): Uint8Array {
  if (datatype !== 'BYTES') {
    const { buffer, byteOffset, byteLength } = data as ElementArray
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
  }
  const parts = (data as readonly Uint8Array[]).flatMap((each) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(each.length)
    return [length, each]
  })
  return Buffer.concat(parts)
}
