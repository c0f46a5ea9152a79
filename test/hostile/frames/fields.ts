import type { FrameLayout, FrameMember } from '../../../compiler/capture/frame-layout.js'

/** Members that are numbers, in their order. */
export function numbersIn(layout: FrameLayout): FrameMember[] {
  return [...layout.fields.values()].filter((m) => m.kind !== 'ptr' && m.name !== 'handle')
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** An element of a member: a bigint for an integer, else a number. */
export function get(bytes: Uint8Array, { kind, offset }: FrameMember, index: number): bigint | number {
  const data = view(bytes)
  switch (kind) {
    case 'i32':
      return BigInt(data.getInt32(offset + 4 * index, true))
    case 'f32':
      return data.getFloat32(offset + 4 * index, true)
    case 'f64':
      return data.getFloat64(offset + 8 * index, true)
    default:
      return data.getBigInt64(offset + 8 * index, true)
  }
}

/** Writes one; integers that are too large lose their upper bits. */
export function put(bytes: Uint8Array, { kind, offset }: FrameMember, index: number, value: bigint | number): void {
  const data = view(bytes)
  if (kind === 'i32') data.setInt32(offset + 4 * index, Number(BigInt.asIntN(32, BigInt(value))), true)
  else if (kind === 'f32') data.setFloat32(offset + 4 * index, Number(value), true)
  else if (kind === 'f64') data.setFloat64(offset + 8 * index, Number(value), true)
  else data.setBigInt64(offset + 8 * index, BigInt.asIntN(64, BigInt(value)), true)
}
