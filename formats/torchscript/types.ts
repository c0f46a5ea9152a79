import { pace } from '../../runtime/pace.js'

/* Types of TorchScript, as code annotates them and as schemas of operators have them. */

export type TypeKind =
  | 'plain' // Tensor, int, float, bool, complex, number, str, NoneType, Device, Generator, Any and other names without parts
  | 'List'
  | 'Dict'
  | 'Tuple'
  | 'NamedTuple'
  | 'Optional'
  | 'Union'
  | 'Future'
  | 'class'
  | 'interface'
  | 'enum'
  | 'custom' // a class of PyTorch's C++
  | 'variable' // of an operator's schema: `t`
  | 'unknown' // of what an operator gives that this build lacks

export interface Type {
  readonly kind: TypeKind
  /** As TorchScript prints it; of classes the qualified name. Types of one text are the same. */
  readonly text: string
  /** Elements of a list, key and value of a dict, elements of a tuple, members of a union. */
  readonly args: readonly Type[]
  /** Names of a NamedTuple's elements. */
  readonly fields?: readonly string[]
  /** Types in types below it. */
  readonly levels: number
  /** Whether a variable of a schema is in it. */
  readonly isOpen: boolean
}

/** Types in types, and characters that all of a type takes: more than anybody writes. */
const MAX_LEVELS = 40
const MAX_CHARACTERS = 1 << 16

function typeOf(kind: TypeKind, text: string, args: readonly Type[] = []): Type {
  const levels = args.reduce((most, arg) => Math.max(most, 1 + arg.levels), 0)
  return { kind, text, args, levels, isOpen: kind === 'variable' || args.some((arg) => arg.isOpen) }
}

/** Whether somebody may have written a type of so many characters. */
export function isTooLong(characters: number): boolean {
  return characters > MAX_CHARACTERS
}

/** Whether a type has more parts than any that somebody wrote. */
export function isTooLarge({ text, levels }: Type): boolean {
  return levels > MAX_LEVELS || isTooLong(text.length)
}

const plain = new Map<string, Type>()

/** A type that is a name. */
export function plainType(name: string): Type {
  let found = plain.get(name)
  if (found === undefined) plain.set(name, (found = typeOf('plain', name)))
  return found
}

export const TENSOR = plainType('Tensor')
export const INT = plainType('int')
export const FLOAT = plainType('float')
export const BOOL = plainType('bool')
export const COMPLEX = plainType('complex')
export const NUMBER = plainType('number')
export const STR = plainType('str')
export const NONE = plainType('NoneType')
export const DEVICE = plainType('Device')
export const ANY = plainType('Any')
export const UNKNOWN: Type = typeOf('unknown', 'unknown')

/** No more of it than shows that the whole is too large. */
function join(types: readonly Type[]): string {
  pace(types.length)
  const parts: string[] = []
  let length = 0
  for (const { text } of types) {
    parts.push(text)
    if ((length += text.length) > MAX_CHARACTERS) break
  }
  return parts.join(', ')
}

export function listOf(element: Type): Type {
  return typeOf('List', `List[${element.text}]`, [element])
}

export function dictOf(key: Type, value: Type): Type {
  return typeOf('Dict', `Dict[${key.text}, ${value.text}]`, [key, value])
}

export function tupleOfTypes(items: readonly Type[]): Type {
  return typeOf('Tuple', items.length === 0 ? 'Tuple[()]' : `Tuple[${join(items)}]`, items)
}

export function futureOf(type: Type): Type {
  return typeOf('Future', `Future[${type.text}]`, [type])
}

export function optionalOf(type: Type): Type {
  if (type.kind === 'Optional' || same(type, NONE) || same(type, ANY)) return type
  return typeOf('Optional', `Optional[${type.text}]`, [type])
}

/** With None among them, and one more type, it is an Optional. */
export function unionOf(members: readonly Type[]): Type {
  const flat = members.flatMap((m) => (m.kind === 'Union' ? m.args : m.kind === 'Optional' ? [m.args[0]!, NONE] : [m]))
  const distinct = [...new Map(flat.map((m) => [`${m.kind} ${m.text}`, m])).values()]
  const others = distinct.filter((m) => !same(m, NONE))
  if (others.length <= 1 && others.length < distinct.length) return optionalOf(others[0] ?? NONE)
  return distinct.length === 1 ? distinct[0]! : typeOf('Union', `Union[${join(distinct)}]`, distinct)
}

/** A class, interface or enum of the file, or a class of C++. */
export function namedType(kind: 'class' | 'interface' | 'enum' | 'custom', name: string): Type {
  return typeOf(kind, name)
}

export function namedTupleType(name: string, fields: readonly string[], items: readonly Type[]): Type {
  return { ...typeOf('NamedTuple', name, items), fields }
}

export function variableType(name: string): Type {
  return typeOf('variable', name)
}

export function same(a: Type, b: Type): boolean {
  return a === b || (a.text === b.text && a.kind === b.kind)
}

export function isTuple(type: Type): boolean {
  return type.kind === 'Tuple' || type.kind === 'NamedTuple'
}

/** What is in an Optional; other types as they are. */
export function withoutNone(type: Type): Type {
  return type.kind === 'Optional' ? type.args[0]! : type
}

const GENERIC: Readonly<Record<string, readonly TypeKind[]>> = {
  list: ['List'],
  AnyListType: ['List'],
  tuple: ['Tuple', 'NamedTuple'],
  AnyTupleType: ['Tuple', 'NamedTuple'],
  AnyEnumType: ['enum'],
  AnyClassType: ['class'],
}

/** Whether every value of type `a` is one of `b`. Lists and dicts are of one type only. */
export function isSubtype(a: Type, b: Type): boolean {
  pace(8)
  if (same(a, b) || b === ANY || a.kind === 'unknown' || b.kind === 'unknown') return true
  if (a.kind === 'Optional') return isSubtype(NONE, b) && isSubtype(a.args[0]!, b)
  if (a.kind === 'Union') return a.args.every((member) => isSubtype(member, b))
  switch (b.kind) {
    case 'Optional':
      return same(a, NONE) || isSubtype(a, b.args[0]!)
    case 'Union':
      return b.args.some((member) => isSubtype(a, member))
    case 'Tuple':
      return isTuple(a) && a.args.length === b.args.length && subtypes.of(a, b)
    case 'List':
    case 'Dict':
    case 'Future':
      return (
        a.kind === b.kind && a.args.every((item, i) => same(item, b.args[i]!) || item.kind === 'unknown' || b.args[i]!.kind === 'unknown')
      )
    case 'interface':
      // exporting has checked what a class has; a call finds the method by its name
      return a.kind === 'class' || a.kind === 'interface'
    case 'plain':
      if (b === NUMBER) return a === INT || a === FLOAT || a === COMPLEX
      return GENERIC[b.text]?.includes(a.kind) ?? false
    default:
      return false
  }
}

/** The same of pairs of types. */
class OnceForPairs<T> {
  private readonly known = new WeakMap<Type, WeakMap<Type, { readonly value: T }>>()

  constructor(private readonly compute: (a: Type, b: Type) => T) {}

  of(a: Type, b: Type): T {
    let row = this.known.get(a)
    if (row === undefined) this.known.set(a, (row = new WeakMap()))
    let found = row.get(b)
    if (found === undefined) row.set(b, (found = { value: this.compute(a, b) }))
    return found.value
  }
}

/** Of tuples of as many elements. */
const subtypes = new OnceForPairs((a, b) => a.args.every((item, i) => isSubtype(item, b.args[i]!)))
const unified = new OnceForPairs((a, b) => {
  const items = a.args.map((item, i) => unify(item, b.args[i]!))
  return items.every((item) => item !== undefined) ? tupleOfTypes(items) : undefined
})

/** A property of types that is computed once for each: those that are made of a few others, again and again, have a great many parts. */
export function onceForEach<T>(compute: (type: Type) => T): (type: Type) => T {
  const known = new WeakMap<Type, { readonly value: T }>()
  return (type) => {
    let found = known.get(type)
    if (found === undefined) known.set(type, (found = { value: compute(type) }))
    return found.value
  }
}

/** The narrowest type that both are of; undefined where there is none. */
export function unify(a: Type, b: Type): Type | undefined {
  pace(8)
  if (a.kind === 'unknown') return b
  if (isSubtype(a, b)) return b
  if (isSubtype(b, a)) return a
  if (same(a, NONE)) return optionalOf(b)
  if (same(b, NONE)) return optionalOf(a)
  if (a.kind === 'Optional' || b.kind === 'Optional') {
    const inner = unify(withoutNone(a), withoutNone(b))
    return inner === undefined ? undefined : optionalOf(inner)
  }
  return isTuple(a) && isTuple(b) && a.args.length === b.args.length ? unified.of(a, b) : undefined
}
