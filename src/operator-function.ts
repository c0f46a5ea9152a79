import type { DTypeName } from '../runtime/tensor/dtype.js'
import type { Complex } from '../runtime/tensor/scalar.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Input, Output } from './values/convert.js'

/** What values of a type of a schema are in TypeScript; `Output`, any of them, for types that this does not take apart. */
interface BaseTypes {
  readonly Tensor: Tensor
  readonly int: number
  readonly SymInt: number
  readonly float: number
  readonly bool: boolean
  readonly str: string
  readonly Scalar: number | bigint | Complex
  readonly ScalarType: DTypeName
  readonly Device: string
}

type ValueOf<Type extends string> = Type extends `${infer Name}(${string})${infer Rest}`
  ? ValueOf<`${Name}${Rest}`>
  : Type extends `${infer Inner}?`
    ? ValueOf<Inner> | null
    : Type extends `${infer Inner}[]` | `${infer Inner}[${number}]`
      ? ValueOf<Inner>[]
      : Type extends keyof BaseTypes
        ? BaseTypes[Type]
        : Output

/** Types of arguments as a schema writes them, `Tensor x, int n=1`; null for those that this does not take apart. */
type Listed<Text extends string, Found extends readonly unknown[]> = Text extends `${infer First}, ${infer Rest}`
  ? WithOne<First, Found> extends infer Next extends readonly unknown[]
    ? Listed<Rest, Next>
    : null
  : WithOne<Text, Found>

type WithOne<Text extends string, Found extends readonly unknown[]> = Text extends '*'
  ? Found
  : Text extends `${infer Type} ${string}`
    ? [...Found, ValueOf<Type>]
    : null

/** The arguments of an operator by its schema. */
type ArgumentsOf<Schema extends string> = Schema extends `${string}(${infer Text}) -> ${string}`
  ? Text extends ''
    ? []
    : Listed<Text, []> extends infer Found extends readonly unknown[]
      ? Found
      : Output[]
  : Output[]

/**
 * A function that serves an operator. Parameters that say no type have those of the schema: `Tensor`, `number`, `null` for None and so on; others are
 * not checked against it.
 */
export type OperatorFunction<Schema extends string = string> = {
  // a method, so that parameters may be of narrower types than what cannot be told from the schema
  call(...args: ArgumentsOf<Schema>): Input | void
}['call']
