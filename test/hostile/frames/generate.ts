import { layoutOfName, type FrameLayout, type FrameMember } from '../../../compiler/capture/frame-layout.js'
import type { CapturedFrame } from '../../../compiler/capture/captured.js'
import { type Reach, reachOf, workOf } from '../../../compiler/frames/check-frame.js'
import { KERNEL_EXTENTS } from '../../../runtime/native/generated/extents.js'
import { get, numbersIn, put } from './fields.js'
import type { Random } from './random.js'
import { type Seed, seedsOf } from './seeds.js'

/** A frame that passes the check of its kernel, and what it reaches. Its addresses are 1 where they are not 0. */
export interface Candidate {
  readonly layout: FrameLayout
  readonly bytes: Uint8Array
  readonly reach: readonly Reach[]
}

/** Repairs of numbers that the check refuses. */
const TRIES = 60
/** Bytes of memory that a frame may reach. */
const MAX_BYTES = 1 << 20
/** Operations, which take a second at most. */
const MAX_FLOPS = 2 ** 29

const DTYPES = [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15]
const EDGES = [
  -1n,
  -2n,
  0n,
  1n,
  2n ** 15n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n - 1n,
  -(2n ** 31n),
  -(2n ** 63n),
]
const FLOATS = [0, 1, -1, 0.5, 2, 1e-3, 1e30, -1e30, 1e300, Infinity, -Infinity, NaN]

/** A random frame of a kernel that declares its extents; null where none was found that passes the check. */
export function candidate(kernel: string, random: Random): Candidate | null {
  const layout = layoutOfName(kernel)!
  const { bytes, absent } = first(layout, random)
  for (let n = random.of([0, 1, 1, 2, 2, 3, 5]); n > 0; n--) change(layout, bytes, random.of(numbersIn(layout)), random)
  for (let i = 0; i < TRIES; i++) {
    const frame = captured(layout, bytes, absent)
    const reach = reachOf(frame)
    if (typeof reach === 'string') repair(layout, bytes, reach, random)
    else if (total(reach) > MAX_BYTES || workOf(frame)!.flops > MAX_FLOPS) change(layout, bytes, random.of(numbersIn(layout)), random, true)
    else return { layout, bytes: withAddresses(layout, bytes, absent, reach, random), reach }
  }
  return null
}

function total(reach: readonly Reach[]): number {
  return reach.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** One that was recorded, or small numbers. */
function first(layout: FrameLayout, random: Random): { bytes: Uint8Array; absent: ReadonlySet<number> } {
  const bytes = new Uint8Array(layout.size)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, layout.kernel, true)
  const seeds = seedsOf(layout.name)
  if (seeds.length > 0 && random.chance(0.8)) {
    const seed = random.of(seeds)
    return { bytes: frameOf(layout, seed), absent: new Set(seed.absent.filter(() => random.chance(0.9))) }
  }
  for (const member of numbersIn(layout))
    for (let i = 0; i < member.count; i++) put(bytes, member, i, member.kind[0] === 'i' ? small(layout, member, random) : random.of(FLOATS))
  return { bytes, absent: new Set(layout.pointers.filter(() => random.chance(0.2))) }
}

function frameOf(layout: FrameLayout, { fields }: Seed): Uint8Array {
  const bytes = new Uint8Array(layout.size)
  new DataView(bytes.buffer).setUint32(0, layout.kernel, true)
  for (const member of numbersIn(layout))
    (fields[member.name] ?? []).forEach((value, i) => i < member.count && put(bytes, member, i, Number(value)))
  return bytes
}

/** What the check says against recorded frames of a kernel. */
export function refusedSeeds(kernel: string): string[] {
  const layout = layoutOfName(kernel)!
  return seedsOf(kernel).flatMap((seed) => {
    const reach = reachOf(captured(layout, frameOf(layout, seed), new Set(seed.absent)))
    return typeof reach === 'string' ? [reach] : []
  })
}

function small(layout: FrameLayout, { name }: FrameMember, random: Random): bigint {
  const values = KERNEL_EXTENTS[layout.name]!.enums?.[name]
  if (values !== undefined) return BigInt(random.below(values))
  if (name.endsWith('dtype') || name === 'element') return BigInt(random.of(DTYPES))
  return BigInt(random.of([0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 17, 33]))
}

/** Puts another number in place of one or more of a member. */
function change(layout: FrameLayout, bytes: Uint8Array, member: FrameMember, random: Random, smaller = false): void {
  for (let n = random.of([1, 1, 2, member.count]); n > 0; n--) {
    const index = random.of([random.below(member.count), Math.min(random.below(3), member.count - 1)])
    const old = get(bytes, member, index)
    put(bytes, member, index, typeof old === 'bigint' ? integer(layout, bytes, member, old, random, smaller) : random.of(FLOATS))
  }
}

function integer(layout: FrameLayout, bytes: Uint8Array, member: FrameMember, old: bigint, random: Random, smaller: boolean): bigint {
  if (smaller) return random.of([0n, 1n, 2n, old / 2n, small(layout, member, random)])
  switch (random.below(12)) {
    case 0:
      return random.of(EDGES)
    case 1:
    case 2: {
      const other = random.of(numbersIn(layout))
      const value = get(bytes, other, random.below(Math.min(other.count, 3)))
      return typeof value === 'bigint' ? value : old
    }
    case 3:
      return old + random.of([1n, -1n])
    case 4:
      return random.of([old * 2n, old / 2n, -old])
    case 5:
      return old ^ (1n << BigInt(random.below(64)))
    default:
      return small(layout, member, random)
  }
}

/** Changes a member that the fault names, or any one. */
function repair(layout: FrameLayout, bytes: Uint8Array, fault: string, random: Random): void {
  const words = new Set(fault.slice(fault.indexOf(':')).match(/\w+/g))
  const named = numbersIn(layout).filter(({ name }) => words.has(name))
  const member = random.of(named.length > 0 && random.chance(0.9) ? named : numbersIn(layout))
  change(layout, bytes, member, random, random.chance(0.3))
}

function captured(layout: FrameLayout, bytes: Uint8Array, absent: ReadonlySet<number>): CapturedFrame {
  const target = { kind: 'buffer', index: 0 } as const
  const pointers = layout.pointers.filter((at) => !absent.has(at)).map((at) => ({ at, target, offset: 0 }))
  return { layout, bytes, host: layout.host ? new Uint8Array(0) : null, pointers }
}

/** Marks addresses with 1 that a frame has, at least those from where something is reached. */
function withAddresses(
  layout: FrameLayout,
  bytes: Uint8Array,
  absent: ReadonlySet<number>,
  reach: readonly Reach[],
  random: Random,
): Uint8Array {
  const view = new DataView(bytes.buffer)
  const needed = new Set(reach.flatMap(({ at, bytes }) => (bytes > 0 ? [at] : [])))
  const optional = Object.keys(KERNEL_EXTENTS[layout.name]!.reach)
    .filter((key) => key.endsWith('?'))
    .map((key) => layout.fields.get(key.slice(0, -1))!)
  for (const at of layout.pointers) {
    // whether an optional one is there may be a number of the check
    const isOptional = optional.some(({ offset, count }) => at >= offset && at < offset + 8 * count)
    const isSet = needed.has(at) || (isOptional ? !absent.has(at) : random.chance(0.5))
    view.setBigInt64(at, isSet ? 1n : 0n, true)
  }
  return bytes
}
