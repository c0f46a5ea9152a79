import type * as library from '../../src/index.js'
import type { Sent, SentTensor } from './messages.js'

/** What of the library values are made of: its copies on both sides have classes of their own. */
export type Classes = Pick<typeof library, 'Tensor' | 'Complex' | 'Float' | 'PtliteError' | 'float' | 'complex' | 'tuple'>

/** Values nested deeper are no data of a model. */
const DEEPEST = 200

/** Packs values for another thread. `transfer` are buffers that are to go over with the message. */
export class Packer {
  readonly transfer = new Set<ArrayBuffer>()
  /** Tensors of the library that were packed: their elements were copied. */
  readonly tensors = new Set<library.Tensor>()
  private readonly done = new Map<object, Sent>()

  /** `itemsOf`: of a tuple, undefined for all else. */
  constructor(
    private readonly classes: Pick<Classes, 'Tensor' | 'Complex' | 'Float' | 'PtliteError'>,
    private readonly itemsOf: (value: object) => readonly unknown[] | undefined,
  ) {}

  /** Throws INVALID_ARGUMENT for what cannot leave its thread. */
  pack(value: unknown, depth = 0): Sent {
    if (value === undefined || value === null) return null
    if (typeof value === 'function' || typeof value === 'symbol') throw this.refused(`a ${typeof value}`)
    if (typeof value !== 'object') return value as Sent
    const before = this.done.get(value)
    if (before !== undefined) return before
    if (depth > DEEPEST) throw this.refused(`what is nested more than ${DEEPEST} deep`)
    const { Float, Complex } = this.classes
    if (value instanceof Float) return this.keep(value, { kind: 'float', value: value.value })
    if (value instanceof Complex) return this.keep(value, { kind: 'complex', re: value.re, im: value.im })
    return this.tensor(value) ?? this.container(value, depth) ?? this.refuse(value)
  }

  private tensor(value: object): Sent | undefined {
    if (value instanceof this.classes.Tensor) {
      const { dtype, shape, quant } = value
      this.tensors.add(value)
      return this.send(value, { kind: 'tensor', dtype, shape: [...shape], buffer: value.data().buffer as ArrayBuffer, quant })
    }
    const { dtype, shape, buffer, quant = null } = value as Partial<SentTensor>
    if (dtype === undefined || shape === undefined || !(buffer instanceof ArrayBuffer)) return undefined
    return this.send(value, { kind: 'tensor', dtype, shape: [...shape], buffer, quant })
  }

  private container(value: object, depth: number): Sent | undefined {
    const tuple = this.itemsOf(value)
    const list = tuple ?? (Array.isArray(value) ? (value as unknown[]) : undefined)
    if (list !== undefined) {
      const items: Sent[] = []
      const sent = this.keep(value, { kind: tuple === undefined ? 'list' : 'tuple', items })
      for (const item of list) items.push(this.pack(item, depth + 1))
      return sent
    }
    if (!(value instanceof Map)) return undefined
    const entries: (readonly [Sent, Sent])[] = []
    const sent = this.keep(value, { kind: 'dict', entries })
    for (const [key, item] of value as Map<unknown, unknown>) entries.push([this.pack(key, depth + 1), this.pack(item, depth + 1)])
    return sent
  }

  private send(value: object, sent: SentTensor): Sent {
    this.transfer.add(sent.buffer)
    return this.keep(value, sent)
  }

  private keep(value: object, sent: Sent): Sent {
    this.done.set(value, sent)
    return sent
  }

  private refuse(value: object): never {
    const name = (value as { readonly typeName?: unknown }).typeName ?? (Object.getPrototypeOf(value) as object | null)?.constructor.name
    throw this.refused(`an object of ${String(name)}`)
  }

  private refused(what: string): library.PtliteError {
    return new this.classes.PtliteError('INVALID_ARGUMENT', `${what} cannot leave its thread`)
  }
}

/** The values of the other thread, as this one's library has them. */
export class Unpacker {
  readonly tensors: library.Tensor[] = []
  private readonly done = new Map<object, unknown>()

  /** Tuples are arrays where they are results. */
  constructor(
    private readonly classes: Pick<Classes, 'Tensor' | 'float' | 'complex' | 'tuple'>,
    private readonly tuples: 'tuples' | 'arrays',
  ) {}

  unpack(sent: Sent): unknown {
    if (typeof sent !== 'object' || sent === null) return sent
    if (this.done.has(sent)) return this.done.get(sent)
    const value = this.made(sent)
    this.done.set(sent, value)
    return value
  }

  private made(sent: Exclude<Sent, null | boolean | number | bigint | string>): unknown {
    const { Tensor, float, complex, tuple } = this.classes
    switch (sent.kind) {
      case 'tensor': {
        const tensor = Tensor.from(sent)
        this.tensors.push(tensor)
        return tensor
      }
      case 'float':
        return float(sent.value)
      case 'complex':
        return complex(sent.re, sent.im)
      case 'dict': {
        const dict = new Map<unknown, unknown>()
        this.done.set(sent, dict)
        for (const [key, item] of sent.entries) dict.set(this.unpack(key), this.unpack(item))
        return dict
      }
      case 'tuple':
        if (this.tuples === 'tuples') return tuple(...sent.items.map((item) => this.unpack(item) as library.Input))
    }
    const list: unknown[] = []
    this.done.set(sent, list)
    for (const item of sent.items) list.push(this.unpack(item))
    return list
  }
}

/** Whether there are tensors in a value, which take kernels to be made. */
export function holdsTensor(sent: Sent, seen = new Set<object>()): boolean {
  if (typeof sent !== 'object' || sent === null || seen.has(sent)) return false
  seen.add(sent)
  if (sent.kind === 'tensor') return true
  if (sent.kind === 'dict') return sent.entries.some((pair) => pair.some((one) => holdsTensor(one, seen)))
  return 'items' in sent && sent.items.some((item) => holdsTensor(item, seen))
}
