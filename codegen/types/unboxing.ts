import type { SchemaType } from '../schema/model.js'

export interface TypeStyle {
  /** A native function of the `Builtin` key: exact ints, lists by reference. */
  readonly builtin: boolean
  /** Numbers may be complex. */
  readonly complex: boolean
}

/** `Tensor` or `Tensor?`: lists of them are handed over with their elements checked. */
export function isTensorLike(type: SchemaType): boolean {
  return type.kind === 'base' ? type.name === 'Tensor' : type.kind === 'optional' && isTensorLike(type.inner)
}

/** A number of any type: at::Scalar. */
export function isNumber(type: string): boolean {
  return type === 'Scalar' || type === 'number'
}

/** Call of an unboxing helper: `helper(value, operator, argument, ...extra)`. */
export interface Unboxing {
  readonly helper: string
  readonly extra: readonly (string | number)[]
}

const BASE: Record<string, string> = {
  Tensor: 'asTensor',
  int: 'asInt',
  SymInt: 'asInt',
  float: 'asFloat',
  bool: 'asBool',
  SymBool: 'asBool',
  str: 'asStr',
  Dimname: 'asStr',
  Scalar: 'asScalar',
  number: 'asScalar',
  complex: 'asComplex',
  ScalarType: 'asDType',
  Layout: 'asLayout',
  MemoryFormat: 'asMemoryFormat',
  QScheme: 'asInt',
  Device: 'asDevice',
  Generator: 'asGenerator',
  Storage: 'asStorage',
  Stream: 'asLong',
}

const LISTS: Record<string, string> = {
  asTensor: 'asTensors',
  asTensorOrNull: 'asOptionalTensors',
  asInt: 'asInts',
  asFloat: 'asFloats',
  asBool: 'asBools',
  asStr: 'asStrs',
  asScalar: 'asScalars',
  asCustom: 'asCustoms',
}

/** The rule that turns a stack value into the native function's argument. */
export function unboxing(type: SchemaType, style: TypeStyle): Unboxing {
  switch (type.kind) {
    case 'base':
      if (style.builtin && type.name === 'int') return plain('asLong')
      if (style.complex && isNumber(type.name)) return plain('asAnyScalar')
      if (type.name.startsWith('__torch__.torch.classes.')) return plain('asCustom')
      return plain(BASE[type.name] ?? 'asAny')
    case 'optional': {
      const inner = unboxing(type.inner, style)
      return inner.helper === 'asAny' ? inner : { ...inner, helper: `${inner.helper}OrNull` }
    }
    case 'list': {
      if (style.builtin && !isTensorLike(type.inner)) return plain('asList')
      const helper = LISTS[unboxing(type.inner, style).helper]
      if (helper === undefined) return plain('asList')
      // a single value stands for all elements of a sized list
      const sized = helper === 'asBools' && type.size !== null ? 'asFlags' : helper
      return { helper: sized, extra: type.size === null ? [] : [type.size] }
    }
    case 'generic':
      return plain(type.name === 'Dict' ? 'asDict' : 'asAny')
    case 'tuple':
      return plain('asTuple')
  }
}

/** How a result goes back on the stack: as it is, or a number (list) to Float (list). */
export function boxing(type: SchemaType, style: TypeStyle): 'asIs' | 'float' | 'floatOrNull' | 'floats' {
  if (type.kind === 'base') return type.name === 'float' ? 'float' : 'asIs'
  if (type.kind === 'optional') return boxing(type.inner, style) === 'float' ? 'floatOrNull' : 'asIs'
  if (type.kind === 'list' && !style.builtin) return boxing(type.inner, style) === 'float' ? 'floats' : 'asIs'
  return 'asIs'
}

function plain(helper: string): Unboxing {
  return { helper, extra: [] }
}
