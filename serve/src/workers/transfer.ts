import type { ElementArray } from '../protocol/datatypes.js'
import type { WireTensor } from '../protocol/tensor.js'
import type { SentArgument } from './messages.js'

/** Bytes up to which copying a buffer takes less time than handing it over. */
const SMALL = 4096

/** What of these is handed over to another thread; the rest is copied. */
export function buffersOf(sent: readonly SentArgument[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  for (const each of sent) {
    if (each === null || !('data' in each)) continue
    const buffer = each.data.buffer as ArrayBuffer
    if (buffer.byteLength > SMALL) buffers.add(buffer)
  }
  return [...buffers]
}

/** A tensor as it is sent; byte strings are copied, as they may be parts of one large buffer. */
export function toSent({ datatype, shape, data }: WireTensor): SentArgument {
  if (datatype === 'BYTES') return { datatype, shape, strings: (data as readonly Uint8Array[]).map((each) => new Uint8Array(each)) }
  return { datatype, shape, data: data as ElementArray }
}
