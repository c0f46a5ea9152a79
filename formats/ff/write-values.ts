import type { Builder, Offset } from 'flatbuffers'
import type { FunctionCode } from '../../program/code.js'
import { guarded, unsupported } from '../../program/file-error.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { isPerChannel, type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { type CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { ObjectStates } from '../writing/program-writer.js'
import { channelTensors } from '../writing/quantization.js'
import { customClassOf, dictTypeOf, elementTypeOf } from '../writing/value-types.js'
import type { FlatBuilder } from '../containers/flatbuffer/builder.js'
import { Field, ObjectKind, ValueKind } from './schema.js'
import { writeFlatFunction } from './write-function.js'

/** c10::QScheme numbers. */
const QScheme = { perTensor: 0, perChannel: 1, perChannelFloat: 4 } as const
/** Of the offset, sizes and strides of tensors. */
const MOST = 2 ** 31 - 1

/** A class of the file; what is not known of it until an object of it is written. */
interface ObjectType {
  readonly name: string
  kind: number
  attributes: readonly string[] | null
}

/** The values of a flatbuffer, each with what it refers to before it: one value, one number. */
export class FlatValueWriter {
  readonly offsets: Offset[] = []
  private readonly numbers = new Map<unknown, number>()
  private readonly types: ObjectType[] = []
  private readonly storages = new Map<Storage, number>()
  /** Functions that are being written. */
  private readonly open = new Set<FunctionCode>()

  constructor(
    private readonly builder: FlatBuilder,
    private readonly states: ObjectStates,
  ) {
    this.add(ValueKind.none, 0)
  }

  /** In the order of their numbers. */
  get writtenStorages(): Storage[] {
    return [...this.storages.keys()]
  }

  /** The number of a value, which is written where it was not before. */
  indexOf(value: Value): number {
    if (value === null) return 0
    const key = keyOf(value)
    let index = this.numbers.get(key)
    if (index === undefined) {
      index = this.write(value)
      this.numbers.set(key, index)
    }
    return index
  }

  functionIndex(fn: FunctionCode): number {
    let index = this.numbers.get(fn)
    if (index === undefined) {
      if (this.open.has(fn)) throw unsupported(`${fn.name} has a constant that it has to make itself`)
      this.open.add(fn)
      const table = guarded(fn.name, () =>
        writeFlatFunction(this.builder, fn, { indexOf: (value) => this.indexOf(value), classOf: (name) => this.typeIndex(name) }),
      )
      this.open.delete(fn)
      index = this.add(ValueKind.function, table)
      this.numbers.set(fn, index)
    }
    return index
  }

  /** The tables of all classes that objects and functions are of. */
  objectTypes(): Offset[] {
    const { objectType } = Field
    return this.types.map(({ name, kind, attributes }) => {
      const [text, names] = [this.builder.text(name), this.builder.texts(attributes ?? [])]
      return this.builder.table(3, (b) => {
        b.addFieldOffset(objectType.name, text, 0)
        b.addFieldInt8(objectType.kind, kind, 0)
        b.addFieldOffset(objectType.attributes, names, 0)
      })
    })
  }

  private add(kind: number, value: Offset): number {
    const table = this.builder.table(2, (b) => {
      b.addFieldInt8(Field.value.kind, kind, 0)
      b.addFieldOffset(Field.value.value, value, 0)
    })
    return this.offsets.push(table) - 1
  }

  private write(value: Exclude<Value, null>): number {
    if (typeof value === 'boolean') return this.struct(ValueKind.bool, 1, (b) => b.writeInt8(value ? 1 : 0))
    if (typeof value === 'number' || typeof value === 'bigint') return this.struct(ValueKind.int, 8, (b) => b.writeInt64(BigInt(value)))
    if (typeof value === 'string') return this.textual(ValueKind.string, value)
    if (value instanceof Float) return this.struct(ValueKind.double, 8, (b) => b.writeFloat64(value.value))
    if (value instanceof Complex) return this.complex(value)
    if (value instanceof Device) return this.textual(ValueKind.device, value.toString())
    if (value instanceof Tensor) return this.add(ValueKind.tensor, this.tensor(value))
    if (value instanceof Tuple) return this.items(ValueKind.tuple, value.items, null)
    if (Array.isArray(value)) return this.list(value)
    if (value instanceof Map) return this.dict(value)
    return value instanceof ScriptObject ? this.object(value) : this.custom(value)
  }

  private struct(kind: number, bytes: number, write: (b: Builder) => void): number {
    return this.add(kind, this.builder.struct(bytes, bytes, write))
  }

  private complex({ re, im }: Complex): number {
    const struct = this.builder.struct(16, 8, (b) => {
      b.writeFloat64(im)
      b.writeFloat64(re)
    })
    return this.add(ValueKind.complex, struct)
  }

  private textual(kind: number, content: string): number {
    const text = this.builder.text(content)
    return this.add(
      kind,
      this.builder.table(1, (b) => b.addFieldOffset(Field.text.value, text, 0)),
    )
  }

  private indices(items: readonly Value[]): Offset {
    return this.builder.int32s(items.map((item) => this.indexOf(item)))
  }

  private items(kind: number, items: readonly Value[], type: string | null): number {
    const indices = this.indices(items)
    const text = type === null ? 0 : this.builder.text(type)
    const table = this.builder.table(2, (b) => {
      b.addFieldOffset(Field.list.items, indices, 0)
      b.addFieldOffset(Field.list.type, text, 0)
    })
    return this.add(kind, table)
  }

  private list(list: Value[]): number {
    const type = elementTypeOf(list)
    const plain = (kind: number, bytes: number, write: (b: Builder, item: Value) => void): number => {
      const items = this.builder.vector(list, bytes, write)
      return this.add(
        kind,
        this.builder.table(1, (b) => b.addFieldOffset(Field.list.items, items, 0)),
      )
    }
    switch (type) {
      case 'int':
        return plain(ValueKind.intList, 8, (b, item) => b.addInt64(BigInt(item as number | bigint)))
      case 'float':
        return plain(ValueKind.doubleList, 8, (b, item) => b.addFloat64((item as Float).value))
      case 'bool':
        return plain(ValueKind.boolList, 1, (b, item) => b.addInt8(item === true ? 1 : 0))
      default:
        return this.items(ValueKind.list, list, `List[${type}]`)
    }
  }

  private dict(dict: ReadonlyMap<DictKey, Value>): number {
    const { text, hasFloatKeys } = dictTypeOf(dict)
    const keys = this.indices([...dict.keys()].map((key) => (hasFloatKeys ? new Float(Number(key)) : key)))
    const values = this.indices([...dict.values()])
    const type = this.builder.text(text)
    const table = this.builder.table(3, (b) => {
      b.addFieldOffset(Field.dict.keys, keys, 0)
      b.addFieldOffset(Field.dict.values, values, 0)
      b.addFieldOffset(Field.dict.type, type, 0)
    })
    return this.add(ValueKind.dict, table)
  }

  private tensor(t: Tensor): Offset {
    if (t.isSparse) throw unsupported('a sparse tensor has no form in the file to be written')
    if ([t.offset, ...t.shape, ...t.strides].some((n) => n > MOST))
      throw unsupported(`a tensor of shape [${t.shape.join(', ')}] is too large for a flatbuffer`)
    const quantization = t.quant === null ? 0 : this.quantization(t.quant)
    const [sizes, strides] = [this.builder.int32s(t.shape), this.builder.int32s(t.strides)]
    const storage = this.storages.get(t.storage) ?? this.storages.size
    this.storages.set(t.storage, storage)
    const field = Field.tensor
    return this.builder.table(7, (b) => {
      b.addFieldInt32(field.storage, storage, 0)
      b.addFieldInt8(field.scalarType, t.type, 0)
      b.addFieldInt32(field.offset, t.offset, 0)
      b.addFieldOffset(field.sizes, sizes, 0)
      b.addFieldOffset(field.strides, strides, 0)
      b.addFieldOffset(field.quantization, quantization, 0)
    })
  }

  private quantization(quant: Quant): Offset {
    const field = Field.quantization
    if (!isPerChannel(quant))
      return this.builder.table(6, (b) => {
        b.addFieldInt8(field.scheme, QScheme.perTensor, 0)
        b.addFieldFloat64(field.scale, quant.scale, 0)
        b.addFieldInt32(field.zeroPoint, quant.zeroPoint, 0)
      })
    const channels = channelTensors(quant)
    const [scales, zeroPoints] = [this.tensor(channels.scales), this.tensor(channels.zeroPoints)]
    return this.builder.table(6, (b) => {
      b.addFieldInt8(field.scheme, quant.floatZeroPoints === true ? QScheme.perChannelFloat : QScheme.perChannel, 0)
      b.addFieldOffset(field.scales, scales, 0)
      b.addFieldOffset(field.zeroPoints, zeroPoints, 0)
      b.addFieldInt32(field.axis, quant.axis, 0)
    })
  }

  private object(object: ScriptObject): number {
    const { typeName, names, slots } = object
    const filled = this.states.get(object)
    if (filled !== undefined) {
      const setState = this.functionIndex(filled.setState)
      const state = guarded(`the state of ${typeName}`, () => this.indexOf(filled.state))
      return this.instance(this.typeIndex(typeName, ObjectKind.setState, []), state, [], setState)
    }
    const indices = slots.map((slot, i) => guarded(`'${names[i]}'`, () => this.indexOf(slot)))
    return this.instance(this.typeIndex(typeName, ObjectKind.fields, names), 0, indices, 0)
  }

  private custom(object: CustomObject): number {
    const className = customClassOf(object)
    const state = this.indexOf(object.state)
    return this.instance(this.typeIndex(className, ObjectKind.custom, []), state, [], 0)
  }

  private instance(type: number, state: number, attributes: readonly number[], setState: number): number {
    const field = Field.object
    const indices = this.builder.int32s(attributes)
    const table = this.builder.table(4, (b) => {
      b.addFieldInt32(field.type, type, 0)
      b.addFieldInt32(field.state, state, 0)
      b.addFieldOffset(field.attributes, indices, 0)
      b.addFieldInt32(field.setState, setState, 0)
    })
    return this.add(ValueKind.object, table)
  }

  /** The number of a class with these attributes: of one that is named alone, the first of that name. */
  private typeIndex(name: string, kind: number = ObjectKind.fields, attributes: readonly string[] | null = null): number {
    const found = this.types.findIndex(
      (type) => type.name === name && (attributes === null || type.attributes === null || sameTexts(type.attributes, attributes)),
    )
    if (found < 0) return this.types.push({ name, kind, attributes }) - 1
    const type = this.types[found]!
    if (type.attributes === null && attributes !== null) Object.assign(type, { kind, attributes })
    return found
  }
}

/** What values that are the same have in common: containers, tensors and objects are the same only as themselves. */
function keyOf(value: Exclude<Value, null>): unknown {
  if (value instanceof Float) return Object.is(value.value, -0) ? 'float -0' : `float ${value.value}`
  if (value instanceof Device) return `Device ${value.toString()}`
  return typeof value === 'object' ? value : `${typeof value === 'bigint' ? 'number' : typeof value} ${value}`
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
