import { deviceOf } from '../../program/file-error.js'
import type { FlatReader, FlatTable } from '../containers/flatbuffer/reader.js'
import { dtypeFromCode } from '../../runtime/tensor/dtype.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { enterScope } from '../../runtime/tensor/scope.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { Target } from '../../compiler/capture/captured.js'
import { Field, TARGET_KINDS, ValueKind } from './schema.js'

/** What nests deeper is no value of a program. */
const MAX_DEPTH = 64
const MAX_RANK = 64

/** A tensor as the file describes it, with a tensor without memory that stands for it. */
export interface DecodedTensor {
  readonly mark: Tensor
  readonly target: Target
  readonly offset: number
  readonly same: boolean
  /** The argument before that is the same tensor; -1 for none. */
  readonly again: number
}

/** Reads the int64 numbers of a vector; all have to be exact. */
export function numbersOf(table: FlatTable, field: number): number[] {
  return table.list(field, 8, (at) => exact(table.reader, at))
}

export function numberAt(table: FlatTable, field: number): number {
  const at = table.at(field, 8)
  return at === 0 ? 0 : exact(table.reader, at)
}

function exact(reader: FlatReader, at: number): number {
  const value = reader.int64(at)
  if (typeof value !== 'number') throw reader.error(`the number ${value} is out of range`)
  return value
}

/** Reads values; `meet` gets each tensor and returns what stands for it. */
export class ValueDecoder {
  constructor(private readonly meet: (tensor: DecodedTensor) => Tensor) {}

  value(table: FlatTable, depth = 0): Value {
    const { reader } = table
    if (depth > MAX_DEPTH) throw reader.error(`values nest more than ${MAX_DEPTH} deep`)
    const at = Field.value
    const items = (field: number): Value[] => table.tables(field).map((item) => this.value(item, depth + 1))
    switch (table.uint8(at.kind)) {
      case ValueKind.none:
        return null
      case ValueKind.bool:
        return numberAt(table, at.integer) !== 0
      case ValueKind.int: {
        const place = table.at(at.integer, 8)
        return place === 0 ? 0 : reader.int64(place)
      }
      case ValueKind.float:
        return new Float(table.float64(at.number))
      case ValueKind.string:
        return table.text(at.text)
      case ValueKind.device:
        return deviceOf(table.text(at.text))
      case ValueKind.complex: {
        const [re, im] = items(at.items)
        if (!(re instanceof Float && im instanceof Float)) throw reader.error('a complex number lacks a part')
        return new Complex(re.value, im.value)
      }
      case ValueKind.list:
        return items(at.items)
      case ValueKind.tuple: {
        const fields = table.texts(at.fields)
        return fields.length === 0 ? new Tuple(items(at.items)) : new Tuple(items(at.items), fields)
      }
      case ValueKind.dict: {
        const keys = items(at.keys).map((key) => (key instanceof Float ? key.value : key))
        const values = items(at.items)
        if (keys.length !== values.length || keys.some((key) => typeof key === 'object')) throw reader.error('a dict has wrong keys')
        return new Map(keys.map((key, i): [DictKey, Value] => [key as DictKey, values[i]!]))
      }
      case ValueKind.tensor: {
        const tensor = table.table(at.tensor)
        if (tensor === null) throw reader.error('a tensor is missing')
        return this.meet(decodeTensor(tensor))
      }
      default:
        throw reader.error(`a value of unknown kind ${table.uint8(at.kind)}`)
    }
  }
}

export function decodeTensor(table: FlatTable): DecodedTensor {
  const { reader } = table
  const at = Field.tensor
  const kind = TARGET_KINDS[table.uint8(at.kind)]
  const shape = numbersOf(table, at.shape)
  const strides = numbersOf(table, at.strides)
  const offset = numberAt(table, at.offset)
  const sizes = [...shape, ...strides, offset]
  if (kind === undefined || shape.length !== strides.length || shape.length > MAX_RANK || sizes.some((size) => size < 0)) {
    throw reader.error('a tensor has wrong sizes or strides')
  }
  const quantization = table.table(at.quantization)
  const mark = placeholder(shape, strides, offset, table.int8(at.dtype), quantization === null ? null : decodeQuant(quantization))
  return {
    mark,
    target: { kind, index: table.int32(at.index) },
    offset,
    same: table.uint8(at.same) !== 0,
    again: table.int32(at.again, -1),
  }
}

function decodeQuant(table: FlatTable): Quant {
  const at = Field.quantization
  const float64s = (field: number): number[] => table.list(field, 8, (place) => table.reader.float64(place))
  const axis = table.int32(at.axis)
  const scales = float64s(at.scales)
  const zeroPoints = float64s(at.zeroPoints)
  if (scales.length !== zeroPoints.length || (axis < 0 && scales.length !== 1)) throw table.reader.error('a tensor has wrong scales')
  if (axis < 0) return { scale: scales[0]!, zeroPoint: zeroPoints[0]! }
  return { axis, scales, zeroPoints, ...(table.uint8(at.fractions) === 0 ? {} : { floatZeroPoints: true }) }
}

/** A tensor without memory, of no scope. */
function placeholder(shape: number[], strides: number[], offset: number, dtype: number, quant: Quant | null): Tensor {
  const before = enterScope(null)
  try {
    return new Tensor(Storage.borrow(0, 0, null), offset, shape, strides, dtypeFromCode(dtype), quant)
  } finally {
    enterScope(before)
  }
}
