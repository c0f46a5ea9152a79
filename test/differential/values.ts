import { callOperator, float, type Input, int, type Output, PtliteError, Tensor, tuple } from '../../src/index.js'
import { Complex } from '../../runtime/tensor/scalar.js'
import { ScriptObject } from '../../runtime/tensor/value.js'
import { typedData } from './archive.js'
import type { Call, Spec } from './program.js'

/** What is seen of a value: plain data. */
export type Seen =
  | null
  | boolean
  | number
  | bigint
  | string
  | {
      readonly dtype: string
      readonly shape: readonly number[]
      readonly strides: readonly number[]
      readonly data: readonly number[]
      readonly at: number
    }
  | { readonly list: readonly Seen[] }
  | { readonly dict: readonly (readonly [key: string, value: Seen])[] }
  | { readonly object: readonly (readonly [name: string, value: Seen])[] }
  | { readonly gone: true }

/** The arguments of a call. `earlier` are the tensors of the results so far. */
export function argumentsOf(call: Call, earlier: readonly (readonly Tensor[])[]): Input[] {
  const bases = call.storages.map((storage) => {
    const data = typedData(storage)
    return Tensor.fromStorage(data, { dtype: storage.dtype, shape: [data.length] })
  })
  const made = new Map<number, Input>()
  const build = (spec: Spec): Input => {
    if (spec === null || typeof spec === 'boolean') return spec
    if ('int' in spec) return int(spec.int)
    if ('float' in spec) return float(spec.float)
    if ('same' in spec) return made.get(spec.same)!
    if ('tuple' in spec) return tuple(...spec.tuple.map(build))
    if ('earlier' in spec) {
      const tensors = earlier[spec.earlier] ?? []
      return tensors[spec.tensor % Math.max(tensors.length, 1)] ?? Tensor.fromStorage(new Float32Array(4), { dtype: 'float32', shape: [4] })
    }
    let value: Input
    if ('storage' in spec) {
      value = callOperator('aten::as_strided', [
        bases[spec.storage]!,
        [...spec.shape].map(int),
        [...spec.strides].map(int),
        int(spec.offset),
      ]) as Tensor
    } else if ('list' in spec) value = spec.list.map(build)
    else if ('dict' in spec) value = new Map(spec.dict.map(([key, item]) => [key, build(item)]))
    else throw new Error('an object is no argument')
    if (spec.id !== undefined) made.set(spec.id, value)
    return value
  }
  return call.args.map(build)
}

/** Tensors in a value, each as often as it is there. */
export function tensorsIn(value: unknown, found: Tensor[] = [], within = new Set<unknown>()): Tensor[] {
  if (value instanceof Tensor) found.push(value)
  else if (typeof value === 'object' && value !== null && !within.has(value)) {
    within.add(value)
    const items = Array.isArray(value)
      ? (value as unknown[])
      : value instanceof Map
        ? [...(value as Map<unknown, unknown>).values()]
        : value instanceof ScriptObject
          ? value.slots
          : 'items' in value && Array.isArray(value.items)
            ? (value.items as unknown[])
            : []
    for (const item of items) tensorsIn(item, found, within)
    within.delete(value)
  }
  return found
}

/** Takes down what a value is. Tensors and containers get numbers by which those that are the same, or share memory, can be told. */
export class Observer {
  private readonly memory = new Map<unknown, number>()

  see(value: unknown): Seen {
    if (value instanceof Tensor) return this.tensor(value)
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string' || typeof value === 'boolean') return value
    if (value === null || value === undefined) return null
    if (Array.isArray(value)) return { list: (value as unknown[]).map((item) => this.see(item)) }
    if (value instanceof Map)
      return { dict: [...(value as Map<unknown, unknown>)].map(([key, item]) => [String(key), this.see(item)] as const) }
    if (value instanceof ScriptObject) return { object: value.names.map((name, i) => [name, this.see(value.slots[i])] as const) }
    if (value instanceof Complex) return `${value.re} ${value.im}`
    if (typeof value === 'object' && 'items' in value) return this.see(value.items)
    if (typeof value === 'object' && 'value' in value) return value.value as number
    return String(value)
  }

  private tensor(t: Tensor): Seen {
    try {
      const data = Array.from(t.data() as Iterable<number | bigint>, Number)
      const { storage } = t as unknown as { storage: unknown }
      let at = this.memory.get(storage)
      if (at === undefined) this.memory.set(storage, (at = this.memory.size))
      return { dtype: t.dtype, shape: [...t.shape], strides: [...t.strides], data, at }
    } catch (error) {
      if (error instanceof PtliteError && error.code === 'DISPOSED') return { gone: true }
      throw error
    }
  }
}

export type { Output }
