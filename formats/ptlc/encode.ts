import { Builder, type Offset } from 'flatbuffers'
import { isPerChannel, type Quant, type Tensor } from '../../runtime/tensor/tensor.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Device, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { Target } from '../../compiler/capture/captured.js'
import { Field, TARGET_KINDS, ValueKind } from './schema.js'

/** A tensor as the file has it. */
export interface TensorEntry {
  readonly tensor: Pick<Tensor, 'shape' | 'strides' | 'type' | 'quant'>
  readonly target: Target
  readonly offset: number
  readonly same: boolean
  readonly again: number
}

/** Writes the tables of plan.fbs. Everything that a table refers to is written before it. */
export class Encoder {
  readonly builder = new Builder(1 << 16)

  /** A table with these fields, each added by a function that is called while it is open. */
  table(fields: number, add: (b: Builder) => void): Offset {
    this.builder.startObject(fields)
    add(this.builder)
    return this.builder.endObject()
  }

  text(text: string): Offset {
    return this.builder.createString(text)
  }

  bytes(bytes: Uint8Array): Offset {
    return this.builder.createByteVector(bytes)
  }

  offsets(items: readonly Offset[]): Offset {
    return this.vector(items, 4, (x) => {
      this.builder.addOffset(x)
    })
  }

  texts(items: readonly string[]): Offset {
    return this.offsets(items.map((text) => this.text(text)))
  }

  int64s(items: readonly number[]): Offset {
    return this.vector(items, 8, (x) => {
      this.builder.addInt64(BigInt(x))
    })
  }

  uint32s(items: readonly number[]): Offset {
    return this.vector(items, 4, (x) => {
      this.builder.addInt32(x)
    })
  }

  float64s(items: readonly number[]): Offset {
    return this.vector(items, 8, (x) => {
      this.builder.addFloat64(x)
    })
  }

  /** Flatbuffers are written backwards. */
  private vector<T>(items: readonly T[], bytes: number, add: (item: T) => void): Offset {
    this.builder.startVector(bytes, items.length, bytes)
    for (let i = items.length - 1; i >= 0; i--) add(items[i]!)
    return this.builder.endVector()
  }

  quant(quant: Quant): Offset {
    const perChannel = isPerChannel(quant)
    const scales = this.float64s(perChannel ? quant.scales : [quant.scale])
    const zeroPoints = this.float64s(perChannel ? quant.zeroPoints : [quant.zeroPoint])
    const at = Field.quantization
    return this.table(4, (b) => {
      b.addFieldInt32(at.axis, perChannel ? quant.axis : -1, 0)
      b.addFieldOffset(at.scales, scales, 0)
      b.addFieldOffset(at.zeroPoints, zeroPoints, 0)
      b.addFieldInt8(at.fractions, perChannel && quant.floatZeroPoints === true ? 1 : 0, 0)
    })
  }

  tensor({ tensor, target, offset, same, again }: TensorEntry): Offset {
    const { quant } = tensor
    const shape = this.int64s(tensor.shape)
    const strides = this.int64s(tensor.strides)
    const quantization = quant === null ? 0 : this.quant(quant)
    const at = Field.tensor
    return this.table(9, (b) => {
      b.addFieldInt64(at.offset, BigInt(offset), 0n)
      b.addFieldInt8(at.kind, TARGET_KINDS.indexOf(target.kind), 0)
      b.addFieldInt32(at.index, target.index, 0)
      b.addFieldOffset(at.shape, shape, 0)
      b.addFieldOffset(at.strides, strides, 0)
      b.addFieldInt8(at.dtype, tensor.type, 0)
      b.addFieldOffset(at.quantization, quantization, 0)
      b.addFieldInt8(at.same, same ? 1 : 0, 0)
      b.addFieldInt32(at.again, again, -1)
    })
  }

  /** A value without objects; `entryOf` describes its tensors. */
  value(value: Value, entryOf: (t: Tensor) => TensorEntry): Offset {
    const at = Field.value
    const plain = (kind: number, add: (b: Builder) => void): Offset =>
      this.table(8, (b) => {
        b.addFieldInt8(at.kind, kind, 0)
        add(b)
      })
    const items = (list: readonly Value[]): Offset => this.offsets(list.map((item) => this.value(item, entryOf)))
    const withText = (kind: number, text: string): Offset => {
      const offset = this.text(text)
      return plain(kind, (b) => {
        b.addFieldOffset(at.text, offset, 0)
      })
    }
    if (value === null) return plain(ValueKind.none, () => undefined)
    if (typeof value === 'string') return withText(ValueKind.string, value)
    if (value instanceof Device) return withText(ValueKind.device, value.toString())
    if (typeof value !== 'object') {
      return plain(typeof value === 'boolean' ? ValueKind.bool : ValueKind.int, (b) => {
        b.addFieldInt64(at.integer, BigInt(value), 0n)
      })
    }
    if (value instanceof Float) {
      return plain(ValueKind.float, (b) => {
        // no default: it would swallow the sign of -0
        b.addFieldFloat64(at.number, value.value, NaN)
      })
    }
    if (value instanceof Complex) {
      const parts = items([new Float(value.re), new Float(value.im)])
      return plain(ValueKind.complex, (b) => {
        b.addFieldOffset(at.items, parts, 0)
      })
    }
    if (Array.isArray(value)) {
      const list = items(value)
      return plain(ValueKind.list, (b) => {
        b.addFieldOffset(at.items, list, 0)
      })
    }
    if (value instanceof Tuple) {
      const list = items(value.items)
      const fields = value.fields === undefined ? 0 : this.texts(value.fields)
      return plain(ValueKind.tuple, (b) => {
        b.addFieldOffset(at.items, list, 0)
        b.addFieldOffset(at.fields, fields, 0)
      })
    }
    if (value instanceof Map) {
      // float keys are plain numbers, as ints within 2^53 are
      const keys = items([...value.keys()].map((key) => (typeof key === 'number' && !Number.isSafeInteger(key) ? new Float(key) : key)))
      const list = items([...value.values()])
      return plain(ValueKind.dict, (b) => {
        b.addFieldOffset(at.keys, keys, 0)
        b.addFieldOffset(at.items, list, 0)
      })
    }
    // objects have no signature and no result may hold one, so what is left is a tensor
    const tensor = this.tensor(entryOf(value as Tensor))
    return plain(ValueKind.tensor, (b) => {
      b.addFieldOffset(at.tensor, tensor, 0)
    })
  }

  finish(root: Offset): Uint8Array {
    this.builder.finish(root)
    return this.builder.asUint8Array()
  }
}
