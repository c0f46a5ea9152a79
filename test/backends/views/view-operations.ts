import { callOperator, int, type Input, type Tensor } from '../../../src/index.js'
import { build, count, type Model, type Random } from './index-model.js'

const INT64_MAX = int(2n ** 63n - 1n)

export interface Step {
  readonly text: string
  readonly tensor: Tensor
  readonly model: Model
}

function call(op: string, ...args: Input[]): Tensor {
  return callOperator(`aten::${op}`, args) as Tensor
}

const replaced = <T>(list: readonly T[], at: number, ...items: T[]): T[] => [...list.slice(0, at), ...items, ...list.slice(at + 1)]
const dims = (shape: readonly number[]): number[] => shape.map((_, d) => d)

/** One random view operation that is valid for the tensor, or null where the drawn one is not. */
type Operation = (tensor: Tensor, model: Model, random: Random) => Step | null

const permute: Operation = (t, m, random) => {
  const order = random.shuffled(dims(m.shape))
  const negative = order.map((d) => (random.below(2) === 0 ? d : d - m.shape.length))
  const shape = order.map((d) => m.shape[d]!)
  return {
    text: `permute(${order.join()})`,
    tensor: call('permute', t, negative),
    model: build(m, shape, (index) => dims(m.shape).map((d) => index[order.indexOf(d)]!)),
  }
}

const transpose: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const [a, b] = [random.below(m.shape.length), random.below(m.shape.length)]
  const swap = <T>(list: readonly T[]): T[] => list.map((x, d) => (d === a ? list[b]! : d === b ? list[a]! : x))
  return { text: `transpose(${a},${b})`, tensor: call('transpose.int', t, a, b - m.shape.length), model: build(m, swap(m.shape), swap) }
}

const slice: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const d = random.below(m.shape.length)
  const size = m.shape[d]!
  const [start, end, step] = [random.below(2 * size + 3) - size - 1, random.below(2 * size + 3) - size - 1, 1 + random.below(3)]
  const open = random.below(3) === 0
  const clamp = (i: number): number => Math.min(Math.max(i < 0 ? i + size : i, 0), size)
  const from = clamp(start)
  const to = open ? size : Math.max(clamp(end), from)
  const length = Math.max(Math.ceil((to - from) / step), 0)
  return {
    text: `slice(${d},${start},${open ? 'MAX' : end},${step})`,
    tensor: call('slice.Tensor', t, d, start, open ? INT64_MAX : end, step),
    model: build(m, replaced(m.shape, d, length), (index) => replaced(index, d, from + index[d]! * step)),
  }
}

const select: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const d = random.below(m.shape.length)
  const size = m.shape[d]!
  if (size === 0) return null
  const i = random.below(size)
  return {
    text: `select(${d},${i})`,
    tensor: call('select.int', t, d, random.below(2) === 0 ? i : i - size),
    model: build(m, replaced(m.shape, d), (index) => [...index.slice(0, d), i, ...index.slice(d)]),
  }
}

const narrow: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const d = random.below(m.shape.length)
  const start = random.below(m.shape[d]! + 1)
  const length = random.below(m.shape[d]! - start + 1)
  return {
    text: `narrow(${d},${start},${length})`,
    tensor: call('narrow', t, d, start, length),
    model: build(m, replaced(m.shape, d, length), (index) => replaced(index, d, start + index[d]!)),
  }
}

const unsqueeze: Operation = (t, m, random) => {
  const d = random.below(m.shape.length + 1)
  const shape = [...m.shape.slice(0, d), 1, ...m.shape.slice(d)]
  return { text: `unsqueeze(${d})`, tensor: call('unsqueeze', t, d), model: build(m, shape, (index) => replaced(index, d)) }
}

const squeeze: Operation = (t, m) => {
  const kept = dims(m.shape).filter((d) => m.shape[d] !== 1)
  const shape = kept.map((d) => m.shape[d]!)
  return {
    text: 'squeeze()',
    tensor: call('squeeze', t),
    model: build(m, shape, (index) => dims(m.shape).map((d) => index[kept.indexOf(d)] ?? 0)),
  }
}

const expand: Operation = (t, m, random) => {
  const added = random.below(2)
  const sizes = m.shape.map((size) => (size === 1 ? 1 + random.below(3) : size))
  const lead = Array.from({ length: added }, () => 1 + random.below(2))
  const source = (index: readonly number[]): number[] => index.slice(added).map((i, d) => (m.shape[d] === 1 ? 0 : i))
  const given = sizes.map((size, d) => (size === m.shape[d] && random.below(2) === 0 ? -1 : size))
  return {
    text: `expand(${[...lead, ...given].join()})`,
    tensor: call('expand', t, [...lead, ...given]),
    model: build(m, [...lead, ...sizes], source),
  }
}

const unfold: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const d = random.below(m.shape.length)
  const size = random.below(m.shape[d]! + 1)
  const step = 1 + random.below(2)
  const windows = Math.floor((m.shape[d]! - size) / step) + 1
  const source = (index: readonly number[]): number[] => replaced(index.slice(0, -1), d, index[d]! * step + index.at(-1)!)
  return {
    text: `unfold(${d},${size},${step})`,
    tensor: call('unfold', t, d, size, step),
    model: build(m, [...replaced(m.shape, d, windows), size], source),
  }
}

const diagonal: Operation = (t, m, random) => {
  if (m.shape.length < 2) return null
  const [a, b] = random.shuffled(dims(m.shape)) as [number, number]
  const offset = random.below(5) - 2
  const length = Math.max(Math.min(m.shape[a]! + Math.min(offset, 0), m.shape[b]! - Math.max(offset, 0)), 0)
  const rest = dims(m.shape).filter((d) => d !== a && d !== b)
  const source = (index: readonly number[]): number[] =>
    dims(m.shape).map((d) =>
      d === a ? index.at(-1)! - Math.min(offset, 0) : d === b ? index.at(-1)! + Math.max(offset, 0) : index[rest.indexOf(d)]!,
    )
  return {
    text: `diagonal(${offset},${a},${b})`,
    tensor: call('diagonal', t, offset, a, b),
    model: build(m, [...rest.map((d) => m.shape[d]!), length], source),
  }
}

const chunk: Operation = (t, m, random) => {
  if (m.shape.length === 0) return null
  const d = random.below(m.shape.length)
  const size = m.shape[d]!
  if (size === 0) return null
  const chunks = 1 + random.below(4)
  const parts = callOperator('aten::chunk', [t, chunks, d]) as Tensor[]
  const length = Math.ceil(size / chunks)
  const i = random.below(parts.length)
  const own = Math.min(length, size - i * length)
  return {
    text: `chunk(${chunks},${d})[${i}]`,
    tensor: parts[i]!,
    model: build(m, replaced(m.shape, d, own), (index) => replaced(index, d, i * length + index[d]!)),
  }
}

const reshape: Operation = (t, m, random) => {
  const sizes: number[] = []
  let rest = count(m.shape)
  if (rest === 0) return null
  while (rest > 1) {
    const factor = random.pick(Array.from({ length: rest }, (_, i) => i + 1).filter((n) => rest % n === 0))
    sizes.push(factor)
    rest /= factor
  }
  const unknown = sizes.length > 0 && random.below(2) === 0 ? random.below(sizes.length) : -1
  return {
    text: `reshape(${sizes.join()})`,
    tensor: call(
      'reshape',
      t,
      sizes.map((n, d) => (d === unknown ? -1 : n)),
    ),
    model: { shape: sizes, places: m.places },
  }
}

/** Operations that never copy. */
export const VIEWS: readonly Operation[] = [permute, transpose, slice, select, narrow, unsqueeze, squeeze, expand, unfold, diagonal, chunk]
/** `reshape` copies where it has to. */
export const RESHAPES: readonly Operation[] = [reshape]
