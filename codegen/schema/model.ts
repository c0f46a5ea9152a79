/**
 * Alias annotation of a type: `(a)`, `(a!)`, `(a -> *)`, `(b|a)`, `(*)`. `*` stands for "anything".
 */
export interface AliasInfo {
  /** Alias sets the value belongs to before the call. */
  readonly before: readonly string[]
  /** True where the operator writes into the value. */
  readonly write: boolean
  /** Alias sets after the call, where the annotation has an arrow. */
  readonly after: readonly string[] | null
}

interface Annotated {
  readonly alias: AliasInfo | null
}

/** A named type: `Tensor`, `int`, a type variable such as `t`, or a class `__torch__.torch.classes.ns.Name`. */
export interface BaseType extends Annotated {
  readonly kind: 'base'
  readonly name: string
}

export interface OptionalType extends Annotated {
  readonly kind: 'optional'
  readonly inner: SchemaType
}

/** `T[]`, or `T[n]` where `size` is given: then a single `T` is accepted for n equal ones. */
export interface ListType extends Annotated {
  readonly kind: 'list'
  readonly inner: SchemaType
  readonly size: number | null
}

/** `Dict(K, V)`, `Future(T)`, `RRef(T)`. */
export interface GenericType extends Annotated {
  readonly kind: 'generic'
  readonly name: string
  readonly parameters: readonly SchemaType[]
}

export interface TupleType extends Annotated {
  readonly kind: 'tuple'
  readonly items: readonly SchemaType[]
}

export type SchemaType = BaseType | OptionalType | ListType | GenericType | TupleType

/** A default as written. `symbol` is an enumerator: `Mean`, `long`, `contiguous_format`. */
export type DefaultValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly text: string }
  | { readonly kind: 'float'; readonly text: string }
  | { readonly kind: 'str'; readonly value: string; readonly quote: '"' | "'" }
  | { readonly kind: 'list'; readonly items: readonly DefaultValue[] }
  | { readonly kind: 'symbol'; readonly name: string }

export interface Argument {
  readonly name: string
  readonly type: SchemaType
  readonly defaultValue: DefaultValue | null
  readonly kwargOnly: boolean
}

export interface Return {
  readonly name: string | null
  readonly type: SchemaType
}

/** The schema of one operator overload. */
export interface FunctionSchema {
  /** As written; null where the text names none (it is `aten` then). */
  readonly namespace: string | null
  readonly name: string
  /** Empty for the default overload. */
  readonly overload: string
  readonly arguments: readonly Argument[]
  /** The arguments end in `...`: any number of further values. */
  readonly isVararg: boolean
  readonly returns: readonly Return[]
  /** Returns `...`: the operator decides how many. */
  readonly isVarret: boolean
}

/** Qualified name: `aten::add.Tensor`. */
export function qualifiedName(schema: FunctionSchema): string {
  return `${schema.namespace ?? 'aten'}::${schema.name}${schema.overload === '' ? '' : `.${schema.overload}`}`
}

/** The alias annotation anywhere in a type: `Tensor(a!)[]` and `Tensor[](a!)` alike. */
export function aliasOf(type: SchemaType): AliasInfo | null {
  if (type.alias !== null) return type.alias
  return type.kind === 'optional' || type.kind === 'list' ? aliasOf(type.inner) : null
}

/** True for arguments that the operator writes into. */
export function isWritten(type: SchemaType): boolean {
  return aliasOf(type)?.write ?? false
}

/** An `out=` argument: keyword-only and written. */
export function isOutArgument(argument: Argument): boolean {
  return argument.kwargOnly && isWritten(argument.type)
}
