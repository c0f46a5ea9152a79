import { PtliteError } from '../runtime/error.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Input } from '../src/values/convert.js'
import { numbers } from './numbers.js'
import { fixedSize, type Slot } from './roles.js'

/** A call of a language model: tokens, and what they follow. */
export interface Step {
  readonly tokens: readonly number[]
  /** Tokens before these, which the cache has. */
  readonly start: number
  /** As many tokens as the program takes; those behind `tokens` are filled up. */
  readonly width: number
  /** What the `past` slots are given, in their order. */
  readonly past: readonly Input[]
  readonly states?: Input
  readonly statesMask?: Input
  /** By name. */
  readonly given: ReadonlyMap<string, Input>
}

/** The arguments of a call, with values that are in structures in these: lists by numbers, dicts by names. */
export function argumentsOf(slots: readonly Slot[], step: Step): Input[] {
  return argumentsWith(slots, step.past, (slot) => valueOf(slot, step))
}

/** The same, with what is no past as `valueOf` has it. */
export function argumentsWith(slots: readonly Slot[], past: readonly Input[], valueOf: (slot: Slot) => Input): Input[] {
  const found = new Map<string, Nested>()
  let next = 0
  for (const slot of slots) {
    const value = slot.role === 'past' ? (past[next++] ?? null) : valueOf(slot)
    put(found, [slot.argument, ...slot.path], value)
  }
  return [...found.values()].map(plain)
}

type Nested = Branch | { readonly value: Input }
class Branch {
  readonly entries = new Map<number | string, Nested>()
}

function put(at: Map<number | string, Nested>, [first, ...rest]: readonly (number | string)[], value: Input): void {
  if (rest.length === 0) {
    at.set(first!, { value })
    return
  }
  let inner = at.get(first!)
  if (!(inner instanceof Branch)) at.set(first!, (inner = new Branch()))
  put((inner as Branch).entries, rest, value)
}

function plain(nested: Nested): Input {
  if (!(nested instanceof Branch)) return nested.value
  const entries = [...nested.entries]
  return entries.every(([key]) => typeof key === 'number')
    ? entries.map(([, value]) => plain(value))
    : new Map(entries.map(([key, value]) => [key, plain(value)]))
}

function valueOf(slot: Slot, step: Step): Input {
  const { info, role } = slot
  switch (role) {
    case 'tokens':
      return tokensOf(slot, step)
    case 'place':
      return placeOf(slot, step)
    case 'positions':
      return shaped(slot, countFrom(step.start, step.width))
    case 'mask':
      return maskOf(slot, step)
    case 'states':
      return step.states ?? missing(slot)
    case 'statesMask':
      return step.statesMask ?? (info.type.startsWith('Optional') ? null : missing(slot))
    case 'constant':
      return info.constant as Input
    default:
      return step.given.get(slot.argument) ?? (info.type.startsWith('Optional') ? null : missing(slot))
  }
}

function missing({ info }: Slot): never {
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `generate(): the model takes ${info.name}: ${info.type}, too; give it by its name: { input_ids, ${/^[^[.]*/.exec(info.name)![0]} }`,
  )
}

const countFrom = (start: number, count: number): number[] => Array.from({ length: count }, (_, i) => start + i)

/** Numbers in the dtype of a slot: one row, or as its rank has it. */
function shaped({ info }: Slot, values: readonly number[], rows = 2): Tensor {
  const rank = info.shape?.length ?? rows
  const shape = rank === 0 ? [] : [...Array<number>(rank - 1).fill(1), values.length]
  return numbers(values, shape, info.dtype ?? 'int64')
}

function tokensOf(slot: Slot, { tokens, width }: Step): Tensor {
  return shaped(slot, [...tokens, ...Array<number>(width - tokens.length).fill(0)])
}

/** Where the tokens go: their places, or that of the first one where the program has room for one alone. */
function placeOf(slot: Slot, { start, width }: Step): Input {
  const { type, shape } = slot.info
  if (type === 'int' || type === 'Scalar') return start
  const single = shape !== undefined && (shape.length === 0 || fixedSize(shape.at(-1)) === 1)
  return shaped(slot, single ? [start] : countFrom(start, width), 1)
}

/** 1 for tokens that there are, and, where it has a row for each token, only for those before it. */
function maskOf(slot: Slot, { tokens, start, width }: Step): Tensor {
  const { shape, dtype = 'int64' } = slot.info
  const total = start + tokens.length
  const length = fixedSize(shape?.at(-1)) ?? start + width
  const rank = shape?.length ?? 2
  if (rank <= 2)
    return shaped(
      slot,
      Array.from({ length }, (_, i) => (i < total ? 1 : 0)),
    )
  // an additive mask of floating-point numbers has 0 for what is seen
  const [seen, hidden] = dtype.startsWith('float') ? [0, -3.4028234663852886e38] : [1, 0]
  const rows = Array.from({ length: width }, (_, row) => Array.from({ length }, (_, i) => (i <= start + row ? seen : hidden)))
  return numbers(rows.flat(), [...Array<number>(rank - 2).fill(1), width, length], dtype)
}
