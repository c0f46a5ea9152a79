import { Float, isComplexNumber } from './scalar.js'
import { CustomObject, Device, ScriptObject, Tuple } from './value.js'

/** Made when it is needed: the classes' own files come here with their errors. */
const classes = () =>
  [
    [Float, 'float'],
    [Tuple, 'tuple'],
    [Device, 'device'],
  ] as const

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
  if (isComplexNumber(value)) return 'complex'
  if (value instanceof ScriptObject) return value.typeName
  if (value instanceof CustomObject) return value.className
  const own = (value as { readonly [KIND]?: string })[KIND]
  if (own !== undefined) return own
  const found = classes().find(([one]) => value instanceof one)
  if (found !== undefined) return found[1]
  if (Array.isArray(value)) return 'list'
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (tag === 'Map') return 'dict'
  return `an object of ${tag === 'Object' ? ((value.constructor as { name?: string } | undefined)?.name ?? 'no class') : tag}`
}

/** A number itself, and of everything else its kind: for what should have been a number within bounds. */
export function numberText(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value)
}

/** The property by which tensors say what they are: `kindOf` serves their class, which it must not import. */
export const KIND = /* @__PURE__ */ Symbol('kind')
