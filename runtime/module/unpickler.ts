import { Float, toInt } from '../tensor/scalar.js'
import { type DictKey, Tuple, type Value } from '../tensor/value.js'
import { damaged, describe, dictKeyOf, tupleOf } from './file-error.js'
import { PickleGlobal } from './pickle-global.js'

/** What the globals and persistent ids of a pickle mean. */
export interface PickleMeaning {
  /** Names the pickle in messages. */
  readonly label: string
  /** Whether the name may occur at all. */
  allows(module: string, name: string): boolean
  persistentLoad(id: readonly Value[]): Value
  /** `global(*args)` */
  call(global: PickleGlobal, args: readonly Value[]): Value
  /** A new instance without state. */
  instantiate(global: PickleGlobal): Value
  /** The instance with its state: `instance` itself or what takes its place. */
  setState(instance: Value, state: Value): Value
}

/** Opcodes of pickle protocol 2 that PyTorch's C++ pickler writes. */
export const PickleOp = {
  MARK: 0x28, EMPTY_TUPLE: 0x29, STOP: 0x2e, BINFLOAT: 0x47, BININT: 0x4a, BININT1: 0x4b, BININT2: 0x4d, NONE: 0x4e,
  BINPERSID: 0x51, REDUCE: 0x52, BINUNICODE: 0x58, EMPTY_LIST: 0x5d, BUILD: 0x62, GLOBAL: 0x63, DICT: 0x64,
  APPENDS: 0x65, BINGET: 0x68, LONG_BINGET: 0x6a, LIST: 0x6c, BINPUT: 0x71, LONG_BINPUT: 0x72, TUPLE: 0x74, SETITEMS: 0x75,
  EMPTY_DICT: 0x7d, PROTO: 0x80, NEWOBJ: 0x81, TUPLE1: 0x85, TUPLE2: 0x86, TUPLE3: 0x87, NEWTRUE: 0x88, NEWFALSE: 0x89,
  LONG1: 0x8a,
} as const // prettier-ignore

/**
 * Reads one pickle. Only what PyTorch writes is understood: any other opcode, global or nesting is an INVALID_FILE
 * error that names it. Values memoized once and fetched twice are the same object.
 */
export function unpickle(bytes: Uint8Array, meaning: PickleMeaning): Value {
  return new Unpickler(bytes, meaning).run()
}

class Unpickler {
  private readonly bytes: Buffer
  private at = 0
  private readonly stack: Value[] = []
  private readonly marks: number[] = []
  private readonly memo = new Map<number, Value>()

  constructor(
    bytes: Uint8Array,
    private readonly meaning: PickleMeaning,
  ) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  run(): Value {
    for (;;) {
      const start = this.at
      const opcode = this.bytes[this.take(1)]!
      if (opcode === PickleOp.STOP) {
        if (this.stack.length !== 1) throw this.error(`expected one value at the end, found ${this.stack.length}`)
        return this.stack[0]!
      }
      this.step(opcode, start)
    }
  }

  private step(opcode: number, start: number): void {
    const { stack, bytes } = this
    switch (opcode) {
      case PickleOp.PROTO: {
        const version = bytes[this.take(1)]
        if (version !== 2) throw this.error(`expected pickle protocol 2, found ${version}`)
        return
      }
      case PickleOp.MARK:
        this.marks.push(stack.length)
        return
      case PickleOp.NONE:
        stack.push(null)
        return
      case PickleOp.NEWTRUE:
        stack.push(true)
        return
      case PickleOp.NEWFALSE:
        stack.push(false)
        return
      case PickleOp.BININT:
        stack.push(bytes.readInt32LE(this.take(4)))
        return
      case PickleOp.BININT1:
        stack.push(bytes[this.take(1)]!)
        return
      case PickleOp.BININT2:
        stack.push(bytes.readUInt16LE(this.take(2)))
        return
      case PickleOp.LONG1:
        stack.push(this.long())
        return
      case PickleOp.BINFLOAT:
        stack.push(new Float(bytes.readDoubleBE(this.take(8))))
        return
      case PickleOp.BINUNICODE:
        stack.push(this.text(bytes.readUInt32LE(this.take(4))))
        return
      case PickleOp.EMPTY_TUPLE:
        stack.push(new Tuple([]))
        return
      case PickleOp.TUPLE:
        stack.push(new Tuple(this.popToMark()))
        return
      case PickleOp.TUPLE1:
      case PickleOp.TUPLE2:
      case PickleOp.TUPLE3:
        stack.push(new Tuple(this.popMany(opcode - PickleOp.TUPLE1 + 1)))
        return
      case PickleOp.EMPTY_LIST:
        stack.push([])
        return
      case PickleOp.LIST:
        stack.push(this.popToMark())
        return
      case PickleOp.APPENDS:
        this.appends()
        return
      case PickleOp.EMPTY_DICT:
        stack.push(new Map())
        return
      case PickleOp.DICT:
        stack.push(this.fill(new Map(), this.popToMark()))
        return
      case PickleOp.SETITEMS:
        this.setItems()
        return
      case PickleOp.BINPUT:
        this.memo.set(bytes[this.take(1)]!, this.top())
        return
      case PickleOp.LONG_BINPUT:
        this.memo.set(bytes.readUInt32LE(this.take(4)), this.top())
        return
      case PickleOp.BINGET:
        stack.push(this.recall(bytes[this.take(1)]!))
        return
      case PickleOp.LONG_BINGET:
        stack.push(this.recall(bytes.readUInt32LE(this.take(4))))
        return
      case PickleOp.GLOBAL:
        stack.push(this.global())
        return
      case PickleOp.BINPERSID:
        stack.push(this.meaning.persistentLoad(tupleOf(this.pop(), `${this.meaning.label}: persistent id`)))
        return
      case PickleOp.REDUCE: {
        const args = tupleOf(this.pop(), `${this.meaning.label}: arguments of a call`)
        stack.push(this.meaning.call(this.popGlobal(), args))
        return
      }
      case PickleOp.NEWOBJ: {
        tupleOf(this.pop(), `${this.meaning.label}: arguments of a new object`, 0)
        stack.push(this.meaning.instantiate(this.popGlobal()))
        return
      }
      case PickleOp.BUILD: {
        const state = this.pop()
        stack.push(this.meaning.setState(this.pop(), state))
        return
      }
      default:
        throw this.error(`the pickle opcode 0x${opcode.toString(16).padStart(2, '0')} at ${start} is not one that PyTorch writes`)
    }
  }

  private error(message: string): Error {
    return damaged(`${this.meaning.label}: ${message}`)
  }

  /** Offset of the next `count` bytes, which are then behind. */
  private take(count: number): number {
    const start = this.at
    if (start + count > this.bytes.length) throw this.error(`the pickle ends in the middle, at byte ${this.bytes.length}`)
    this.at = start + count
    return start
  }

  /** Values below the last mark belong to whoever set it. */
  private floor(): number {
    return this.marks.length > 0 ? this.marks[this.marks.length - 1]! : 0
  }

  private pop(): Value {
    if (this.stack.length <= this.floor()) throw this.error(`the pickle takes a value that is not there, before byte ${this.at}`)
    return this.stack.pop()!
  }

  private top(): Value {
    if (this.stack.length <= this.floor()) throw this.error(`the pickle takes a value that is not there, before byte ${this.at}`)
    return this.stack[this.stack.length - 1]!
  }

  private popMany(count: number): Value[] {
    if (this.stack.length - count < this.floor())
      throw this.error(`the pickle takes ${count} values that are not there, before byte ${this.at}`)
    return this.stack.splice(this.stack.length - count)
  }

  private popToMark(): Value[] {
    const mark = this.marks.pop()
    if (mark === undefined) throw this.error(`the pickle closes a group that it did not open, before byte ${this.at}`)
    return this.stack.splice(mark)
  }

  private popGlobal(): PickleGlobal {
    const value = this.pop()
    if (!(value instanceof PickleGlobal)) throw this.error(`expected a function or class to call, found ${describe(value)}`)
    return value
  }

  private recall(index: number): Value {
    const value = this.memo.get(index)
    if (value === undefined) throw this.error(`the pickle refers to value ${index}, which it has not made`)
    return value
  }

  private long(): Value {
    const length = this.bytes[this.take(1)]
    if (length !== 8) throw this.error(`expected a long of 8 bytes, found ${length}`)
    return toInt(this.bytes.readBigInt64LE(this.take(8)))
  }

  private text(length: number): string {
    const start = this.take(length)
    return this.bytes.toString('utf8', start, start + length)
  }

  private global(): PickleGlobal {
    const module = this.line()
    const name = this.line()
    if (!this.meaning.allows(module, name)) throw this.error(`the global '${module}.${name}' is not one that PyTorch writes into modules`)
    return new PickleGlobal(module, name)
  }

  private line(): string {
    const end = this.bytes.indexOf(0x0a, this.at)
    if (end < 0) throw this.error('the pickle ends inside the name of a global')
    const text = this.bytes.toString('utf8', this.at, end)
    this.at = end + 1
    return text
  }

  private appends(): void {
    const items = this.popToMark()
    const list = this.top()
    if (!Array.isArray(list)) throw this.error(`expected a list to append to, found ${describe(list)}`)
    for (const item of items) list.push(item)
  }

  private setItems(): void {
    const items = this.popToMark()
    const dict = this.top()
    if (!(dict instanceof Map)) throw this.error(`expected a dict to fill, found ${describe(dict)}`)
    this.fill(dict, items)
  }

  private fill(dict: Map<DictKey, Value>, items: readonly Value[]): Map<DictKey, Value> {
    if (items.length % 2 !== 0) throw this.error('a dict has a key without a value')
    for (let i = 0; i < items.length; i += 2) dict.set(dictKeyOf(items[i]!, this.meaning.label), items[i + 1]!)
    return dict
  }
}
