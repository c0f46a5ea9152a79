import { PtliteError } from '../../../runtime/error.js'
import { isQuantized } from '../../../runtime/tensor/dtype.js'
import { Complex, Float } from '../../../runtime/tensor/scalar.js'
import type { Storage } from '../../../runtime/tensor/storage.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import { CUSTOM_CLASSES, CustomObject, Device, listType, ScriptObject, Tuple, type Value } from '../../../runtime/tensor/value.js'
import { storageClassOf } from './storage-class.js'
import { PickleOp as Op } from './unpickler.js'

/** Lists whose elements torch keeps unboxed, and what makes one. */
const LIST_MAKERS: Readonly<Record<string, string>> = {
  int: 'build_intlist',
  float: 'build_doublelist',
  bool: 'build_boollist',
  Tensor: 'build_tensorlist',
}

/** The storages of an archive, each once, by the number that its record has. */
export class StorageRecords {
  readonly storages: Storage[] = []
  private readonly numbers = new Map<Storage, number>()

  numberOf(storage: Storage): number {
    let number = this.numbers.get(storage)
    if (number === undefined) {
      number = this.storages.push(storage) - 1
      this.numbers.set(storage, number)
    }
    return number
  }
}

/** Writes a value as TorchScript's pickler does (torch/csrc/jit/serialization/pickler.cpp), without its memo. Throws UNSUPPORTED_FILE for what has no such form. */
export function pickle(value: Value, records: StorageRecords): Buffer {
  const writer = new Writer(records)
  writer.value(value)
  return writer.finish()
}

class Writer {
  private readonly parts: Uint8Array[] = [Uint8Array.of(Op.PROTO, 2)]

  constructor(private readonly records: StorageRecords) {}

  finish(): Buffer {
    this.op(Op.STOP)
    return Buffer.concat(this.parts)
  }

  value(value: Value): void {
    if (value === null) this.op(Op.NONE)
    else if (typeof value === 'boolean') this.op(value ? Op.NEWTRUE : Op.NEWFALSE)
    else if (typeof value === 'number' || typeof value === 'bigint') this.int(value)
    else if (typeof value === 'string') this.text(value)
    else if (value instanceof Float) this.float(value.value)
    else if (value instanceof Tensor) this.tensor(value)
    else if (value instanceof Tuple && value.fields === undefined) this.tuple(value.items)
    else if (Array.isArray(value)) this.list(value)
    else if (value instanceof Map) this.dict(value as ReadonlyMap<Value, Value>)
    else if (value instanceof ScriptObject)
      this.instance(value.typeName, () => this.plainDict(value.names.map((name, i) => [name, value.slots[i]!] as const)))
    else if (value instanceof CustomObject) this.instance(`${CUSTOM_CLASSES}${value.className}`, () => this.value(value.state))
    else if (value instanceof Device) this.device(value)
    else throw noForm(value)
  }

  private op(...codes: number[]): void {
    this.parts.push(Uint8Array.from(codes))
  }

  private int(value: number | bigint): void {
    if (value >= 0 && value < 256) this.op(Op.BININT1, Number(value))
    else if (value >= 0 && value < 65536) this.op(Op.BININT2, Number(value) & 255, Number(value) >> 8)
    else if (value >= -(2 ** 31) && value < 2 ** 31) {
      const bytes = Buffer.alloc(5, Op.BININT)
      bytes.writeInt32LE(Number(value), 1)
      this.parts.push(bytes)
    } else {
      const bytes = Buffer.alloc(10, Op.LONG1)
      bytes[1] = 8
      bytes.writeBigInt64LE(BigInt(value), 2)
      this.parts.push(bytes)
    }
  }

  private float(value: number): void {
    const bytes = Buffer.alloc(9, Op.BINFLOAT)
    bytes.writeDoubleBE(value, 1)
    this.parts.push(bytes)
  }

  private text(value: string): void {
    const content = Buffer.from(value)
    const head = Buffer.alloc(5, Op.BINUNICODE)
    head.writeUInt32LE(content.length, 1)
    this.parts.push(head, content)
  }

  private global(module: string, name: string): void {
    this.op(Op.GLOBAL)
    this.parts.push(Buffer.from(`${module}\n${name}\n`))
  }

  private tuple(items: readonly Value[]): void {
    if (items.length === 0) return this.op(Op.EMPTY_TUPLE)
    this.op(Op.MARK)
    for (const item of items) this.value(item)
    this.op(Op.TUPLE)
  }

  private list(items: Value[]): void {
    const type = elementTypeOf(items)
    const maker = LIST_MAKERS[type]
    this.global('torch.jit._pickle', maker ?? 'restore_type_tag')
    this.op(Op.EMPTY_LIST, Op.MARK)
    for (const item of items) this.value(item)
    this.op(Op.APPENDS)
    if (maker === undefined) this.tag(`List[${type}]`)
    else this.op(Op.TUPLE1, Op.REDUCE)
  }

  private dict(items: ReadonlyMap<Value, Value>): void {
    const [key, value] = [elementTypeOf([...items.keys()]), elementTypeOf([...items.values()])]
    this.global('torch.jit._pickle', 'restore_type_tag')
    this.plainDict(items)
    this.tag(`Dict[${key}, ${value}]`)
  }

  private plainDict(items: Iterable<readonly [Value, Value]>): void {
    this.op(Op.EMPTY_DICT, Op.MARK)
    for (const [key, value] of items) {
      this.value(key)
      this.value(value)
    }
    this.op(Op.SETITEMS)
  }

  private tag(type: string): void {
    this.text(type)
    this.op(Op.TUPLE2, Op.REDUCE)
  }

  /** An object of a class, with what `state` writes. */
  private instance(className: string, state: () => void): void {
    const end = className.lastIndexOf('.')
    this.global(className.slice(0, end), className.slice(end + 1))
    this.op(Op.EMPTY_TUPLE, Op.NEWOBJ)
    state()
    this.op(Op.BUILD)
  }

  private device(device: Device): void {
    this.global('torch', 'device')
    this.text(device.toString())
    this.op(Op.TUPLE1, Op.REDUCE)
  }

  private tensor(t: Tensor): void {
    if (t.isSparse || isQuantized(t.type)) throw noForm(t)
    this.global('torch._utils', '_rebuild_tensor_v2')
    this.op(Op.MARK, Op.MARK)
    this.text('storage')
    this.global('torch', storageClassOf(t.type))
    this.text(`${this.records.numberOf(t.storage)}`)
    this.text('cpu')
    this.int(Math.floor(t.storage.byteLength / t.itemSize))
    this.op(Op.TUPLE, Op.BINPERSID)
    this.int(t.offset)
    this.tuple(t.shape)
    this.tuple(t.strides)
    this.op(Op.NEWFALSE)
    this.global('collections', 'OrderedDict')
    this.op(Op.EMPTY_TUPLE, Op.REDUCE, Op.TUPLE, Op.REDUCE)
  }
}

/** The type of all these values as TorchScript writes it. */
function elementTypeOf(items: Value[]): string {
  const [first = listType(items) ?? 'int', ...others] = new Set(items.map(typeOf))
  if (others.length > 0)
    throw new PtliteError(
      'UNSUPPORTED_FILE',
      `a list or dict of values of several types, ${first} and ${others.join(', ')}, has no form in a file`,
    )
  return first
}

function typeOf(value: Value): string {
  if (value === null) return 'NoneType'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint') return 'int'
  if (typeof value === 'string') return 'str'
  if (value instanceof Float) return 'float'
  if (value instanceof Tensor) return 'Tensor'
  if (value instanceof Tuple) return `Tuple[${value.items.map(typeOf).join(', ')}]`
  if (Array.isArray(value)) return `List[${elementTypeOf(value)}]`
  if (value instanceof ScriptObject) return value.typeName
  if (value instanceof CustomObject) return `${CUSTOM_CLASSES}${value.className}`
  if (value instanceof Device) return 'Device'
  if (value instanceof Map) return `Dict[${elementTypeOf([...value.keys()] as Value[])}, ${elementTypeOf([...value.values()])}]`
  throw noForm(value)
}

function noForm(value: Value): PtliteError {
  const what =
    value instanceof Tensor
      ? `a ${value.isSparse ? 'sparse ' : ''}${value.dtype} tensor`
      : value instanceof Complex
        ? 'a complex number'
        : 'a named tuple'
  return new PtliteError('UNSUPPORTED_FILE', `${what} among the constants of the program has no form in the file to be written`)
}
