import { fieldsOf } from '../../runtime/bytes.js'
import { KERNEL_LAYOUTS } from '../../runtime/native/generated/layouts.js'

/** What a kernel does with the memory at an address. Of `out` no result depends on what was there before. */
export type Access = 'in' | 'out' | 'in-out'

/**
 * When the output of a kernel may take the place of an operand: always, or where both are dense with elements of one size, as long as all addresses of
 * the frame in this memory are such operands.
 */
export type InPlace = 'always' | 'dense'

export interface FrameMember {
  readonly name: string
  readonly kind: 'ptr' | 'i32' | 'i64' | 'f32' | 'f64'
  /** Elements of an array; 1 for a single value. */
  readonly count: number
  /** Bytes from the start of the frame. */
  readonly offset: number
  /** Of an address that is given; null for all others. */
  readonly access: Access | null
  /** Of an operand whose place the output may take. */
  readonly inPlace: InPlace | null
}

/** What the frame of a kernel holds. */
export interface FrameLayout {
  readonly kernel: number
  readonly name: string
  /** What it does with JavaScript memory; null where it takes none. */
  readonly host: Access | null
  /** Draws random numbers. */
  readonly random: boolean
  /** Succeeds for all contents of its memory. */
  readonly total: boolean
  /** It gives memory or takes it back, or makes or ends what its thread or process has. */
  readonly effect: 'allocation' | 'process' | null
  /** The option of passes that it is used with. */
  readonly option: string | null
  readonly fields: ReadonlyMap<string, FrameMember>
  /** Members that the kernel writes for its caller to read. */
  readonly hasResults: boolean
  /** Byte offsets of all addresses. */
  readonly pointers: readonly number[]
  /** In bytes. */
  readonly size: number
}

const HEADER_BYTES = 16
/** Where in the frame the kernel's number stands. */
export const KERNEL_OFFSET = 0
/** Where it says what a status is about. */
export const DETAIL_OFFSET = 4
/** Where in the frame the address of host memory stands. */
export const HOST_OFFSET = 8

// the letters of codegen/emit/kernel-layouts.ts
const KINDS: Readonly<Record<string, FrameMember['kind']>> = { i: 'i32', l: 'i64', f: 'f32', d: 'f64' }
const ACCESSES: Readonly<Record<string, Access>> = { r: 'in', R: 'in', D: 'in', w: 'out', x: 'in-out' }
const IN_PLACE: Readonly<Record<string, InPlace>> = { R: 'always', D: 'dense' }

let layouts: FrameLayout[] | undefined

function allLayouts(): readonly FrameLayout[] {
  return (layouts ??= KERNEL_LAYOUTS.trimEnd().split('\n').map(parseLayout))
}

/** The frame of a kernel by its number. */
export function layoutOf(kernel: number): FrameLayout {
  return allLayouts()[kernel]!
}

/** The frame of the kernel of this name, if there is one. */
export function layoutOfName(name: string): FrameLayout | undefined {
  return allLayouts().find((layout) => layout.name === name)
}

function parseLayout(line: string, kernel: number): FrameLayout {
  const [head, ...members] = line.split(' ')
  const fields = new Map<string, FrameMember>()
  const pointers: number[] = []
  let at = HEADER_BYTES
  let hasResults = false
  for (const text of members) {
    if (text === '>') {
      hasResults = true
      continue
    }
    const [name, type] = text.split(':') as [string, string]
    const letter = type[0]!
    const kind = KINDS[letter] ?? 'ptr'
    const size = kind === 'i32' || kind === 'f32' ? 4 : 8
    const count = type.length === 1 ? 1 : Number(type.slice(1))
    const offset = Math.ceil(at / size) * size
    at = offset + size * count
    const access = ACCESSES[letter] ?? null
    // an address that the kernel returns is nothing to be filled in
    if (access !== null) for (let i = 0; i < count; i++) pointers.push(offset + 8 * i)
    fields.set(name, { name, kind, count, offset, access, inPlace: IN_PLACE[letter] ?? null })
  }
  const [name, facts = ''] = head!.split('!') as [string, string?]
  const [letters, option = null] = facts.split(':') as [string, string?]
  return {
    kernel,
    name,
    host: ACCESSES[letters[0] ?? ''] ?? null,
    random: letters.includes('R'),
    total: letters.includes('T'),
    effect: letters.includes('A') ? 'allocation' : letters.includes('P') ? 'process' : null,
    option,
    fields,
    hasResults,
    pointers,
    size: Math.ceil(at / 8) * 8,
  }
}

/** Reads a number from a copy of a frame; int64 beyond 2^53 is rounded. */
export function fieldOf(layout: FrameLayout, bytes: Uint8Array, name: string, index = 0): number {
  const member = layout.fields.get(name)
  if (member === undefined) throw new RangeError(`${layout.name} has no field ${name}`)
  const view = fieldsOf(bytes)
  switch (member.kind) {
    case 'i32':
      return view.getInt32(member.offset + 4 * index, true)
    case 'f32':
      return view.getFloat32(member.offset + 4 * index, true)
    case 'f64':
      return view.getFloat64(member.offset + 8 * index, true)
    default:
      return Number(view.getBigInt64(member.offset + 8 * index, true))
  }
}
