/** Protocol buffers by tables, so that the rules do not lean on the library that the server uses. */

/** `[number, kind, repeated?]` for each field; a kind is a word below, or another table, or `map` of a table of values. */
const VARINTS = ['bool', 'int32', 'int64', 'uint32', 'uint64']

export function encode(table, message) {
  const parts = []
  for (const [name, value] of Object.entries(message)) {
    if (value === undefined) continue
    const [number, kind, repeated] = table[name]
    if (kind?.map !== undefined)
      for (const [key, each] of Object.entries(value))
        parts.push(field(number, { key: [1, 'string'], value: [2, kind.map] }, { key, value: each }))
    else if (repeated !== true) parts.push(field(number, kind, value))
    else if (VARINTS.includes(kind) || kind === 'float' || kind === 'double')
      parts.push(tagged(number, 2, Buffer.concat(value.map((each) => scalar(kind, each)))))
    else for (const each of value) parts.push(field(number, kind, each))
  }
  return Buffer.concat(parts)
}

function field(number, kind, value) {
  if (kind === 'float') return Buffer.concat([varint((BigInt(number) << 3n) | 5n), scalar(kind, value)])
  if (kind === 'double') return Buffer.concat([varint((BigInt(number) << 3n) | 1n), scalar(kind, value)])
  if (VARINTS.includes(kind)) return Buffer.concat([varint(BigInt(number) << 3n), scalar(kind, value)])
  return tagged(number, 2, typeof kind === 'object' ? encode(kind, value) : Buffer.from(value))
}

function tagged(number, type, bytes) {
  return Buffer.concat([varint((BigInt(number) << 3n) | BigInt(type)), varint(BigInt(bytes.length)), bytes])
}

function scalar(kind, value) {
  const bytes = Buffer.alloc(kind === 'double' ? 8 : 4)
  if (kind === 'float') bytes.writeFloatLE(value)
  else if (kind === 'double') bytes.writeDoubleLE(value)
  else return varint(BigInt.asUintN(64, BigInt(value)))
  return bytes
}

function varint(value) {
  const bytes = []
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 127n) | 128)
  }
}

/** Fields that are not there have their defaults: repeated ones are empty lists, messages undefined. Unknown ones are passed over. */
export function decode(table, bytes) {
  const message = Object.fromEntries(Object.entries(table).map(([name, [, kind, repeated]]) => [name, start(kind, repeated)]))
  const names = new Map(Object.entries(table).map(([name, [number]]) => [number, name]))
  const reader = { bytes, at: 0 }
  while (reader.at < bytes.length) {
    const tag = Number(readVarint(reader))
    const raw = readRaw(reader, tag & 7)
    const name = names.get(tag >> 3)
    if (name === undefined) continue
    const [, kind, repeated] = table[name]
    if (kind?.map !== undefined) {
      const { key, value } = decode({ key: [1, 'string'], value: [2, kind.map] }, raw)
      message[name][key] = value
    } else if (repeated !== true) message[name] = single(kind, raw)
    else if ((tag & 7) === 2 && typeof kind === 'string' && !['string', 'bytes'].includes(kind)) message[name].push(...packed(kind, raw))
    else message[name].push(single(kind, raw))
  }
  return message
}

function start(kind, repeated) {
  if (repeated === true) return []
  if (kind?.map !== undefined) return {}
  if (typeof kind === 'object') return undefined
  return { bool: false, string: '', bytes: Buffer.alloc(0), int64: 0n, uint64: 0n }[kind] ?? 0
}

function readVarint(reader) {
  let value = 0n
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) break
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return BigInt.asUintN(64, value)
  }
  throw new Error('a varint that does not end')
}

function readRaw(reader, type) {
  if (type === 0) return readVarint(reader)
  const length = { 1: 8, 5: 4 }[type] ?? (type === 2 ? Number(readVarint(reader)) : NaN)
  if (!(reader.at + length <= reader.bytes.length)) throw new Error(`a field of type ${type} past the end`)
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}

function single(kind, raw) {
  if (typeof kind === 'object') return decode(kind, raw)
  if (kind === 'string') return raw.toString()
  if (kind === 'bytes') return raw
  if (kind === 'float') return raw.readFloatLE()
  if (kind === 'double') return raw.readDoubleLE()
  if (kind === 'bool') return raw !== 0n
  if (kind === 'int64') return BigInt.asIntN(64, raw)
  return kind === 'uint64' ? raw : Number(kind === 'int32' ? BigInt.asIntN(32, raw) : raw)
}

function packed(kind, raw) {
  const size = { float: 4, double: 8 }[kind]
  if (size !== undefined) return Array.from({ length: raw.length / size }, (_, i) => single(kind, raw.subarray(i * size, (i + 1) * size)))
  const reader = { bytes: raw, at: 0 }
  const values = []
  while (reader.at < raw.length) values.push(single(kind, readVarint(reader)))
  return values
}
