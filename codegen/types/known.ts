import type { SchemaType } from '../schema/model.js'

/** The base types of PyTorch's schema language; type variables and `torch.classes` aside. */
const BASE_TYPES = new Set([
  'Any', 'AnyClassType', 'AnyEnumType', 'AnyListType', 'AnyTupleType', 'ConstQuantizerPtr', 'Device', 'Dimname', 'Generator', 'Layout',
  'MemoryFormat', 'QScheme', 'Scalar', 'ScalarType', 'Storage', 'Stream', 'SymBool', 'SymInt', 'Tensor', 'bool', 'complex', 'float', 'int', 'number', 'str',
]) // prettier-ignore

/** `t`, `t1`, `tVal`: stands for any type. */
const VARIABLE = /^t(?:\d+|[A-Z]\w*)?$/
const CUSTOM_CLASS = /^__torch__\.torch\.classes\.[\w.]+$/

/** The first name in a type that stands for none; null where all are known. */
export function unknownType(type: SchemaType): string | null {
  switch (type.kind) {
    case 'base':
      return BASE_TYPES.has(type.name) || VARIABLE.test(type.name) || CUSTOM_CLASS.test(type.name) ? null : type.name
    case 'optional':
    case 'list':
      return unknownType(type.inner)
    case 'generic':
      return firstUnknown(type.parameters)
    case 'tuple':
      return firstUnknown(type.items)
  }
}

function firstUnknown(types: readonly SchemaType[]): string | null {
  for (const type of types) {
    const unknown = unknownType(type)
    if (unknown !== null) return unknown
  }
  return null
}
