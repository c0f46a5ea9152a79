import type { Expressions } from './expressions.js'
import type { Binding } from './scope.js'
import { callOperator } from './operator-calls.js'
import { isTuple, STR, TENSOR } from './types.js'
import { CUSTOM_CLASSES } from '../../runtime/tensor/value.js'

/** Attributes of tensors that are operators of the same name in `prim`. */
const TENSOR_ATTRIBUTES: Readonly<Record<string, string>> = { shape: 'aten::size', ndim: 'aten::dim', T: 'aten::numpy_T' }
const PRIM_ATTRIBUTES: ReadonlySet<string> = new Set(
  'dtype device layout is_cuda is_cpu is_sparse is_quantized requires_grad data itemsize nbytes grad name'.split(' '),
)

/** What `object.name` stands for. */
export function attributeOf(code: Expressions, object: Binding, name: string): Binding {
  const { builder, library } = code
  switch (object.kind) {
    case 'namespace':
      return memberOfNamespace(code, object.name, name)
    case 'class': {
      const { unit } = object
      if (name === '__new__') return { kind: 'new', unit }
      if (unit.type.kind === 'enum') {
        const member = library.memberOf(unit, name)
        if (member !== undefined) return { kind: 'value', value: builder.constant(member, unit.type) }
      }
      const method = library.findMethod(unit, name) ?? library.findFunction(`${unit.name}.${name}`)
      if (method !== undefined) return { kind: 'function', unit: method, self: null }
      return memberOfNamespace(code, unit.name, name)
    }
    case 'value':
      return memberOfValue(code, object, name)
    default:
      throw builder.wrong(`a ${object.kind} has no attribute ${name}`)
  }
}

function memberOfNamespace(code: Expressions, namespace: string, name: string): Binding {
  const { builder, library } = code
  // two operators have names of another module
  if (namespace === 'torch' && name === 'autograd') return { kind: 'namespace', name: 'torch.autograd' }
  if (namespace === 'torch' || namespace === 'torch.autograd') return { kind: 'operator', name: `aten::${name}`, self: null }
  if (namespace === 'ops') return { kind: 'namespace', name: `ops.${name}` }
  if (namespace.startsWith('ops.')) return { kind: 'operator', name: `${namespace.slice(4)}::${name}`, self: null }
  const qualified = `${namespace}.${name}`
  const constant = namespace === 'CONSTANTS' ? library.namedConstant(qualified) : undefined
  if (constant !== undefined) return { kind: 'value', value: builder.constant(constant) }
  if (namespace === 'CONSTANTS') throw builder.wrong(`the archive has no constant ${name}`)
  if (qualified.startsWith(CUSTOM_CLASSES)) {
    if (qualified.split('.').length > 4) throw builder.unsupported(`the class ${qualified} of C++`)
    return { kind: 'namespace', name: qualified }
  }
  const unit = library.findClass(qualified)
  if (unit !== undefined) return { kind: 'class', unit }
  const fn = library.findFunction(qualified)
  if (fn !== undefined) return { kind: 'function', unit: fn, self: null }
  if (qualified.length > 4096) throw builder.wrong('a name of too many parts')
  return { kind: 'namespace', name: qualified }
}

function memberOfValue(code: Expressions, { value }: Binding & { kind: 'value' }, name: string): Binding {
  const { builder, library } = code
  const { type } = value
  if (isTuple(type)) {
    const index = type.fields?.indexOf(name) ?? -1
    if (index >= 0) return { kind: 'value', value: code.tupleIndex(value, builder.constant(index)) }
  }
  if (type.kind === 'class' || type.kind === 'interface') {
    const unit = library.findClass(type.text)
    const attribute = unit?.attributes.get(name)
    if (attribute !== undefined)
      return { kind: 'value', value: builder.add({ kind: 'GET_ATTR', slot: attribute.slot }, [value], attribute.type) }
    const method = unit === undefined ? undefined : library.findMethod(unit, name)
    if (method !== undefined)
      return type.kind === 'class'
        ? { kind: 'function', unit: method, self: value }
        : { kind: 'interface method', unit: method, self: value }
    const constant = unit?.constants.get(name)
    if (constant !== undefined) return { kind: 'value', value: builder.constant(library.constantOf(constant, unit!.source)) }
    throw builder.wrong(`${type.text} has no attribute or method ${name}`)
  }
  if (type.kind === 'enum') {
    // the operator's overload is that of what the members are
    const [[member] = []] = library.findClass(type.text)?.constants ?? []
    const found = member === undefined ? undefined : library.findClass(type.text)!.constants.get(member)!
    if (name === 'name') return { kind: 'value', value: builder.operator('prim::EnumName', [value], STR) }
    if (name !== 'value' || found === undefined) throw builder.wrong(`a member of an enum has no attribute ${name}`)
    const result = builder.typeOfConstant(library.constantOf(found, library.findClass(type.text)!.source))
    return { kind: 'value', value: builder.operator(`prim::EnumValue.${result.text}`, [value], result) }
  }
  // of what an operator that is missing would give
  if (type.kind === 'unknown') return { kind: 'value', value }
  if (type.kind === 'custom') throw builder.unsupported(`the method ${name} of ${type.text}`)
  if (name === 'tolist' && type === TENSOR) return { kind: 'tolist', self: value }
  if (type === TENSOR) {
    const operator = TENSOR_ATTRIBUTES[name] ?? (PRIM_ATTRIBUTES.has(name) ? `prim::${name}` : undefined)
    if (operator !== undefined) return { kind: 'value', value: callOperator(code, operator, [value]) }
  }
  return { kind: 'operator', name: `aten::${name}`, self: value }
}
