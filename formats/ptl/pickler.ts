import { guarded, unsupported } from '../../program/file-error.js'
import { concatenated, fieldsOf } from '../../runtime/bytes.js'
import { utf8 } from '../../runtime/encoding.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { isPerChannel, type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { ObjectStates } from '../writing/program-writer.js'
import { channelTensors } from '../writing/quantization.js'
import { customClassOf, dictTypeOf, elementTypeOf } from '../writing/value-types.js'
import { storageClassOf } from '../containers/pickle/storage-class.js'
import { PickleOp as Op } from '../containers/pickle/opcodes.js'

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

/**
 * Writes values as TorchScript's pickler does (torch/csrc/jit/serialization/pickler.cpp). What occurs more than once is written once. Throws
 * UNSUPPORTED_FILE, naming the attribute that it is in, for what has no such form.
 */
export class Pickler {
  private readonly parts: Uint8Array[] = [Uint8Array.of(Op.PROTO, 2)]
  /** Numbers of values in the memo. */
  private readonly numbers = new Map<Value, number>()

  constructor(
    private readonly records: StorageRecords,
    private readonly states: ObjectStates,
  ) {}

  /** A tuple of what `write` writes. */
  group(write: () => void): void {
    this.op(Op.MARK)
    write()
    this.op(Op.TUPLE)
  }

  finish(): Uint8Array {
    this.op(Op.STOP)
    return concatenated(this.parts)
  }

  value(value: Value): void {
    if (value === null) this.op(Op.NONE)
    else if (typeof value === 'boolean') this.op(value ? Op.NEWTRUE : Op.NEWFALSE)
    else if (typeof value === 'number' || typeof value === 'bigint') this.int(value)
    else if (typeof value === 'string') this.text(value)
    else if (value instanceof Float) this.float(value.value)
    else if (value instanceof Complex) this.complex(value)
    else if (value instanceof Device) this.device(value)
    else if (value instanceof Tuple) this.tuple(value.items)
    else if (!this.isRepeated(value)) this.shared(value)
  }

  /** Writes a value that others may refer to, and the command that keeps it for them. */
  private shared(value: Tensor | Value[] | Map<DictKey, Value> | ScriptObject | CustomObject): void {
    if (value instanceof ScriptObject) return this.scriptObject(value)
    if (value instanceof Tensor) this.tensor(value)
    else if (Array.isArray(value)) this.list(value)
    else if (value instanceof Map) this.dict(value)
    else this.instance(value, customClassOf(value), () => this.value(value.state))
    if (!(value instanceof CustomObject)) this.remember(value)
  }

  /** Refers to the value where it was written before. */
  private isRepeated(value: Value): boolean {
    const number = this.numbers.get(value)
    if (number === undefined) return false
    this.memo(Op.BINGET, Op.LONG_BINGET, number)
    return true
  }

  private remember(value: Value): void {
    this.memo(Op.BINPUT, Op.LONG_BINPUT, this.numbers.size)
    this.numbers.set(value, this.numbers.size)
  }

  private memo(short: number, long: number, number: number): void {
    if (number < 256) return this.op(short, number)
    this.number(long, 4, (operand) => operand.setUint32(0, number, true))
  }

  private op(...codes: number[]): void {
    this.parts.push(Uint8Array.from(codes))
  }

  /** An opcode and what `write` writes into the bytes behind it. */
  private number(code: number, bytes: number, write: (operand: DataView) => void): void {
    const part = new Uint8Array(1 + bytes)
    part[0] = code
    write(fieldsOf(part.subarray(1)))
    this.parts.push(part)
  }

  private int(value: number | bigint): void {
    if (value >= 0 && value < 256) this.op(Op.BININT1, Number(value))
    else if (value >= 0 && value < 65536) this.op(Op.BININT2, Number(value) & 255, Number(value) >> 8)
    else if (value >= -(2 ** 31) && value < 2 ** 31) this.number(Op.BININT, 4, (operand) => operand.setInt32(0, Number(value), true))
    else {
      this.number(Op.LONG1, 9, (operand) => {
        operand.setUint8(0, 8)
        operand.setBigInt64(1, BigInt(value), true)
      })
    }
  }

  private float(value: number): void {
    this.number(Op.BINFLOAT, 8, (operand) => operand.setFloat64(0, value))
  }

  private text(value: string): void {
    const content = utf8(value)
    this.number(Op.BINUNICODE, 4, (operand) => operand.setUint32(0, content.length, true))
    this.parts.push(content)
  }

  private global(module: string, name: string): void {
    this.op(Op.GLOBAL)
    this.parts.push(utf8(`${module}\n${name}\n`))
  }

  private tuple(items: readonly Value[]): void {
    if (items.length === 0) return this.op(Op.EMPTY_TUPLE)
    this.group(() => {
      for (const item of items) this.value(item)
    })
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

  private dict(items: ReadonlyMap<DictKey, Value>): void {
    const { text, hasFloatKeys } = dictTypeOf(items)
    this.global('torch.jit._pickle', 'restore_type_tag')
    const entries = [...items].map(([key, value]) => [hasFloatKeys ? new Float(Number(key)) : key, value] as const)
    this.plainDict(entries)
    this.tag(text)
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

  private scriptObject(object: ScriptObject): void {
    const { typeName, names, slots } = object
    const state = this.states.get(object)
    this.instance(object, typeName, () => {
      if (state !== undefined) return guarded(`the state of ${typeName}`, () => this.value(state.state))
      this.op(Op.EMPTY_DICT, Op.MARK)
      names.forEach((name, i) => {
        this.text(name)
        guarded(`'${name}'`, () => this.value(slots[i]!))
      })
      this.op(Op.SETITEMS)
    })
  }

  /** An object of a class, with what `state` writes. */
  private instance(object: Value, className: string, state: () => void): void {
    const end = className.lastIndexOf('.')
    this.global(className.slice(0, end), className.slice(end + 1))
    this.op(Op.EMPTY_TUPLE, Op.NEWOBJ)
    this.remember(object)
    state()
    this.op(Op.BUILD)
  }

  private complex({ re, im }: Complex): void {
    this.global('builtins', 'complex')
    this.float(re)
    this.float(im)
    this.op(Op.TUPLE2, Op.REDUCE)
  }

  private device(device: Device): void {
    this.global('torch', 'device')
    this.text(device.toString())
    this.op(Op.TUPLE1, Op.REDUCE)
  }

  private tensor(t: Tensor): void {
    const { quant } = t
    if (t.isSparse) throw unsupported('a sparse tensor has no form in the file to be written')
    this.global('torch._utils', quant === null ? '_rebuild_tensor_v2' : '_rebuild_qtensor')
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
    if (quant !== null) this.quant(quant)
    this.op(Op.NEWFALSE)
    this.global('collections', 'OrderedDict')
    this.op(Op.EMPTY_TUPLE, Op.REDUCE, Op.TUPLE, Op.REDUCE)
  }

  private quant(quant: Quant): void {
    this.op(Op.MARK)
    if (isPerChannel(quant)) {
      const { scales, zeroPoints } = channelTensors(quant)
      this.global('torch', quant.floatZeroPoints === true ? 'per_channel_affine_float_qparams' : 'per_channel_affine')
      this.tensor(scales)
      this.tensor(zeroPoints)
      this.int(quant.axis)
    } else {
      this.global('torch', 'per_tensor_affine')
      this.float(quant.scale)
      this.int(quant.zeroPoint)
    }
    this.op(Op.TUPLE)
  }
}
