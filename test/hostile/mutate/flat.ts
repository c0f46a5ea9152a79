import { changeItem, COMMON_CHANGES } from './items.js'
import type { Random } from '../random.js'
import { type FlatNode, type FlatSchema, type FlatTree, type FlatVectorNode, nodesOf, readTree, type Site, writeTree } from './flat-tree.js'

export interface FlatFormat {
  readonly schema: FlatSchema
  readonly root: string
  /** Behind the first offset. */
  readonly identifier: string
}

/** Changes raw numbers, offsets, lengths and vtables where the schema finds them; null where the bytes are no such flatbuffer. */
export function mutateSites(bytes: Buffer, format: FlatFormat, random: Random): Buffer | null {
  const tree = readTree(bytes, format.schema, format.root)
  if (tree === null) return null
  const copy = Buffer.from(bytes)
  for (let changes = random.between(1, 3); changes > 0; changes--) changeSite(copy, random.pick(tree.sites), tree, random)
  return copy
}

function changeSite(bytes: Buffer, site: Site, { sites }: FlatTree, random: Random): void {
  const { at, width, kind } = site
  const old = bytes.subarray(at, at + width)
  const number = Buffer.alloc(Math.max(width, 8))
  const near = width === 4 ? old.readInt32LE() : width === 2 ? old.readUInt16LE() : old[0]!
  if (kind === 'offset' && random.once(2)) {
    // to where another offset leads
    const other = random.pick(sites.filter((each) => each.kind === 'offset'))
    number.writeUInt32LE((other.at + bytes.readUInt32LE(other.at) - at) >>> 0)
  } else if (random.once(3)) {
    const other = random.pick(sites.filter((each) => each.width === width))
    bytes.copy(number, 0, other.at, other.at + width)
  } else number.writeBigInt64LE(BigInt.asIntN(64, random.once(2) ? BigInt(random.edge(near)) : random.edge64(BigInt(near))))
  number.copy(bytes, at, 0, width)
}

/** A change to the numbers of one kind of vector, which knows what they mean. Returns whether it could make one. */
export type FlatChange = (root: FlatTree['root'], random: Random) => boolean

/** Changes the tree and writes it anew; null where the bytes are no such flatbuffer. */
export function mutateTree(bytes: Buffer, format: FlatFormat, random: Random, changes: readonly FlatChange[]): Buffer | null {
  const tree = readTree(bytes, format.schema, format.root)
  if (tree === null) return null
  const { root } = tree
  const all = nodesOf(root)
  for (let count = random.between(1, 3); count > 0; count--) {
    if (changes.length > 0 && random.once(2) && random.pick(changes)(root, random)) continue
    changeNode(random.pick(all), random, all, format.schema)
  }
  try {
    return writeTree(root, format.schema, format.identifier)
  } catch (error) {
    // it has grown too large
    if (error instanceof RangeError) return null
    throw error
  }
}

function changeNode(node: FlatNode, random: Random, all: readonly FlatNode[], schema: FlatSchema): void {
  if ('fields' in node) {
    const at = random.below(node.fields.length)
    const type = schema[node.type.name]![at]!
    const old = node.fields[at] ?? null
    const like = all.filter((each) => (type?.kind === 'union' ? 'fields' in each : each.type.kind === type?.kind))
    if (random.once(4)) node.fields[at] = null
    else if (old !== null && 'bytes' in old && old.bytes !== null && old.type.kind === 'bytes')
      node.fields[at] = { ...old, bytes: changedNumber(old.bytes, random) }
    else if (type?.kind === 'bytes') node.fields[at] = { type, bytes: changedNumber(Buffer.alloc(type.width), random) }
    else if (like.length > 0) node.fields[at] = random.pick(like)
  } else if ('items' in node) changeVector(node, random, all)
  else if (node.type.kind === 'text') node.bytes = changedText(node.bytes, random, all)
  else node.bytes = changedNumber(node.bytes, random)
}

function changedNumber(old: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(old)
  const number = Buffer.alloc(8)
  const near = BigInt(old[0] ?? 0) + (old.length > 1 ? 256n * BigInt(old[1]!) : 0n)
  if (random.once(6)) number.writeDoubleLE(random.double())
  else number.writeBigInt64LE(BigInt.asIntN(64, random.once(2) ? BigInt(random.edge(Number(near))) : random.edge64(near)))
  // structs have several
  number.copy(bytes, bytes.length > 8 ? random.below(bytes.length - 7) : 0)
  return bytes
}

function changedText(old: Buffer, random: Random, all: readonly FlatNode[]): Buffer {
  const copy = Buffer.from(old)
  switch (random.below(4)) {
    case 0:
      if (copy.length > 0) copy[random.below(copy.length)] = random.below(256)
      return copy
    case 1:
      return copy.subarray(0, random.below(copy.length + 1))
    case 2:
      return Buffer.from(random.pick(['', 'forward', '__setstate__', 'List[int]', '__proto__', 'Tensor', 'x'.repeat(2000), '\0', 'cuda:1']))
    default: {
      const other = random.pick(all)
      return other.type.kind === 'text' && 'bytes' in other && other.bytes !== null ? other.bytes : copy
    }
  }
}

/** Elements come, go, change places or values. */
function changeVector(node: FlatVectorNode, random: Random, all: readonly FlatNode[]): void {
  if (node.items !== null) {
    const kind = node.type.of.kind
    const like = all.filter((each) => each.type.kind === kind)
    changeElements(node.items, random, () => random.pick(like))
    return
  }
  const width = node.type.of.kind === 'bytes' ? node.type.of.width : 1
  if (random.once(2) && node.bytes.length >= width) {
    const at = width * random.below(Math.floor(node.bytes.length / width))
    changedNumber(node.bytes.subarray(at, at + width), random).copy(node.bytes, at)
    return
  }
  const elements = Array.from({ length: Math.floor(node.bytes.length / width) }, (_, i) => node.bytes.subarray(width * i, width * (i + 1)))
  changeElements(elements, random, () => changedNumber(elements[0] ?? Buffer.alloc(width), random))
  node.bytes = Buffer.concat(elements)
}

function changeElements<T>(items: T[], random: Random, other: () => T): void {
  const at = random.below(items.length)
  const change = random.below(6)
  if (change < COMMON_CHANGES) return changeItem(items, at, change, random, other)
  switch (change) {
    case 4: {
      const more = items.slice(at, at + random.between(1, 4))
      for (let i = random.pick([1, 1, 1, 20, 200]); i > 0; i--) items.splice(at, 0, ...more)
      break
    }
    default:
      items.length = random.below(items.length + 1)
  }
}
