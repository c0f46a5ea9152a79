import type { ByteSource } from './containers/bytes.js'

/** Fields that are looked at: those of models come before their weights. */
const MAX_FIELDS = 64
/** A varint, and one more. */
const LONGEST_HEAD = 20

/** Numbers of fields of ONNX' ModelProto. */
const IR_VERSION = 1
const GRAPH = 7
const OPSET = 8
const ONNX_FIELDS = new Set([1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26])
/** The versions that there may be of ONNX' format. */
const MAX_IR_VERSION = 255n

/** What a file of Protocol Buffers is; undefined where it is none that is known. Sizes are those that the file says, so nothing is read of what lies between. */
export function describeProtobuf(source: ByteSource): string | undefined {
  const seen = new Set<number>()
  let at = 0
  for (let count = 0; count < MAX_FIELDS && at < source.size; count++) {
    const field = fieldAt(source, at)
    if (field === undefined || !ONNX_FIELDS.has(field.number)) return undefined
    if (count === 0 && (field.number !== IR_VERSION || field.value < 1n || field.value > MAX_IR_VERSION)) return undefined
    seen.add(field.number)
    // a download that broke off ends in its graph
    if (field.end > source.size) return seen.has(GRAPH) ? 'an ONNX model, and not whole' : undefined
    at = field.end
  }
  if (seen.has(GRAPH) || seen.has(OPSET)) return 'an ONNX model'
  return at === source.size && seen.size === 2 && seen.has(2) ? 'a saved model of TensorFlow' : undefined
}

/** A field of type varint or bytes: its number, its value or length, and where the next one begins. */
function fieldAt(source: ByteSource, at: number): { number: number; value: bigint; end: number } | undefined {
  const bytes = source.read(at, Math.min(LONGEST_HEAD, source.size - at))
  const tag = varint(bytes, 0)
  if (tag === undefined) return undefined
  const value = varint(bytes, tag.end)
  const type = tag.value & 7n
  if (value === undefined || (type !== 0n && type !== 2n) || value.value > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return { number: Number(tag.value >> 3n), value: value.value, end: at + value.end + (type === 2n ? Number(value.value) : 0) }
}

/** undefined where the bytes end in the middle of it. */
function varint(bytes: Uint8Array, at: number): { value: bigint; end: number } | undefined {
  let value = 0n
  for (let i = at; i < Math.min(bytes.length, at + 10); i++) {
    value |= BigInt(bytes[i]! & 0x7f) << BigInt(7 * (i - at))
    if (bytes[i]! < 0x80) return { value, end: i + 1 }
  }
  return undefined
}
