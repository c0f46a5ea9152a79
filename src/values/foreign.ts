import { check, PtliteError } from '../../runtime/error.js'
import { isMap } from '../../runtime/intrinsics.js'
import { LAYOUT, type LentTensor, type LentValue, TENSOR, VALUE } from '../../runtime/tensor/public-tensor.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { DTypeName } from '../../runtime/tensor/dtype.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { Device, Tuple, type Value } from '../../runtime/tensor/value.js'

/**
 * A copy, of this copy of the library, of an object that is none of its own: a tensor or other value of another copy. undefined for anything
 * else, containers among it. Throws DISPOSED for a tensor that was disposed.
 */
export function adopted(object: object): Value | undefined {
  const tensor = adoptedTensor(object)
  if (tensor !== undefined) return tensor
  const value = lentBy<LentValue>(object, VALUE)
  return value === undefined ? undefined : valueOf(value)
}

/** The same of a tensor; undefined for anything else. */
export function adoptedTensor(object: object): Tensor | undefined {
  const lent = lentBy<LentTensor>(object, TENSOR)
  return lent === undefined ? undefined : tensorOf(lent, object as Tensor)
}

/** What is in a tuple of another copy of the library, or in a Map of another realm, and an own one to put it into. undefined for anything else. */
export function foreignContainer(object: object): { readonly items: readonly unknown[]; shell(): Value } | undefined {
  if (isMap(object)) return { items: [...object].flat(), shell: () => new Map() }
  const [kind, items, fields] = lentBy<LentValue>(object, VALUE) ?? []
  return kind === 'tuple' ? { items: items as unknown[], shell: () => new Tuple([], fields as string[] | undefined) } : undefined
}

function lentBy<T>(object: object, symbol: symbol): T | undefined {
  // this copy's own method, of an object that only looks like a tensor
  if (object instanceof Tensor) return undefined
  const method = (object as Record<symbol, unknown>)[symbol]
  if (typeof method !== 'function') return undefined
  const parts: unknown = method.call(object)
  check(Array.isArray(parts), () => `expected an object of another copy of ptlite, found ${kindOf(object)}`)
  return parts as T
}

/** Its elements are copied: memory is its owner's to give back. Throws INVALID_ARGUMENT where they do not fit what else it says. */
function tensorOf([layout, dtype, shape, strides, quant, elements]: LentTensor, theirs: Tensor): Tensor {
  if (layout === LAYOUT) return Tensor.fromStorage(elements, { dtype: dtype as DTypeName, shape, strides, quant: quant as Quant | null })
  // of an older version, or a newer one
  return Tensor.fromStorage(theirs.data(), { dtype: theirs.dtype, shape: theirs.shape, quant: theirs.quant })
}

function valueOf([kind, first, second]: LentValue): Value | undefined {
  switch (kind) {
    case 'float':
      return new Float(first as number)
    case 'complex':
      return new Complex(first as number, second as number)
    case 'tuple':
      return undefined
    case 'device':
      return new Device(first as string, second as number | null)
    default:
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `an object of ${String(first)} can be used with the copy of ptlite that it comes from, not with another`,
      )
  }
}

/** Error for an argument that an operator would write to, but is given a copy of. */
export function notWritten(operator: string, name: string, found: unknown): PtliteError {
  return new PtliteError(
    'INVALID_ARGUMENT',
    `${operator} writes to '${name}', which is of another copy of ptlite or another realm (${kindOf(found)}); give it one of this copy`,
  )
}
