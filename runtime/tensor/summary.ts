import { elementValue, readTensor } from './data.js'
import type { DTypeName } from './dtype.js'
import { numelOf, shapeText } from './shape.js'
import { Tensor } from './tensor.js'
import { kindOf } from './kind-of.js'
import { Float, isComplexNumber } from './scalar.js'
import { Device, Tuple } from './value.js'

/** How many elements a summary shows. */
const SHOWN = 6

/** What JSON.stringify and console.log say about a tensor. */
export interface TensorSummary {
  /** Of the elements. */
  readonly dtype: DTypeName
  /** Sizes of its dimensions. */
  readonly shape: readonly number[]
  /** The first elements in row-major order, of the first row at most; int64 ones as text. Raw integers of quantized tensors. */
  readonly first?: readonly (number | string | boolean)[]
  /** Where its memory was given back. */
  readonly disposed?: true
}

/** dtype, shape and the first elements of a tensor, or that it was disposed. */
export function summaryOf(t: Tensor): TensorSummary {
  const { dtype } = t
  const shape = [...t.shape]
  const { live, byteLength } = t.storage
  if (t.isReleased || (!live && byteLength > 0)) return { dtype, shape, disposed: true }
  // sparse ones have no storage of their own
  return live ? { dtype, shape, first: firstElements(t) } : { dtype, shape }
}

/** `Tensor float32[2, 3] [1, 2, 3, ...]` */
export function inspectTensor(t: Tensor): string {
  const { dtype, shape, first, disposed } = summaryOf(t)
  const what = `Tensor ${dtype}[${shape.join(', ')}]`
  if (first === undefined) return disposed === true ? `${what} (disposed)` : what
  return `${what} [${first.join(', ')}${first.length < t.numel ? ', ...' : ''}]`
}

function firstElements(t: Tensor): (number | string | boolean)[] {
  const n = numelOf(t.shape) === 0 ? 0 : Math.min(t.shape.at(-1) ?? 1, SHOWN)
  const row = new Tensor(t.storage, t.offset, [n], [t.strides.at(-1) ?? 1], t.type)
  try {
    return Array.from(readTensor(row) as ArrayLike<number | bigint>, (raw) => {
      const value = elementValue(raw, t.type)
      return typeof value === 'bigint' ? `${value}` : value
    })
  } finally {
    row.release()
  }
}

/** A value's kind and, where short, the value itself, for error messages. */
export function describe(value: unknown): string {
  const kind = kindOf(value)
  if (value instanceof Tensor && Tensor.isOne(value)) return `a ${value.dtype} tensor of shape ${shapeText(value.shape)}`
  if (Array.isArray(value)) return `${kind} of ${value.length}`
  if (value instanceof Tuple) return `${kind} of ${value.items.length}`
  if (value instanceof Map) return `${kind} of ${value.size}`
  if (typeof value === 'string') return `${kind} ${JSON.stringify(value.slice(0, 40))}`
  const isNumber = value instanceof Float || isComplexNumber(value)
  const isShort = value !== null && (typeof value !== 'object' || isNumber || value instanceof Device)
  return isShort && value !== undefined ? `${kind} ${String(value)}` : kind
}
