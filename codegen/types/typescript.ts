import type { Return, SchemaType } from '../schema/model.js'
import { isNumber, type TypeStyle, unboxing } from './unboxing.js'

const PLAIN: Record<string, string> = {
  Tensor: 'Tensor',
  float: 'number',
  bool: 'boolean',
  SymBool: 'boolean',
  str: 'string',
  Scalar: 'Scalar',
  number: 'Scalar',
  complex: 'Complex',
  ScalarType: 'DType',
  Layout: 'number',
  MemoryFormat: 'number',
  QScheme: 'number',
  Device: 'Device',
  Generator: 'RandomGenerator',
  Dimname: 'string',
  Storage: 'Storage',
  Stream: 'Int',
}

/** The TypeScript type of an unboxed value. */
export function typescriptType(type: SchemaType, style: TypeStyle): string {
  switch (type.kind) {
    case 'base':
      if (type.name === 'int' || type.name === 'SymInt') return style.builtin ? 'Int' : 'number'
      if (style.complex && isNumber(type.name)) return 'AnyScalar'
      if (type.name.startsWith('__torch__.torch.classes.')) return 'CustomObject'
      return PLAIN[type.name] ?? 'Value'
    case 'optional': {
      const inner = typescriptType(type.inner, style)
      return inner === 'unknown' || inner === 'Value' ? inner : `${inner} | null`
    }
    case 'list': {
      if (unboxing(type, style).helper === 'asList') return 'Value[]'
      const inner = typescriptType(type.inner, style)
      return inner.includes('|') ? `(${inner})[]` : `${inner}[]`
    }
    case 'generic':
      return type.name === 'Dict' ? 'Map<DictKey, Value>' : 'Value'
    case 'tuple':
      return 'Tuple'
  }
}

/** What a native function returns: nothing, a value, or a tuple of values. */
export function typescriptReturn(returns: readonly Return[], isVarret: boolean, style: TypeStyle): string {
  if (isVarret) return 'Value[]'
  if (returns.length === 0) return 'void'
  const types = returns.map((r) => typescriptType(r.type, style))
  return types.length === 1 ? types[0]! : `[${types.join(', ')}]`
}
