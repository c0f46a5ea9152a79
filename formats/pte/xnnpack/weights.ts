import { fieldsOf } from '../../../runtime/bytes.js'
import { damaged, unsupported } from '../../../program/file-error.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { Attributes } from '../attributes.js'
import { type Form, inverseOf } from '../form.js'
import type { MethodEmitter } from '../method-emitter.js'
import { elementCount } from '../plan.js'
import type { GraphValue, Quantization } from './graph.js'
import { Datatype } from './schema.js'

const SPACE = 'quantized_decomposed::'

/**
 * The constants of graphs. Floats and integers of 8 bits are used where they are in the file, and have their dimensions in the order that an operator wants by their strides; what is
 * packed more densely is unpacked when the file is read. Quantized weights are dequantized in the code, which the compiler knows how to compute with.
 */
export class Weights {
  constructor(
    private readonly attributes: Attributes,
    private readonly scope: string,
  ) {}

  /** Pushes the floats of a constant; dimension i is dimension `order[i]` of it. */
  push(value: GraphValue, order: readonly number[], emitter: MethodEmitter): void {
    const { datatype, quantization } = value
    const key = `${value.dataKey.length > 20 ? '' : this.scope}${value.dataKey}`
    const form = (scalarType: number): Form => {
      const dimOrder = inverseOf(order)
      return { scalarType, sizes: order.map((dim) => value.dims[dim]!), dimOrder, isDynamic: false }
    }
    const name = `weight_${value.id}`
    const stored = (scalarType: number): void => emitter.pushAttribute(this.attributes.constant(key, name, form(scalarType), value.data!()))
    switch (datatype) {
      case Datatype.fp32:
        return stored(DType.float32)
      case Datatype.fp16:
        return stored(DType.float16)
      case Datatype.bf16:
        return stored(DType.bfloat16)
      case Datatype.int32:
        return stored(DType.int32)
      case Datatype.qint8:
        stored(DType.int8)
        return this.dequantize(quantization, order, DType.int8, [-128, 127], value, key, emitter)
      case Datatype.quint8:
        stored(DType.uint8)
        return this.dequantize(quantization, order, DType.uint8, [0, 255], value, key, emitter)
      case Datatype.qcint8:
        stored(DType.int8)
        return this.dequantize(quantization, order, DType.int8, [-127, 127], value, key, emitter)
      case Datatype.qint32:
      case Datatype.qcint32:
        // biases, which are added to what integers of the same scales give
        return emitter.pushAttribute(this.attributes.made(`${key} floats ${order.join()}`, name, form(DType.float32), () => biasOf(value)))
      case Datatype.qcint4:
      case Datatype.qbint4:
        emitter.pushAttribute(this.attributes.made(`${key} int4 ${order.join()}`, name, form(DType.int8), () => unpacked(value)))
        return this.dequantize(quantization, order, DType.int8, [-8, 7], value, key, emitter)
      default:
        throw unsupported(`a constant of XNNPACK's datatype ${datatype}, which this runtime has not got`)
    }
  }

  private dequantize(
    quantization: Quantization | null,
    order: readonly number[],
    dtype: number,
    [min, max]: readonly [number, number],
    value: GraphValue,
    key: string,
    emitter: MethodEmitter,
  ): void {
    const range = [min, max, dtype]
    switch (quantization?.kind) {
      case 'tensor':
        emitter.constant(new Float(quantization.scale))
        for (const number of [quantization.zeroPoint, ...range]) emitter.constant(number)
        return emitter.operator(`${SPACE}dequantize_per_tensor`, 6)
      case 'channel': {
        const axis = order.indexOf(quantization.axis)
        if (axis < 0) throw damaged('scales of a dimension that the weight has not got')
        this.scales(quantization.scales, [value.dims[quantization.axis]!], `${key} scales of ${value.id}`, emitter)
        for (const number of [null, axis, ...range]) emitter.constant(number)
        return emitter.operator(`${SPACE}dequantize_per_channel`, 7)
      }
      case 'group': {
        const { groupSize } = quantization
        const [rows, columns] = value.dims
        if (value.dims.length !== 2 || !(groupSize > 0) || columns! % groupSize !== 0)
          throw damaged(`groups of ${groupSize} of ${value.dims.join()} numbers`)
        this.scales(quantization.scales, [rows!, columns! / groupSize], `${key} scales of ${value.id}`, emitter)
        for (const number of [null, ...range, groupSize, DType.float32]) emitter.constant(number)
        return emitter.operator(`${SPACE}dequantize_per_channel_group`, 8)
      }
      default:
        throw damaged('a quantized constant without a scale')
    }
  }

  private scales(read: () => Float32Array, sizes: readonly number[], key: string, emitter: MethodEmitter): void {
    const form = { scalarType: DType.float32, sizes, dimOrder: sizes.map((_, i) => i), isDynamic: false }
    const make = (): Uint8Array => {
      const scales = read()
      if (scales.length !== elementCount(sizes)) throw damaged(`expected ${elementCount(sizes)} scales, found ${scales.length}`)
      return bytesOf(scales)
    }
    emitter.pushAttribute(this.attributes.made(key, 'scales', form, make))
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** Integers of 32 bits times their scales. */
function biasOf({ data, dims, quantization }: GraphValue): Uint8Array {
  const count = elementCount(dims)
  const fields = fieldsOf(data!().read(0, 4 * count))
  const scales = quantization?.kind === 'channel' ? quantization.scales() : null
  const scale = quantization?.kind === 'tensor' ? quantization.scale : 1
  if (scales !== null && scales.length !== count) throw damaged(`expected ${count} scales, found ${scales.length}`)
  return bytesOf(Float32Array.from({ length: count }, (_, i) => fields.getInt32(4 * i, true) * (scales?.[i] ?? scale)))
}

/** Integers of 4 bits, two to a byte, the first one in its lower half: rows begin with a byte of their own. */
function unpacked({ data, dims }: GraphValue): Uint8Array {
  const columns = dims.at(-1) ?? 1
  const rows = elementCount(dims) / Math.max(columns, 1)
  const stride = Math.ceil(columns / 2)
  const bytes = data!().read(0, rows * stride)
  const numbers = new Int8Array(rows * columns)
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < columns; i++) {
      const byte = bytes[row * stride + (i >> 1)]!
      numbers[row * columns + i] = (i % 2 === 0 ? byte & 15 : byte >> 4) - 8
    }
  return bytesOf(numbers)
}
