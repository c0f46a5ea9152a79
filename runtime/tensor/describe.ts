import { HOLDS_COMPLEX } from '../held.js'
import { Complex, Float } from './scalar.js'
import { shapeText } from './shape.js'
import { Tensor } from './tensor.js'
import { CustomObject, Device, ScriptObject, Tuple } from './value.js'

/** Made when it is needed: the classes' own files come here with their errors. */
const classes = () =>
  [[Float, 'float'], ...(HOLDS_COMPLEX ? [[Complex, 'complex'] as const] : []), [Tuple, 'tuple'], [Device, 'device']] as const

const PRIMITIVES: Readonly<Record<string, string>> = { string: 'str', boolean: 'bool', bigint: 'int' }

/** Kind of a value as TorchScript calls it, for messages; what is no value is named as JavaScript does. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (typeof value !== 'object') return PRIMITIVES[typeof value] ?? typeof value
  try {
    return kindOfObject(value)
  } catch {
    // what others made may throw when it is looked at
    return 'an object'
  }
}

function kindOfObject(value: object): string {
  if (value instanceof ScriptObject) return value.typeName
  if (value instanceof CustomObject) return value.className
  if (value instanceof Tensor) return Tensor.isOne(value) ? 'Tensor' : 'what only looks like a Tensor (a proxy, say)'
  const found = classes().find(([one]) => value instanceof one)
  if (found !== undefined) return found[1]
  if (Array.isArray(value)) return 'list'
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (tag === 'Map') return 'dict'
  return `an object of ${tag === 'Object' ? ((value.constructor as { name?: string } | undefined)?.name ?? 'no class') : tag}`
}

/** A value's kind and, where short, the value itself, for error messages. */
export function describe(value: unknown): string {
  const kind = kindOf(value)
  if (value instanceof Tensor && Tensor.isOne(value)) return `a ${value.dtype} tensor of shape ${shapeText(value.shape)}`
  if (Array.isArray(value)) return `${kind} of ${value.length}`
  if (value instanceof Tuple) return `${kind} of ${value.items.length}`
  if (value instanceof Map) return `${kind} of ${value.size}`
  if (typeof value === 'string') return `${kind} ${JSON.stringify(value.slice(0, 40))}`
  const isNumber = value instanceof Float || (HOLDS_COMPLEX && value instanceof Complex)
  const isShort = value !== null && (typeof value !== 'object' || isNumber || value instanceof Device)
  return isShort && value !== undefined ? `${kind} ${String(value)}` : kind
}
