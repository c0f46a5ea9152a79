import type { FunctionCode } from '../../program/code.js'
import { describe } from '../../runtime/tensor/describe.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Quant } from '../../runtime/tensor/tensor.js'
import { CUSTOM_CLASSES, CustomObject, type DictKey, ScriptObject, setListType, Tuple, type Value } from '../../runtime/tensor/value.js'
import { deviceOf, dictKeyOf, elementTypeOf, typeTextOf } from '../../program/file-error.js'
import { setDictType } from '../containers/dict-types.js'
import { readFlatFunction } from './function.js'
import type { FlatReader, FlatTable } from '../containers/flatbuffer/reader.js'
import { Field, ObjectKind, ValueKind } from './schema.js'
import type { PendingObject } from '../reading/parsed.js'
import type { TensorPool } from '../reading/tensor-pool.js'

/** c10::QScheme numbers. */
const PER_CHANNEL = [1, 3, 4]
const PER_CHANNEL_FLOAT = 4

/** Memory of a float in a list. */
const FLOAT_BYTES = 32

/** A class of the file. */
interface ObjectType {
  readonly name: string
  readonly kind: number
  readonly attributes: readonly string[]
}

/** A function among the values, where only its index is of use. */
class FunctionValue extends CustomObject {
  constructor(readonly code: FunctionCode) {
    super('a function', null)
  }
}

/**
 * The values of a flatbuffer module. They are built in order, each from earlier ones only, so that nothing recurses
 * and one index is one object.
 */
export class FlatValues {
  readonly functions: FunctionCode[] = []
  readonly pending: PendingObject[] = []
  private readonly values: Value[] = []
  private readonly types: readonly ObjectType[]

  constructor(
    private readonly reader: FlatReader,
    module: FlatTable,
    private readonly pool: TensorPool,
    private readonly storage: (index: number) => Storage,
  ) {
    const { objectType } = Field
    this.types = module.tables(Field.module.objectTypes).map((type) => ({
      name: type.text(objectType.name),
      kind: type.uint8(objectType.kind),
      attributes: type.texts(objectType.attributes),
    }))
    const all = module.tables(Field.module.values)
    const count = module.uint32(Field.module.mobileValues)
    if (count > all.length) throw reader.error(`expected ${count} values, found ${all.length}`)
    for (const table of count === 0 ? all : all.slice(0, count)) this.values.push(this.read(table))
  }

  /** An earlier value. */
  get(index: number): Value {
    const value = this.values[index]
    if (value === undefined) throw this.reader.error(`value ${index} is referred to before it is there, by value ${this.values.length}`)
    return value
  }

  private read(table: FlatTable): Value {
    const { reader } = this
    const field = Field.value.value
    const kind = table.uint8(Field.value.kind)
    switch (kind) {
      case ValueKind.none:
        return null
      case ValueKind.int:
        return reader.int64(table.struct(field))
      case ValueKind.bool:
        return reader.uint8(table.struct(field)) !== 0
      case ValueKind.double:
        return new Float(reader.float64(table.struct(field)))
      case ValueKind.complex:
        return this.complex(table.struct(field))
      default:
        return this.readTable(kind, table.table(field) ?? fail(reader, `value ${this.values.length} is empty`))
    }
  }

  private readTable(kind: number, table: FlatTable): Value {
    const { reader } = this
    switch (kind) {
      case ValueKind.tensor:
        return this.tensor(table)
      case ValueKind.string:
        return table.text(Field.text.value)
      case ValueKind.list:
        return this.list(table)
      case ValueKind.tuple:
        return new Tuple(this.items(table, Field.list.items))
      case ValueKind.dict:
        return this.dict(table)
      case ValueKind.object:
        return this.object(table)
      case ValueKind.intList:
        return typed(
          table.list(Field.list.items, 8, (at): Value => reader.int64(at)),
          'int',
        )
      case ValueKind.doubleList:
        return typed(
          table.list(Field.list.items, 8, (at): Value => new Float(reader.float64(at)), FLOAT_BYTES),
          'float',
        )
      case ValueKind.boolList:
        return typed(
          table.list(Field.list.items, 1, (at): Value => reader.uint8(at) !== 0),
          'bool',
        )
      case ValueKind.device:
        return deviceOf(table.text(Field.text.value))
      case ValueKind.enumValue:
        return this.enumValue(table)
      case ValueKind.function:
        return this.function(table)
      default:
        throw reader.error(`value ${this.values.length} is of the unknown kind ${kind}`)
    }
  }

  private items(table: FlatTable, field: number): Value[] {
    return table.uint32s(field).map((index) => this.get(index))
  }

  private list(table: FlatTable): Value {
    const list = this.items(table, Field.list.items)
    const element = elementTypeOf(typeTextOf(table.text(Field.list.type)))
    return element === undefined ? list : typed(list, element)
  }

  private dict(table: FlatTable): Value {
    const keys = this.items(table, Field.dict.keys)
    const values = this.items(table, Field.dict.values)
    if (keys.length !== values.length) throw this.reader.error(`a dict has ${keys.length} keys and ${values.length} values`)
    const dict = new Map<DictKey, Value>()
    keys.forEach((key, i) => dict.set(dictKeyOf(key), values[i]!))
    const type = typeTextOf(table.text(Field.dict.type))
    if (type !== '') setDictType(dict, type)
    return dict
  }

  private complex(at: number): Complex {
    return new Complex(this.reader.float64(at), this.reader.float64(at + 8))
  }

  private tensor(table: FlatTable): Value {
    const field = Field.tensor
    const scalarType = table.int8(field.scalarType)
    return this.pool.build(this.storage(table.uint32(field.storage)), {
      scalarType,
      offset: table.int32(field.offset),
      sizes: this.sizes(table, field.sizes),
      strides: this.sizes(table, field.strides),
      quant: this.quant(table.table(field.quantization)),
    })
  }

  private sizes(table: FlatTable, field: number): number[] {
    const sizes = table.int32s(field)
    if (sizes.some((size) => size < 0)) throw this.reader.error('a tensor has a negative size or stride')
    return sizes
  }

  private quant(table: FlatTable | null): Quant | null {
    if (table === null) return null
    const field = Field.quantization
    const scheme = table.int8(field.scheme)
    if (!PER_CHANNEL.includes(scheme)) return { scale: table.float64(field.scale), zeroPoint: table.int32(field.zeroPoint) }
    const numbers = (id: number): number[] => {
      const tensor = table.table(id)
      return this.pool.numbers(tensor === null ? null : this.tensor(tensor))
    }
    const axis = table.int32(field.axis)
    const scales = numbers(field.scales)
    const zeroPoints = numbers(field.zeroPoints)
    return scheme === PER_CHANNEL_FLOAT ? { axis, scales, zeroPoints, floatZeroPoints: true } : { axis, scales, zeroPoints }
  }

  private object(table: FlatTable): Value {
    const field = Field.object
    const type = this.types[table.uint32(field.type)]
    if (type === undefined) throw this.reader.error(`an object is of type ${table.uint32(field.type)}; there are ${this.types.length}`)
    switch (type.kind) {
      case ObjectKind.custom:
        return new CustomObject(
          type.name.startsWith(CUSTOM_CLASSES) ? type.name.slice(CUSTOM_CLASSES.length) : type.name,
          this.get(table.uint32(field.state)),
        )
      case ObjectKind.setState: {
        const setState = this.get(table.uint32(field.setState))
        if (!(setState instanceof FunctionValue))
          throw this.reader.error(`expected the __setstate__ of ${type.name}, found ${describe(setState)}`)
        const object = new ScriptObject(type.name, [], [])
        this.pending.push({ object, state: this.get(table.uint32(field.state)), setState: setState.code })
        return object
      }
      case ObjectKind.fields: {
        const slots = this.items(table, field.attributes)
        const names =
          type.attributes.length === slots.length
            ? [...type.attributes]
            : fail(this.reader, `an object of ${type.name} has ${slots.length} attributes`)
        return new ScriptObject(type.name, names, slots)
      }
      default:
        throw this.reader.error(`the class ${type.name} is of the unknown kind ${type.kind}`)
    }
  }

  private enumValue(table: FlatTable): Value {
    const typeName = table.text(Field.enumValue.typeName)
    return new ScriptObject(typeName, ['value'], [this.get(table.uint32(Field.enumValue.value))])
  }

  private function(table: FlatTable): Value {
    const code = readFlatFunction(table, (index) => this.get(index))
    this.functions.push(code)
    return new FunctionValue(code)
  }
}

function typed(list: Value[], elementType: string): Value[] {
  setListType(list, elementType)
  return list
}

function fail(reader: FlatReader, message: string): never {
  throw reader.error(message)
}
