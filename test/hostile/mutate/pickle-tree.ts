import { PickleOp as Op } from '../../../formats/containers/pickle/opcodes.js'

/** A value of a pickle, before anything is made of it. One that is memoized and fetched again is one node. */
export type Pickled =
  | { kind: 'constant'; opcode: number }
  | { kind: 'int'; value: bigint }
  | { kind: 'float'; value: number }
  | { kind: 'text'; value: Buffer }
  | { kind: 'global'; name: string }
  | { kind: 'tuple' | 'list'; items: Pickled[] }
  /** Keys and values in turn. */
  | { kind: 'dict'; items: Pickled[] }
  /** Opcodes that take one or two values: NEWOBJ, REDUCE, BUILD, BINPERSID. */
  | { kind: 'call'; opcode: number; items: Pickled[] }

export const NONE = (): Pickled => ({ kind: 'constant', opcode: Op.NONE })
export const intOf = (value: number | bigint): Pickled => ({ kind: 'int', value: BigInt(value) })
export const textOf = (value: string): Pickled => ({ kind: 'text', value: Buffer.from(value) })
export const tupleOf = (...items: Pickled[]): Pickled => ({ kind: 'tuple', items })

/** The value of a pickle that PyTorch could have written; null of any other. */
export function treeOf(bytes: Buffer): Pickled | null {
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function read(bytes: Buffer): Pickled | null {
  const MARK: Pickled = { kind: 'constant', opcode: Op.MARK }
  const stack: Pickled[] = []
  const memo = new Map<number, Pickled>()
  let at = 0
  const take = (count: number): number => (at += count) - count
  const pop = (): Pickled => {
    const value = stack.pop()
    if (value === undefined) throw new RangeError('an empty stack')
    return value
  }
  const group = (): Pickled[] => {
    const mark = stack.lastIndexOf(MARK)
    if (mark < 0) throw new RangeError('no mark')
    return stack.splice(mark).slice(1)
  }
  const line = (): string => {
    const end = bytes.indexOf(10, at)
    if (end < 0) throw new RangeError('no line')
    const text = bytes.toString('latin1', at, end)
    at = end + 1
    return text
  }
  const fill = (items: Pickled[]): void => {
    const target = stack.at(-1)
    if (target?.kind === 'list' || target?.kind === 'dict') target.items.push(...items)
    else throw new RangeError('nothing to fill')
  }
  for (;;) {
    const opcode = bytes.readUInt8(take(1))
    switch (opcode) {
      case Op.STOP:
        return stack.length === 1 ? stack[0]! : null
      case Op.PROTO:
        at++
        break
      case Op.MARK:
        stack.push(MARK)
        break
      case Op.NONE:
      case Op.NEWTRUE:
      case Op.NEWFALSE:
        stack.push({ kind: 'constant', opcode })
        break
      case Op.BININT:
        stack.push(intOf(bytes.readInt32LE(take(4))))
        break
      case Op.BININT1:
        stack.push(intOf(bytes.readUInt8(take(1))))
        break
      case Op.BININT2:
        stack.push(intOf(bytes.readUInt16LE(take(2))))
        break
      case Op.LONG1:
        at++
        stack.push(intOf(bytes.readBigInt64LE(take(8))))
        break
      case Op.BINFLOAT:
        stack.push({ kind: 'float', value: bytes.readDoubleBE(take(8)) })
        break
      case Op.BINUNICODE: {
        const length = bytes.readUInt32LE(take(4))
        const start = take(length)
        if (at > bytes.length) return null
        stack.push({ kind: 'text', value: bytes.subarray(start, at) })
        break
      }
      case Op.EMPTY_TUPLE:
        stack.push({ kind: 'tuple', items: [] })
        break
      case Op.EMPTY_LIST:
        stack.push({ kind: 'list', items: [] })
        break
      case Op.EMPTY_DICT:
        stack.push({ kind: 'dict', items: [] })
        break
      case Op.TUPLE:
        stack.push({ kind: 'tuple', items: group() })
        break
      case Op.LIST:
        stack.push({ kind: 'list', items: group() })
        break
      case Op.DICT:
        stack.push({ kind: 'dict', items: group() })
        break
      case Op.TUPLE1:
      case Op.TUPLE2:
      case Op.TUPLE3: {
        const count = opcode - Op.TUPLE1 + 1
        if (stack.length < count) return null
        stack.push({ kind: 'tuple', items: stack.splice(stack.length - count) })
        break
      }
      case Op.APPENDS:
      case Op.SETITEMS:
        fill(group())
        break
      case Op.BINPUT:
        memo.set(bytes.readUInt8(take(1)), stack.at(-1)!)
        break
      case Op.LONG_BINPUT:
        memo.set(bytes.readUInt32LE(take(4)), stack.at(-1)!)
        break
      case Op.BINGET:
      case Op.LONG_BINGET: {
        const value = memo.get(opcode === Op.BINGET ? bytes.readUInt8(take(1)) : bytes.readUInt32LE(take(4)))
        if (value === undefined) return null
        stack.push(value)
        break
      }
      case Op.GLOBAL:
        stack.push({ kind: 'global', name: `${line()}\n${line()}` })
        break
      case Op.BINPERSID:
        stack.push({ kind: 'call', opcode, items: [pop()] })
        break
      case Op.REDUCE:
      case Op.NEWOBJ:
      case Op.BUILD:
        stack.push({ kind: 'call', opcode, items: [pop(), pop()].reverse() })
        break
      default:
        return null
    }
  }
}

/** The values that a value is made of. */
export function partsOf(value: Pickled): Pickled[] {
  return 'items' in value ? value.items : []
}

/** All values of a tree, each once. */
export function nodesOf(root: Pickled): Pickled[] {
  const seen = new Set<Pickled>([root])
  for (const node of seen) for (const part of partsOf(node)) seen.add(part)
  return [...seen]
}

/** Bytes that a pickle may have: what is shared can be large without. */
const MAX_BYTES = 1 << 20
/** Levels that it may have, which this writes by recursion. */
const MAX_LEVELS = 1500

/** Writes a pickle as PyTorch does: what occurs more than once is memoized. A cycle is closed where a list or dict is in it, and cut elsewhere. */
export function pickleOf(root: Pickled): Buffer {
  const counts = new Map([[root, 1]])
  for (const node of nodesOf(root)) for (const part of partsOf(node)) counts.set(part, (counts.get(part) ?? 0) + 1)
  const out: Buffer[] = [Buffer.from([Op.PROTO, 2])]
  let bytes = 0
  const memo = new Map<Pickled, number>()
  /** Texts that are equal are one in files, and instructions are only short then. */
  const texts = new Map<string, number>()
  const open = new Set<Pickled>()
  const push = (...parts: (Buffer | number)[]): void => {
    const buffer = Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)))
    bytes += buffer.length
    out.push(buffer)
  }
  const numbered = (short: number, long: number, index: number): void => {
    if (index < 256) push(short, index)
    else push(long, uint32(index))
  }
  const put = (node: Pickled): void => {
    const index = memo.size + texts.size
    if (node.kind === 'text') texts.set(node.value.toString('latin1'), index)
    else if (counts.get(node)! > 1) memo.set(node, index)
    else return
    numbered(Op.BINPUT, Op.LONG_BINPUT, index)
  }
  let levels = 0
  const writeAll = (items: readonly Pickled[]): void => {
    levels++
    for (const item of items) write(item)
    levels--
  }
  const write = (node: Pickled): void => {
    const known = memo.get(node) ?? (node.kind === 'text' ? texts.get(node.value.toString('latin1')) : undefined)
    if (known !== undefined) {
      numbered(Op.BINGET, Op.LONG_BINGET, known)
      return
    }
    if (open.has(node) || bytes > MAX_BYTES || levels > MAX_LEVELS) {
      push(Op.NONE)
      return
    }
    switch (node.kind) {
      case 'constant':
        push(node.opcode)
        return
      case 'int':
        push(integer(node.value))
        return
      case 'float': {
        const number = Buffer.alloc(8)
        number.writeDoubleBE(node.value)
        push(Op.BINFLOAT, number)
        return
      }
      case 'text':
        push(Op.BINUNICODE, uint32(node.value.length), node.value)
        put(node)
        return
      case 'global':
        push(Op.GLOBAL, Buffer.from(`${node.name}\n`, 'latin1'))
        put(node)
        return
      case 'list':
      case 'dict':
        push(node.kind === 'list' ? Op.EMPTY_LIST : Op.EMPTY_DICT)
        put(node)
        if (node.items.length === 0) return
        push(Op.MARK)
        writeAll(node.items)
        push(node.kind === 'list' ? Op.APPENDS : Op.SETITEMS)
        return
      case 'tuple': {
        open.add(node)
        const { items } = node
        if (items.length > 3) push(Op.MARK)
        writeAll(items)
        open.delete(node)
        push([Op.EMPTY_TUPLE, Op.TUPLE1, Op.TUPLE2, Op.TUPLE3][items.length] ?? Op.TUPLE)
        put(node)
        return
      }
      case 'call':
        open.add(node)
        writeAll(node.items)
        open.delete(node)
        push(node.opcode)
        put(node)
    }
  }
  write(root)
  push(Op.STOP)
  return Buffer.concat(out)
}

function integer(value: bigint): Buffer {
  if (value >= 0n && value < 256n) return Buffer.from([Op.BININT1, Number(value)])
  if (value >= 0n && value < 65536n) return Buffer.from([Op.BININT2, Number(value & 255n), Number(value >> 8n)])
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, value))
  return value >= -(2n ** 31n) && value < 2n ** 31n
    ? Buffer.concat([Buffer.from([Op.BININT]), bytes.subarray(0, 4)])
    : Buffer.concat([Buffer.from([Op.LONG1, 8]), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
