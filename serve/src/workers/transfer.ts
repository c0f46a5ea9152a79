import type { WireTensor } from '../protocol/tensor.js'
import type { NamedResult, SentArgument, SentTensor } from './messages.js'

/** Bytes up to which copying a buffer takes less time than handing it over. */
const SMALL = 4096

/** What of these is handed over to another thread; the rest is copied. */
export function buffersOf(sent: readonly SentArgument[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  for (const each of sent) {
    if (each === null) continue
    if ('buffer' in each && each.buffer.byteLength > SMALL) buffers.add(each.buffer)
  }
  return [...buffers]
}

/** Buffers of what a model was given that are none of its results. */
export function unusedOf(given: readonly SentArgument[], results: readonly NamedResult[]): ArrayBuffer[] {
  const buffers = buffersOf(given)
  if (buffers.length === 0) return buffers
  const used = buffersOf(results.map(({ value }) => value))
  return buffers.filter((each) => !used.includes(each))
}

/** A tensor as it is sent; byte strings are copied, as they may be parts of one large buffer. */
export function toSent({ datatype, shape, data }: WireTensor): SentArgument {
  if (datatype === 'BYTES') return { datatype, shape, strings: (data as readonly Uint8Array[]).map((each) => new Uint8Array(each)) }
  const { buffer, byteOffset, byteLength } = data as Float32Array
  return { datatype, shape, buffer: buffer as ArrayBuffer, offset: byteOffset, bytes: byteLength } satisfies SentTensor
}
