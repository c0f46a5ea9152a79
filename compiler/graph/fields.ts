import { PtliteError } from '../../runtime/error.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Tuple } from '../../runtime/tensor/value.js'
import { type Arg, constant, NONE, value, type ValueId } from './argument.js'

/** One field of a compiled node: how it is seen as an argument, for all that treats fields alike. */
export interface Field<T> {
  readonly toArg: (field: T) => Arg
  /** Throws INVALID_ARGUMENT for an argument that is no such field. */
  readonly fromArg: (arg: Arg) => T
  /** Whether the text of a node says nothing of it, which stands for `none`. */
  readonly isNone: (field: T) => boolean
  readonly none?: T
}

function expected(what: string): never {
  throw new PtliteError('INVALID_ARGUMENT', `expected ${what}`)
}

function field<T>(toArg: (field: T) => Arg, fromArg: (arg: Arg) => T | undefined, what: string): Field<T> {
  return { toArg, fromArg: (arg) => fromArg(arg) ?? expected(what), isNone: () => false }
}

/** The field, left out of texts where it is `none`. */
export function optional<T>(of: Field<T>, none: T, isNone: (field: T) => boolean = (found) => found === none): Field<T> {
  return { ...of, none, isNone }
}

/** Null for None. */
export function nullable<T>(of: Field<T>): Field<T | null> {
  return {
    toArg: (found) => (found === null ? NONE : of.toArg(found)),
    fromArg: (arg) => (arg.kind === 'constant' && arg.value === null ? null : of.fromArg(arg)),
    isNone: (found) => found === null,
    none: null,
  }
}

const plain = (arg: Arg): unknown => (arg.kind === 'constant' ? arg.value : undefined)

export const VALUE: Field<ValueId> = field(value, (arg) => (arg.kind === 'value' ? arg.id : undefined), 'a value')
export const OPTIONAL_VALUE = nullable(VALUE)

export const VALUES: Field<readonly ValueId[]> = field(
  (ids) => ({ kind: 'list', items: ids.map(value) }),
  (arg) => (arg.kind === 'list' ? arg.items.map(VALUE.fromArg) : Array.isArray(plain(arg)) ? [] : undefined),
  'a list of values',
)

export const INT: Field<number> = field(
  constant,
  (arg) => (typeof plain(arg) === 'number' ? (plain(arg) as number) : undefined),
  'an integer',
)

export const INTS: Field<readonly number[]> = field(
  (list) => constant([...list]),
  (arg) => {
    const list = plain(arg)
    return Array.isArray(list) && list.every(Number.isInteger) ? (list as number[]) : undefined
  },
  'a list of integers',
)

const numberOf = (x: unknown): number => (x instanceof Float ? x.value : typeof x === 'number' ? x : expected('a number'))

export const FLOAT: Field<number> = field(
  (x) => constant(new Float(x)),
  (arg) => numberOf(plain(arg)),
  'a number',
)

export const FLOATS: Field<readonly number[]> = field(
  (list) => constant(list.map((x) => new Float(x))),
  (arg) => {
    const list = plain(arg)
    return Array.isArray(list) ? list.map(numberOf) : undefined
  },
  'a list of numbers',
)

export const FLAG: Field<boolean> = optional(
  field(
    constant,
    (arg) => {
      const found = plain(arg)
      return typeof found === 'boolean' ? found : undefined
    },
    'True or False',
  ),
  false,
)

/** One of some words. */
export function word<const W extends string>(...words: readonly W[]): Field<W> {
  return field<W>(
    constant,
    (arg) => words.find((one) => one === plain(arg)),
    `one of ${words.map((one) => JSON.stringify(one)).join(', ')}`,
  )
}

/** Bounds of a result. NaN passes through them. */
export interface Clamp {
  readonly min: number
  readonly max: number
}

export const NO_CLAMP: Clamp = { min: -Infinity, max: Infinity }

export const CLAMP: Field<Clamp> = optional(
  {
    toArg: ({ min, max }) => FLOATS.toArg([min, max]),
    fromArg: (arg) => {
      const [min, max, ...more] = FLOATS.fromArg(arg)
      return min !== undefined && max !== undefined && more.length === 0 ? { min, max } : expected('a smallest and a largest number')
    },
    isNone: () => false,
  },
  NO_CLAMP,
  ({ min, max }) => min === -Infinity && max === Infinity,
)

/**
 * Element-wise steps. Step i applies JitAlgorithm `ops[i]` to values 2i and 2i + 1 of `values`: inputs first, then results of earlier steps;
 * -1 and -2 are the numbers 2i and 2i + 1 of `numbers`.
 */
export interface Steps {
  readonly ops: readonly number[]
  readonly values: readonly number[]
  readonly numbers: readonly number[]
}

/** The items of a tuple of so many. */
export const partsOf = (arg: Arg, count: number, what: string): readonly Arg[] => {
  const found = plain(arg)
  const items = arg.kind === 'tuple' ? arg.items : found instanceof Tuple ? found.items.map(constant) : []
  return items.length === count ? items : expected(what)
}

export const tuple = (...items: readonly Arg[]): Arg => ({ kind: 'tuple', items, fields: undefined })

/** Steps on the result of a node, which is their value 0; then come `operands`. */
export interface PostOps extends Steps {
  readonly operands: readonly ValueId[]
}

export const POST_OPS: Field<PostOps | null> = nullable({
  toArg: ({ operands, ops, values, numbers }) => tuple(VALUES.toArg(operands), INTS.toArg(ops), INTS.toArg(values), FLOATS.toArg(numbers)),
  fromArg: (arg) => {
    const [operands, ops, values, numbers] = partsOf(arg, 4, 'operands, operations, values and numbers') as [Arg, Arg, Arg, Arg]
    return {
      operands: VALUES.fromArg(operands),
      ops: INTS.fromArg(ops),
      values: INTS.fromArg(values),
      numbers: FLOATS.fromArg(numbers),
    }
  },
  isNone: () => false,
})

/** Filter and bias of a layer in a row of them, with its bounds and the gate behind them. */
export interface Layer {
  readonly filter: ValueId
  readonly bias: ValueId | null
  readonly clamp: Clamp
  /** Gate of the kernels. */
  readonly gate: number
}

export const LAYER: Field<Layer> = {
  toArg: ({ filter, bias, clamp, gate }) => tuple(value(filter), OPTIONAL_VALUE.toArg(bias), CLAMP.toArg(clamp), INT.toArg(gate)),
  fromArg: (arg) => {
    const [filter, bias, clamp, gate] = partsOf(arg, 4, 'a filter, a bias, bounds and a gate') as [Arg, Arg, Arg, Arg]
    return { filter: VALUE.fromArg(filter), bias: OPTIONAL_VALUE.fromArg(bias), clamp: CLAMP.fromArg(clamp), gate: INT.fromArg(gate) }
  },
  isNone: () => false,
}
export const OPTIONAL_LAYER = nullable(LAYER)
