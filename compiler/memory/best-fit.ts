/** A piece of memory and when it is in use: from step `first` to step `last`, both included. */
export interface Lifetime {
  readonly bytes: number
  readonly first: number
  readonly last: number
}

interface Placed {
  readonly buffer: Lifetime
  readonly offset: number
}

/** Places buffers in the order of `sequence` (their numbers), each into the smallest gap between those that are alive with it. */
export function bestFit(buffers: readonly Lifetime[], sequence: readonly number[]): { offsets: number[]; arenaBytes: number } {
  const offsets = new Array<number>(buffers.length).fill(0)
  // by offset
  const placed: Placed[] = []
  let arenaBytes = 0
  for (const index of sequence) {
    const buffer = buffers[index]!
    const offset = buffer.bytes === 0 ? 0 : smallestGap(placed, buffer)
    offsets[index] = offset
    arenaBytes = Math.max(arenaBytes, offset + buffer.bytes)
    if (buffer.bytes > 0) insert(placed, { buffer, offset })
  }
  return { offsets, arenaBytes }
}

function smallestGap(placed: readonly Placed[], { bytes, first, last }: Lifetime): number {
  let end = 0
  let best = -1
  let bestRoom = Infinity
  for (const { buffer, offset } of placed) {
    if (buffer.first > last || buffer.last < first) continue
    const room = offset - end
    if (room >= bytes && room < bestRoom) {
      best = end
      bestRoom = room
    }
    end = Math.max(end, offset + buffer.bytes)
  }
  return best >= 0 ? best : end
}

function insert(placed: Placed[], item: Placed): void {
  let low = 0
  let high = placed.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (placed[middle]!.offset <= item.offset) low = middle + 1
    else high = middle
  }
  placed.splice(low, 0, item)
}
