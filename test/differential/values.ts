import type { Input, Tensor } from '../../src/index.js'
import { typedData } from './archive.js'
import type { Library } from './library.js'
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
export function argumentsOf(library: Library, call: Call, earlier: readonly (readonly Tensor[])[]): Input[] {
  const { callOperator, float, int, Tensor, tuple } = library
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
export function tensorsIn(library: Library, value: unknown, found: Tensor[] = [], within = new Set<unknown>()): Tensor[] {
  if (value instanceof library.Tensor) found.push(value)
  else if (typeof value === 'object' && value !== null && !within.has(value)) {
    within.add(value)
    for (const item of itemsOf(value)) tensorsIn(library, item, found, within)
    within.delete(value)
  }
  return found
}

/** What a list, tuple, dict or object holds. */
function itemsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  if (value instanceof Map) return [...(value as Map<unknown, unknown>).values()]
  if ('slots' in value) return value.slots as unknown[]
  return 'items' in value ? (value.items as unknown[]) : []
}

/** Takes down what values are. Memory gets a number when it is first seen, by which tensors that share it can be told. */
export class Observer {
  private readonly memory = new Map<unknown, number>()

  constructor(private readonly library: Library) {}

  see(value: unknown): Seen {
    if (value instanceof this.library.Tensor) return this.tensor(value)
    if (value === null || value === undefined) return null
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string' || typeof value === 'boolean') return value
    if (Array.isArray(value)) return { list: (value as unknown[]).map((item) => this.see(item)) }
    if (value instanceof Map)
      return { dict: [...(value as Map<unknown, unknown>)].map(([key, item]) => [String(key), this.see(item)] as const) }
    if (typeof value === 'object' && 'slots' in value) {
      const { names, slots } = value as unknown as { readonly names: readonly string[]; readonly slots: readonly unknown[] }
      return { object: names.map((name, i) => [name, this.see(slots[i])] as const) }
    }
    if (typeof value === 'object' && 'items' in value) return this.see(value.items)
    if (typeof value === 'object' && 'value' in value) return value.value as number
    return String(value)
  }

  private tensor(t: Tensor): Seen {
    try {
      // what data() has of halves are their bits
      const elements = t.dtype.endsWith('float16') ? flat(t.toArray()) : t.data()
      const data = Array.from(elements as Iterable<number | bigint>, Number)
      const { storage } = t as unknown as { storage: unknown }
      let at = this.memory.get(storage)
      if (at === undefined) this.memory.set(storage, (at = this.memory.size))
      return { dtype: t.dtype, shape: [...t.shape], strides: [...t.strides], data, at }
    } catch (error) {
      if (error instanceof this.library.PtliteError && error.code === 'DISPOSED') return { gone: true }
      throw error
    }
  }
}

function flat(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]).flatMap(flat) : [value]
}
