import type { Lifetime } from './best-fit.js'

type Compare = (a: Lifetime, b: Lifetime) => number

const length = (b: Lifetime): number => b.last - b.first + 1

const COMPARE: Readonly<Record<string, Compare>> = {
  size: (a, b) => b.bytes - a.bytes || a.first - b.first,
  'size and lifetime': (a, b) => b.bytes * length(b) - a.bytes * length(a) || a.first - b.first,
  lifetime: (a, b) => length(b) - length(a) || b.bytes - a.bytes,
  time: (a, b) => a.first - b.first || b.bytes - a.bytes,
  'time backwards': (a, b) => b.last - a.last || b.bytes - a.bytes,
}

/** Buffers beyond which only the first orders are tried: placing costs the square of their number. */
const MANY = 3000

/** Orders in which buffers may be placed, best guess first; those of zero bytes are in them too. */
export function* orders(buffers: readonly Lifetime[]): Generator<readonly [string, readonly number[]]> {
  const numbers = buffers.map((_, i) => i)
  for (const [name, compare] of Object.entries(COMPARE)) {
    yield [name, [...numbers].sort((a, b) => compare(buffers[a]!, buffers[b]!) || a - b)]
    if (buffers.length > MANY) return
  }
  yield ['pressure', byPressure(buffers)]
}

/** Steps with the most live bytes first; at each, what is not yet placed, largest first. */
function byPressure(buffers: readonly Lifetime[]): number[] {
  const steps = buffers.reduce((most, b) => Math.max(most, b.last + 1), 0)
  const alive: number[][] = Array.from({ length: steps }, () => [])
  buffers.forEach((b, i) => {
    for (let step = b.first; step <= b.last; step++) alive[step]!.push(i)
  })
  const pressure = alive.map((list) => list.reduce((sum, i) => sum + buffers[i]!.bytes, 0))
  const sequence = new Set<number>()
  for (const step of pressure.map((_, i) => i).sort((a, b) => pressure[b]! - pressure[a]! || a - b)) {
    for (const i of alive[step]!.sort((a, b) => buffers[b]!.bytes - buffers[a]!.bytes || a - b)) sequence.add(i)
  }
  return [...sequence]
}

/** The order with the buffer that ends highest placed before all others. */
export function promoteHighest(buffers: readonly Lifetime[], offsets: readonly number[], sequence: readonly number[]): number[] {
  let highest = 0
  sequence.forEach((buffer, i) => {
    const end = offsets[buffer]! + buffers[buffer]!.bytes
    const top = sequence[highest]!
    if (end > offsets[top]! + buffers[top]!.bytes) highest = i
  })
  const promoted = [...sequence]
  const [buffer] = promoted.splice(highest, 1)
  return [buffer!, ...promoted]
}
