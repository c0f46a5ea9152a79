import { KERNEL_LAYOUTS } from '../../runtime/native/generated/layouts.js'

export interface FrameMember {
  readonly name: string
  readonly kind: 'ptr' | 'i32' | 'i64' | 'f32' | 'f64'
  /** Elements of an array; 1 for a single value. */
  readonly count: number
  /** Bytes from the start of the frame. */
  readonly offset: number
}

/** What the frame of a kernel holds. */
export interface FrameLayout {
  readonly kernel: number
  readonly name: string
  /** Takes JavaScript memory. */
  readonly host: boolean
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
/** Where in the frame the address of host memory stands. */
export const HOST_OFFSET = 8

const KINDS = { p: ['ptr', 8], i: ['i32', 4], l: ['i64', 8], f: ['f32', 4], d: ['f64', 8] } as const

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
    const [kind, size] = KINDS[type[0] as keyof typeof KINDS]
    const count = type.length === 1 ? 1 : Number(type.slice(1))
    const offset = Math.ceil(at / size) * size
    at = offset + size * count
    // an address that the kernel returns is nothing to be filled in
    if (kind === 'ptr' && !hasResults) for (let i = 0; i < count; i++) pointers.push(offset + 8 * i)
    fields.set(name, { name, kind, count, offset })
  }
  const host = head!.endsWith('!')
  return {
    kernel,
    name: host ? head!.slice(0, -1) : head!,
    host,
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
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
