/** What a field of a table, or an element of a vector, is. */
export type FlatType =
  | { readonly kind: 'bytes'; readonly width: number }
  | { readonly kind: 'text' }
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'vector'; readonly of: FlatType }
  /** A value whose type stands in the field before: members are tables, or structs of so many bytes that are held by offset. */
  | { readonly kind: 'union'; readonly members: readonly FlatType[] }

/** Types of the fields of tables, by name and number. */
export type FlatSchema = Readonly<Record<string, readonly (FlatType | null)[]>>

/** A value of a flatbuffer. One that several tables refer to is one node. */
export type FlatNode =
  | { type: FlatType & { kind: 'bytes' }; bytes: Buffer }
  | { type: FlatType & { kind: 'text' }; bytes: Buffer }
  | { type: FlatType & { kind: 'table' }; fields: (FlatNode | null)[] }
  /** Of scalars: their bytes behind each other. */
  | { type: FlatType & { kind: 'vector' }; bytes: Buffer; items: null }
  | { type: FlatType & { kind: 'vector' }; bytes: null; items: FlatNode[] }

export type FlatTableNode = Extract<FlatNode, { fields: unknown }>
export type FlatVectorNode = Extract<FlatNode, { items: unknown }>

export const bytesOf = (width: number): FlatType => ({ kind: 'bytes', width })
export const TEXT: FlatType = { kind: 'text' }
export const tableOf = (name: string): FlatType => ({ kind: 'table', name })
export const vectorOf = (of: FlatType): FlatType => ({ kind: 'vector', of })

const isHeld = (type: FlatType): boolean => type.kind !== 'bytes'

/** Where a number or offset stands in the bytes that a tree was read from. */
export interface Site {
  readonly at: number
  readonly width: number
  readonly kind: 'number' | 'offset' | 'length' | 'vtable' | 'toVtable'
}

export interface FlatTree {
  readonly root: FlatTableNode
  readonly sites: readonly Site[]
}

/** Reads what a schema knows of a flatbuffer; null where an offset leads out of it. */
export function readTree(bytes: Buffer, schema: FlatSchema, root: string): FlatTree | null {
  const sites: Site[] = []
  const known = new Map<string, FlatNode>()
  const site = (at: number, width: number, kind: Site['kind']): void => {
    if (at < 0 || at + width > bytes.length) throw new RangeError('beyond the end')
    sites.push({ at, width, kind })
  }
  const follow = (at: number): number => {
    site(at, 4, 'offset')
    return at + bytes.readUInt32LE(at)
  }
  const value = (at: number, type: FlatType): FlatNode => {
    switch (type.kind) {
      case 'bytes':
        site(at, type.width, 'number')
        return { type, bytes: Buffer.from(slice(at, type.width)) }
      case 'union':
        throw new RangeError('a union has no type of its own')
      default: {
        const place = follow(at)
        const key = `${place} ${type.kind === 'table' ? type.name : type.kind}`
        const node = known.get(key) ?? held(place, type)
        known.set(key, node)
        return node
      }
    }
  }
  const slice = (at: number, length: number): Buffer => {
    if (at < 0 || at + length > bytes.length) throw new RangeError('beyond the end')
    return bytes.subarray(at, at + length)
  }
  const held = (place: number, type: Exclude<FlatType, { kind: 'bytes' | 'union' }>): FlatNode => {
    if (type.kind === 'table') return table(place, type)
    const length = bytes.readUInt32LE(place)
    site(place, 4, 'length')
    if (type.kind === 'text') return { type, bytes: Buffer.from(slice(place + 4, length)) }
    if (type.of.kind === 'bytes') return { type, bytes: Buffer.from(slice(place + 4, length * type.of.width)), items: null }
    slice(place + 4, 4 * length)
    return { type, bytes: null, items: Array.from({ length }, (_, i) => value(place + 4 + 4 * i, type.of)) }
  }
  const table = (place: number, type: FlatType & { kind: 'table' }): FlatTableNode => {
    const vtable = place - bytes.readInt32LE(place)
    site(place, 4, 'toVtable')
    const length = bytes.readUInt16LE(vtable)
    for (let at = 0; at < length; at += 2) site(vtable + at, 2, 'vtable')
    const types = schema[type.name]!
    const fields = types.map((of, i): FlatNode | null => {
      const offset = 6 + 2 * i <= length ? bytes.readUInt16LE(vtable + 4 + 2 * i) : 0
      if (of === null || offset === 0) return null
      if (of.kind !== 'union') return value(place + offset, of)
      const kindAt = bytes.readUInt16LE(vtable + 4 + 2 * (i - 1))
      const member = kindAt === 0 ? undefined : of.members[bytes.readUInt8(place + kindAt)]
      if (member === undefined) return null
      if (member.kind !== 'bytes') return value(place + offset, member)
      const at = follow(place + offset)
      site(at, Math.min(member.width, 8), 'number')
      return { type: member, bytes: Buffer.from(slice(at, member.width)) }
    })
    return { type, fields }
  }
  try {
    return { root: value(0, tableOf(root)) as FlatTableNode, sites }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Nodes of a tree, each once. */
export function nodesOf(root: FlatNode): FlatNode[] {
  const seen = new Set<FlatNode>([root])
  for (const node of seen) {
    if ('fields' in node) for (const field of node.fields) if (field !== null) seen.add(field)
    if ('items' in node && node.items !== null) for (const item of node.items) seen.add(item)
  }
  return [...seen]
}

/** Bytes that a tree may be written to. */
const MAX_BYTES = 1 << 22

/** Writes a tree front to back: what a table holds follows it. `identifier` stands behind the first offset. */
export function writeTree(root: FlatTableNode, schema: FlatSchema, identifier: string): Buffer {
  let out = Buffer.alloc(1 << 12)
  let end = 0
  const reserve = (length: number, alignment: number): number => {
    const start = Math.ceil(end / alignment) * alignment
    end = start + length
    if (end > MAX_BYTES) throw new RangeError('a tree that is too large')
    if (end > out.length) out = Buffer.concat([out, Buffer.alloc(Math.max(out.length, end))])
    return start
  }
  const known = new Map<FlatNode, number>()
  const pending: { readonly at: number; readonly node: FlatNode }[] = []
  const refer = (at: number, node: FlatNode): void => {
    pending.push({ at, node })
  }
  const place = (node: FlatNode): number => {
    const { type } = node
    if (type.kind === 'table') return placeTable(node as FlatTableNode, schema[type.name]!)
    if (type.kind === 'vector' && 'items' in node && node.items !== null) {
      const start = reserve(4 + 4 * node.items.length, 4)
      out.writeUInt32LE(node.items.length, start)
      node.items.forEach((item, i) => refer(start + 4 + 4 * i, item))
      return start
    }
    const { bytes } = node as { bytes: Buffer }
    const width = type.kind === 'vector' && type.of.kind === 'bytes' ? type.of.width : 1
    const isStruct = type.kind === 'bytes'
    // elements are aligned, to 16 bytes where they are data
    const alignment = isStruct ? 8 : width === 1 ? 16 : Math.max(width, 4)
    const start = isStruct ? reserve(bytes.length, alignment) : reserve(alignment + bytes.length + 1, alignment) + alignment - 4
    if (isStruct) bytes.copy(out, start)
    else {
      out.writeUInt32LE(Math.floor(bytes.length / width), start)
      bytes.copy(out, start + 4)
    }
    return start
  }
  const placeTable = (node: FlatTableNode, types: readonly (FlatType | null)[]): number => {
    const vtableBytes = 4 + 2 * types.length
    const vtable = reserve(vtableBytes, 8)
    const start = reserve(4, 8)
    out.writeInt32LE(start - vtable, start)
    node.fields.forEach((field, i) => {
      const of = types[i]
      if (field === null || of === null || of === undefined) return
      const inPlace = !isHeld(of) && field.type.kind === 'bytes'
      const width = inPlace ? (field as { bytes: Buffer }).bytes.length : 4
      const at = reserve(width, Math.min(width, 8) || 1)
      out.writeUInt16LE(at - start, vtable + 4 + 2 * i)
      if (inPlace) (field as { bytes: Buffer }).bytes.copy(out, at)
      else refer(at, field)
    })
    out.writeUInt16LE(vtableBytes, vtable)
    out.writeUInt16LE(end - start, vtable + 2)
    return start
  }
  reserve(8, 8)
  out.write(identifier, 4, 'latin1')
  refer(0, root)
  // later ones always lie behind what refers to them, unless they are known: those are written again
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { at, node } = next
    let target = known.get(node)
    if (target === undefined || target < at) known.set(node, (target = place(node)))
    out.writeUInt32LE(target - at, at)
  }
  return out.subarray(0, end)
}
