import { Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'

/**
 * A number that arguments of the same form have in common: dtypes, shapes and strides of tensors, and what else they hold. It costs
 * little, so that it can be had for arguments that never come again.
 */
export function signatureHash(args: readonly Value[]): number {
  let hash = args.length
  for (const arg of args) hash = mix(hash, arg, MAX_LEVELS)
  return hash
}

/** As `signatureHash`, for values of which ints may be others. */
export function formHash(values: readonly Value[]): number {
  return signatureHash(values.map((value) => (typeof value === 'number' ? 0 : value)))
}

const combine = (hash: number, n: number): number => Math.imul(hash ^ n, 0x9e3779b1) ^ (hash >>> 15)

/** Only so many levels of lists count: what is shared is come to each time anew. */
const MAX_LEVELS = 3

function mix(hash: number, value: Value, levels: number): number {
  if (value instanceof Tensor) {
    let h = combine(hash, 0x100 + value.type)
    for (let d = 0; d < value.shape.length; d++) h = combine(combine(h, value.shape[d]!), value.strides[d]!)
    return combine(h, value.offset)
  }
  if (typeof value === 'number') return combine(hash, value)
  if (typeof value === 'string') return combine(combine(hash, value.length), value.charCodeAt(0) | 0)
  if (typeof value === 'bigint') return combine(hash, Number(BigInt.asIntN(32, value)))
  if (value instanceof Float) return combine(hash, value.value * 1e6)
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : value instanceof Map ? [...value.values()] : null
  if (items === null) return combine(hash, value === null ? 1 : value === true ? 2 : 3)
  let h = combine(hash, items.length)
  // lists may be long
  if (levels > 0) for (let i = 0; i < items.length && i < 16; i++) h = mix(h, items[i]!, levels - 1)
  return h
}
