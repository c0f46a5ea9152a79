/**
 * How the size of a tensor goes by the call: that of the first argument, a row of it, a single number, or whatever it is. Values of the first three can be
 * combined without an error, whatever the sizes of a call are.
 */
export type Extent = 'x' | 'row' | 'scalar' | 'any'

/** The type of a value in a program. */
export type Type =
  | { readonly kind: 'Tensor'; readonly extent: Extent }
  | { readonly kind: 'int' | 'float' | 'bool' }
  | { readonly kind: 'List' | 'Optional' | 'Dict'; readonly of: Type }
  | { readonly kind: 'Tuple'; readonly items: readonly Type[] }
  | { readonly kind: 'NamedTuple'; readonly name: string; readonly fields: readonly (readonly [name: string, type: Type])[] }

export const INT: Type = { kind: 'int' }
export const FLOAT: Type = { kind: 'float' }
export const BOOL: Type = { kind: 'bool' }
export const X = { kind: 'Tensor', extent: 'x' } as const
export const ROW = { kind: 'Tensor', extent: 'row' } as const
export const SCALAR = { kind: 'Tensor', extent: 'scalar' } as const
export const ANY = { kind: 'Tensor', extent: 'any' } as const

export const listOf = (of: Type): Type => ({ kind: 'List', of })
/** Keys are texts. */
export const dictOf = (of: Type): Type => ({ kind: 'Dict', of })
export const optional = (of: Type): Type => ({ kind: 'Optional', of })
export const tupleOf = (...items: readonly Type[]): Type => ({ kind: 'Tuple', items })

/** As TorchScript writes it. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'List':
    case 'Optional':
      return `${type.kind}[${typeText(type.of)}]`
    case 'Dict':
      return `Dict[str, ${typeText(type.of)}]`
    case 'Tuple':
      return `Tuple[${type.items.map(typeText).join(', ')}]`
    case 'NamedTuple':
      return `__torch__.${type.name}`
    default:
      return type.kind
  }
}

/** Whether a value of type `found` can stand for one of `wanted`. */
export function fits(found: Type, wanted: Type): boolean {
  if (found.kind !== wanted.kind) return false
  switch (found.kind) {
    case 'Tensor':
      return (wanted as typeof found).extent === 'any' || found.extent === (wanted as typeof found).extent
    case 'List':
    case 'Dict':
    case 'Optional':
      return fits(found.of, (wanted as typeof found).of)
    case 'Tuple': {
      const { items } = wanted as typeof found
      return items.length === found.items.length && items.every((item, i) => fits(found.items[i]!, item))
    }
    case 'NamedTuple':
      return found.name === (wanted as typeof found).name
    default:
      return true
  }
}
