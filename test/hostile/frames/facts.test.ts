import t from 'tap'
import { fieldOf, type FrameLayout, type FrameMember, HOST_OFFSET, layoutOf, layoutOfName } from '../../../compiler/capture/frame-layout.js'
import { PtliteError } from '../../../runtime/error.js'
import { frameBytes, observeLaunches } from '../../../runtime/native/frame.js'
import * as kernels from '../../../runtime/native/generated/kernels.js'
import { allocate, release } from '../../../runtime/native/memory.js'
import { setNumThreads } from '../../../runtime/native/threads.js'
import { type DType, itemSize } from '../../../runtime/tensor/dtype.js'
import { type Storage } from '../../../runtime/tensor/storage.js'
import { observeStorages } from '../../../runtime/tensor/observe.js'
import { CASES } from '../../native/levels/cases.js'
import { Draw } from '../../native/levels/draw.js'
import { fill } from './contents.js'
import { fuzzedKernels } from './frames.js'
import { type Candidate, candidate } from './generate.js'
import { Random } from './random.js'

/** What kernels declare about their memory (`in`, `out`, `in_place`, `total`), against what they do. */

/** Frames of each kernel. */
const FRAMES = 12
/** The most that are tried of one whose output may take the place of an operand, and how many of these are wanted. */
const MAX_FRAMES = 200
const SHARED = 4

setNumThreads(1)

type Bytes = Uint8Array

function read(address: number, bytes: number): Bytes {
  const copy = new Uint8Array(bytes)
  kernels.mem_read({ address, bytes }, copy)
  return copy
}

function write(address: number, bytes: Bytes): void {
  kernels.mem_write({ address, bytes: bytes.length }, bytes)
}

/** Memory for all that a frame reaches, and the frame with its addresses. */
class Memory {
  private readonly blocks = new Map<number, { readonly block: ReturnType<typeof allocate>; readonly bytes: number }>()
  private readonly frame: ReturnType<typeof allocate>
  private readonly offsets = allocate(4)

  constructor(private readonly candidate: Candidate) {
    this.frame = allocate(candidate.bytes.length)
    kernels.mem_fill({ address: this.offsets.address, bytes: 4, value: 0 })
    const view = new DataView(candidate.bytes.buffer)
    for (const { at, bytes } of candidate.reach)
      if (at === HOST_OFFSET || view.getBigInt64(at, true) !== 0n) this.blocks.set(at, { block: allocate(Math.max(bytes, 1)), bytes })
  }

  get places(): number[] {
    return [...this.blocks.keys()]
  }

  at(place: number): Bytes {
    const { block, bytes } = this.blocks.get(place)!
    return read(block.address, bytes)
  }

  put(place: number, contents: Bytes): void {
    write(this.blocks.get(place)!.block.address, contents)
  }

  /** Fills everything with the contents of a kind. */
  fill(random: Random): void {
    for (const { block, bytes } of this.blocks.values()) fill(block.address, bytes, random)
  }

  /** Runs the kernel; `instead` has addresses that are those of other places. 'ok', or the code of the error. */
  run(instead: ReadonlyMap<number, number> = new Map()): string {
    const { bytes, reach } = this.candidate
    const frame = bytes.slice()
    const view = new DataView(frame.buffer)
    for (const { at, below } of reach) {
      const found = this.blocks.get(instead.get(at) ?? at)
      if (found !== undefined) view.setBigInt64(at, BigInt(found.block.address + below), true)
    }
    write(this.frame.address, frame)
    try {
      kernels.plan_run({
        count: 1,
        patch_count: 0,
        cancel: 0,
        levels: 0,
        frames: this.frame.address,
        offsets: this.offsets.address,
        patches: 0,
        times: 0,
        nanoseconds: 0,
        slots: [],
      })
      return 'ok'
    } catch (error) {
      if (error instanceof PtliteError && error.code !== 'INTERNAL') return error.code
      throw error
    }
  }

  release(): void {
    for (const { block } of this.blocks.values()) release(block)
    release(this.frame)
    release(this.offsets)
  }
}

function memberAt(layout: FrameLayout, at: number): FrameMember {
  return [...layout.fields.values()].find(({ offset, count, access }) => access !== null && at >= offset && at < offset + 8 * count)!
}

function accessAt(layout: FrameLayout, at: number): string {
  return (at === HOST_OFFSET ? layout.host : memberAt(layout, at).access)!
}

/** Contents in which every byte is another one than in the other kind. */
const pattern = (bytes: number, kind: 0 | 1): Bytes => Uint8Array.from({ length: bytes }, (_, i) => (((i * 31) & 0x7f) << 1) | kind)

/** What a kernel does to its memory that it does not declare; null for nothing. */
function lieOf(candidate: Candidate, random: Random): string | null {
  const { layout } = candidate
  const memory = new Memory(candidate)
  try {
    memory.fill(random)
    const given = new Map(memory.places.map((at) => [at, memory.at(at)]))
    const outcomes = ([0, 1] as const).map((kind) => {
      for (const [at, bytes] of given) memory.put(at, accessAt(layout, at) === 'out' ? pattern(bytes.length, kind) : bytes)
      const status = memory.run()
      return { status, after: new Map(memory.places.map((at) => [at, memory.at(at)])) }
    })
    const [one, two] = outcomes as [(typeof outcomes)[0], (typeof outcomes)[0]]
    if (one.status !== two.status) return `${layout.name} ends with ${one.status} or ${two.status} by what was in its outputs`
    for (const [at, before] of given) {
      const field = at === HOST_OFFSET ? 'host' : memberAt(layout, at).name
      const [a, b] = [one.after.get(at)!, two.after.get(at)!]
      const access = accessAt(layout, at)
      if (access === 'in' && !a.every((byte, i) => byte === before[i])) return `${layout.name} writes to ${field}, which is declared in`
      const [p, q] = [pattern(a.length, 0), pattern(a.length, 1)]
      const isSame = a.every((byte, i) => byte === b[i] || (access === 'out' && byte === p[i] && b[i] === q[i]))
      // what a kernel that fails leaves behind says nothing
      if (one.status === 'ok' && !isSame) return `${layout.name} makes ${field} from what was in an output`
    }
    return one.status === 'ok' ? lieInPlace(candidate, memory, given, one.after) : null
  } finally {
    memory.release()
  }
}

/** Runs where an output takes the place of each operand that gives way, against the run where it has memory of its own. */
const shared = new Map<string, number>()
function lieInPlace(
  { layout, bytes }: Candidate,
  memory: Memory,
  given: ReadonlyMap<number, Bytes>,
  after: ReadonlyMap<number, Bytes>,
): string | null {
  const out = [...layout.fields.values()].find(({ access }) => access === 'out')
  for (const { name, offset, inPlace } of layout.fields.values()) {
    if (inPlace === null || out === undefined || !given.has(offset) || given.get(offset)!.length !== given.get(out.offset)?.length) continue
    const size = (field: string): number => itemSize(fieldOf(layout, bytes, `${field}_dtype`) as DType)
    if (inPlace === 'dense' && (fieldOf(layout, bytes, 'ndim') !== 0 || size(name) !== size(out.name))) continue
    for (const [at, contents] of given) memory.put(at, contents)
    memory.run(new Map([[out.offset, offset]]))
    shared.set(layout.name, (shared.get(layout.name) ?? 0) + 1)
    if (!memory.at(offset).every((byte, i) => byte === after.get(out.offset)![i]))
      return `${layout.name} reads ${name} after it has written there`
  }
  return null
}

t.test('kernels write where they say, and read nothing of what was in their outputs', (t) => {
  const lies = new Set<string>()
  const checked = new Set<string>()
  const giveWay = fuzzedKernels().filter((kernel) => [...layoutOfName(kernel)!.fields.values()].some(({ inPlace }) => inPlace !== null))
  for (const kernel of fuzzedKernels()) {
    const wantsShared = giveWay.includes(kernel)
    for (let round = 0; round < (wantsShared ? MAX_FRAMES : FRAMES); round++) {
      if (round >= FRAMES && (shared.get(kernel) ?? 0) >= SHARED) break
      const random = new Random(round + 1, kernel.length)
      const found = candidate(kernel, random)
      if (found === null) continue
      checked.add(kernel)
      const lie = lieOf(found, random)
      if (lie !== null) lies.add(lie)
    }
  }
  t.strictSame([...lies], [])
  t.strictSame(
    fuzzedKernels().filter((kernel) => !checked.has(kernel)),
    [],
    'each kernel has frames',
  )
  t.ok(giveWay.length > 6)
  for (const kernel of giveWay)
    t.ok(shared.get(kernel)! > 0, `${kernel}: ${shared.get(kernel)} runs with an output in the place of an operand`)
  t.end()
})

t.test('lies are found', (t) => {
  const lying = (kernel: string, field: string, facts: Partial<FrameMember>): (string | null)[] =>
    Array.from({ length: FRAMES }, (_, round) => {
      const random = new Random(round + 1, kernel.length)
      const found = candidate(kernel, random)
      if (found === null) return null
      const fields = new Map(found.layout.fields)
      fields.set(field, { ...fields.get(field)!, ...facts })
      return lieOf({ ...found, layout: { ...found.layout, fields } }, random)
    })
  t.ok(lying('unary', 'out', { access: 'in' }).includes('unary writes to out, which is declared in'))
  t.ok(lying('divide_counts', 'self', { access: 'out' }).includes('divide_counts makes self from what was in an output'))
  t.ok(lying('blocked_reorder', 'input', { inPlace: 'always' }).includes('blocked_reorder reads input after it has written there'))
  t.end()
})

t.test('kernels that succeed for all contents do', (t) => {
  for (const kernel of fuzzedKernels()) {
    for (let round = 0; round < FRAMES; round++) {
      const random = new Random(round + 1, kernel.length)
      const found = candidate(kernel, random)
      if (found === null || !found.layout.total) continue
      const memory = new Memory(found)
      const statuses = new Set(Array.from({ length: 8 }, () => (memory.fill(random), memory.run())))
      memory.release()
      t.ok(statuses.size === 1, `${kernel}: ${[...statuses].join(' or ')}`)
    }
  }
  t.end()
})

interface Touched {
  readonly field: FrameMember
  readonly storage: Storage
}

/** What the frame that is about to be launched has addresses of. */
function touchedBy(layout: FrameLayout, storages: ReadonlySet<Storage>): Touched[] {
  const view = new DataView(frameBytes.buffer)
  return layout.pointers.flatMap((at) => {
    const address = Number(view.getBigInt64(at, true))
    for (const storage of storages)
      if (storage.live && address >= storage.startAddress && address < storage.startAddress + storage.byteLength)
        return [{ field: memberAt(layout, at), storage }]
    return []
  })
}

t.test('what operators hand to kernels to be read stays as it is', (t) => {
  const storages = new Set<Storage>()
  const lies = new Set<string>()
  const seen = new Set<string>()
  let check = (): void => undefined
  const observer = (id: number, name: string, _host: unknown, isOwn: boolean): void => {
    if (!isOwn) return
    observeLaunches(null)
    const frame = frameBytes.slice()
    check()
    seen.add(name)
    frameBytes.set(frame)
    const touched = touchedBy(layoutOf(id), storages)
    // memory that another address of the frame writes to may change
    const written = new Set(touched.flatMap(({ field, storage }) => (field.access === 'in' ? [] : [storage])))
    const kept = touched
      .filter(({ storage }) => !written.has(storage) && storage.byteLength <= 1 << 16)
      .map((one) => ({ ...one, before: read(one.storage.startAddress, one.storage.byteLength) }))
    check = (): void => {
      for (const { field, storage, before } of kept)
        if (storage.live && !read(storage.startAddress, storage.byteLength).every((byte, i) => byte === before[i]))
          lies.add(`${name} writes to ${field.name}, which is declared in`)
    }
    frameBytes.set(frame)
    observeLaunches(observer)
  }
  const launches = observeLaunches(observer)
  const used = (storage: Storage): void => void storages.add(storage)
  const before = observeStorages({ used, allocated: used, freed: (storage) => void storages.delete(storage), moved: used })
  try {
    for (const cases of Object.values(CASES)) for (const { run } of cases) run(new Draw(1))
  } finally {
    observeLaunches(launches)
    observeStorages(before)
  }
  check()
  t.strictSame([...lies], [])
  t.ok(seen.size > 80, `${seen.size} kernels`)
  t.end()
})
