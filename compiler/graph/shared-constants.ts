import { areEqual } from '../../runtime/bytes.js'
import { utf8 } from '../../runtime/encoding.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { readTensor, writeTensor } from '../../runtime/tensor/data.js'
import { hashAt, hashOf } from '../../runtime/tensor/hash.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { empty, type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'

/** A tensor that was made, without a share in its memory: that belongs to the graphs that use it. */
interface Made {
  readonly storage: Storage
  readonly offset: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly type: DType
  readonly quant: Quant | null
}

/**
 * Constants that the compiler made from the tensors of one module, found again by what they are made from: the operator, the contents
 * (storage and version) and layout of its operands, and its other arguments. Each graph gets tensors of its own on the same memory, which
 * goes back with the last of them. What was made from a constant that is gone meanwhile is still found by where that came from.
 */
export class SharedConstants {
  private readonly made = new Map<string, readonly Made[]>()
  private readonly names = new WeakMap<Storage, string>()
  private nextName = 0

  /** The results of an operator: tensors on known memory, or what `make` returns. */
  derive(op: string, args: readonly Value[], make: () => Value[]): Value[] {
    const texts = args.map((arg) => this.textOf(arg))
    if (texts.includes(null)) return make()
    const key = `${op}(${texts.join()})`
    const known = this.find(key)
    if (known !== null) return known
    const results = make()
    const given = new Set(args.flatMap(storagesOf))
    // views of operands are not copies, and stay what they are
    if (results.every((t): t is Tensor => t instanceof Tensor && !given.has(t.storage))) this.keep(key, results)
    return results
  }

  /** A vector of float32 or another contiguous tensor of these numbers. */
  numbers(data: Float32Array, shape: readonly number[]): Tensor {
    const fresh = tensorOfNumbers(data, shape)
    const key = `numbers ${hashAt(fresh.address, data.byteLength)} [${shape.join()}]`
    const [known] = (this.find(key) ?? []) as Tensor[]
    if (known === undefined) {
      this.keep(key, [fresh])
      return fresh
    }
    if (sameBits(readTensor(known) as Float32Array, data)) {
      fresh.release()
      return known
    }
    known.release()
    return fresh
  }

  /** Forgets constants whose memory has gone. */
  sweep(): void {
    for (const [key, results] of this.made) if (results.some(({ storage }) => !storage.live)) this.made.delete(key)
  }

  private find(key: string): Tensor[] | null {
    const results = this.made.get(key)
    if (results === undefined || results.some(({ storage }) => !storage.live)) return null
    return results.map(({ storage, offset, shape, strides, type, quant }) => {
      const t = new Tensor(storage, offset, shape, strides, type, quant)
      t.pinned = true
      return t
    })
  }

  private keep(key: string, results: readonly Tensor[]): void {
    const name = shortened(key)
    results.forEach(({ storage }, i) => this.names.set(storage, `${name}.${i}`))
    this.made.set(
      key,
      results.map(({ storage, offset, shape, strides, type, quant }) => ({ storage, offset, shape, strides, type, quant })),
    )
  }

  /** Null for values that have no text. */
  private textOf(value: Value): string | null {
    if (value instanceof Tensor) {
      if (value.isSparse) return null
      const { storage, offset, shape, strides, type, quant } = value
      let name = this.names.get(storage)
      if (name === undefined) this.names.set(storage, (name = `storage ${this.nextName++}`))
      return `${name}@${storage.version}+${offset}[${shape.join()}][${strides.join()}]:${type}${quant === null ? '' : JSON.stringify(quant)}`
    }
    if (Array.isArray(value)) {
      const items = value.map((item) => this.textOf(item))
      return items.includes(null) ? null : `[${items.join()}]`
    }
    if (value instanceof Float) return `${Object.is(value.value, -0) ? '-0' : value.value}f`
    if (typeof value === 'string') return JSON.stringify(value)
    return value === null || typeof value !== 'object' ? `${typeof value} ${String(value)}` : null
  }
}

/** Of what was made of such names in its turn the names would double with every step. */
const LONGEST_NAME = 256
/** Of a longer one, in front of its length and hash. */
const SHOWN = 32

function shortened(key: string): string {
  if (key.length <= LONGEST_NAME) return key
  return `${key.slice(0, SHOWN)} ${key.length} ${hashOf(utf8(key))}`
}

/** None yet. */
export function newSharedConstants(): SharedConstants {
  return new SharedConstants()
}

let current: SharedConstants | null = null

/** Runs `make`, whose constants are those of `shared`. */
export function withSharedConstants<T>(shared: SharedConstants, make: () => T): T {
  const before = current
  current = shared
  try {
    shared.sweep()
    return make()
  } finally {
    current = before
  }
}

/** Where constants are shared at the moment; null where each graph has its own. */
export function sharedConstants(): SharedConstants | null {
  return current
}

/** A contiguous float32 constant of these numbers; the caller has a share of its memory. */
export function constantOf(data: Float32Array, shape: readonly number[]): Tensor {
  return current?.numbers(data, shape) ?? tensorOfNumbers(data, shape)
}

function tensorOfNumbers(data: Float32Array, shape: readonly number[]): Tensor {
  const t = empty(shape, DType.float32)
  writeTensor(t, data)
  t.pinned = true
  return t
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return areEqual(wordsOf(a), wordsOf(b))
}

function wordsOf({ buffer, byteOffset, length }: Float32Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length)
}

function storagesOf(value: Value): Storage[] {
  if (value instanceof Tensor) return [value.storage]
  return Array.isArray(value) ? value.flatMap(storagesOf) : []
}
