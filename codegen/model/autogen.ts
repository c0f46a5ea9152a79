import { failAt } from '../error.js'
import { aliasOf, type Argument, type FunctionSchema, isWritten, qualifiedName, type Return, type SchemaType } from '../schema/model.js'
import { type Operator, isInplace, parametersOf, unboxedName } from './operator.js'

/** The variants that `autogen` keys ask for, as operators that call the one they derive from. Throws CodegenError. */
export function deriveVariants(operators: readonly Operator[]): Operator[] {
  const declared = new Map(operators.map((o) => [o.qualifiedName, o]))
  const derived: Operator[] = []
  for (const from of operators) {
    for (const name of from.native.autogen) {
      const operator = derive(from, name)
      const other = declared.get(operator.qualifiedName)
      if (other !== undefined) {
        const where = `${other.native.source.file}:${other.native.source.line}`
        failAt(from.native.source, from.qualifiedName, `autogen '${name}' exists already (${where})`)
      }
      declared.set(operator.qualifiedName, operator)
      derived.push(operator)
    }
  }
  return derived
}

function derive(from: Operator, name: string): Operator {
  const [base, overload = ''] = split(name)
  const kind = kindOf(from, name)
  const shape = kind === 'out' ? outSchema(from.schema) : functionalSchema(from.schema)
  const schema: FunctionSchema = { ...shape, namespace: from.schema.namespace, name: base, overload }
  return {
    qualifiedName: qualifiedName(schema),
    schema,
    native: from.native,
    unboxedName: unboxedName(schema),
    style: from.style,
    parameters: parametersOf(schema),
    branches: [],
    derivation: from.derivation?.kind === 'each' ? from.derivation : { from, kind },
    // as PyTorch has it
    tags: from.tags.filter((tag) => tag === 'nondeterministic_seeded' || tag === 'view_copy'),
  }
}

/** What the name of a variant says it is. Throws CodegenError for names that no variant of the operator has. */
function kindOf(from: Operator, name: string): 'out' | 'functional' {
  const { schema, native } = from
  const dot = (text: string): string => (text === '' ? '' : `.${text}`)
  const base = isInplace(schema) ? schema.name.replace(/^__i(\w+__)$/, '__$1').replace(/([^_])_$/, '$1') : schema.name
  const out = `${base}.${schema.overload === '' ? 'out' : `${schema.overload}_out`}`
  const functional = `${isInplace(schema) ? base : `${base}_functional`}${dot(schema.overload)}`
  const writes = schema.arguments.some((a) => isWritten(a.type))
  if (name === functional && writes) return 'functional'
  if (name === out || name === `${base}.out`) return 'out'
  failAt(native.source, from.qualifiedName, `no variant is called '${name}', expected ${writes ? `${functional} or ` : ''}${out}`)
}

function split(name: string): [string, string?] {
  const dot = name.indexOf('.')
  return dot < 0 ? [name] : [name.slice(0, dot), name.slice(dot + 1)]
}

/**
 * The schema without writes: copies of what was written are returned after the other results, as `name_out`; the
 * copy of an in-place operator's result needs no name.
 */
function functionalSchema(schema: FunctionSchema): FunctionSchema {
  const mutated = schema.arguments.filter((a) => isWritten(a.type))
  if (mutated.length === 0) return schema
  const returnsSelf = isInplace(schema) && schema.returns.length > 0
  const own = schema.returns.filter((r) => !isWritten(r.type)).map((r) => ({ ...r, type: withoutAlias(r.type) }))
  const written = mutated.map((a, i): Return => ({ name: returnsSelf && i === 0 ? null : `${a.name}_out`, type: withoutAlias(a.type) }))
  return {
    ...schema,
    arguments: schema.arguments.map((a) => ({ ...a, type: isWritten(a.type) ? withoutAlias(a.type) : a.type })),
    returns: [...own, ...written],
  }
}

const OPTIONS = new Set(['dtype', 'layout', 'device', 'pin_memory'])

/**
 * The `out=` form: tensor results, and `self` of an in-place operator, become keyword-only arguments at the end.
 * Tensor options go, since the outs have them.
 */
function outSchema(schema: FunctionSchema): FunctionSchema {
  const inplace = isInplace(schema)
  const results = inplace ? [schema.arguments[0]!.type] : schema.returns.filter((r) => isTensors(r.type)).map((r) => r.type)
  const hasOptions = parametersOf(schema).some((p) => p.type === null)
  const args = schema.arguments
    .filter((a) => !hasOptions || !OPTIONS.has(a.name))
    .map((a, i) => (inplace && i === 0 ? { ...a, type: withoutAlias(a.type) } : a))
  const taken = new Set(args.flatMap((a) => aliasOf(a.type)?.before ?? []))
  const free = [...'abcdefghijklmnop'].filter((set) => !taken.has(set))
  const outs = results.map((type, i): Argument => {
    const name = results.length === 1 ? 'out' : `out${i}`
    return { name, type: written(type, free[i]!), defaultValue: null, kwargOnly: true }
  })
  const isPlain = outs.every((a) => a.type.kind === 'base')
  const others = inplace ? [] : schema.returns.filter((r) => !isTensors(r.type))
  return {
    ...schema,
    arguments: [...args, ...outs],
    returns: isPlain ? [...outs.map((a) => ({ name: null, type: a.type })), ...others] : [],
  }
}

function isTensors(type: SchemaType): boolean {
  return type.kind === 'list' ? isTensors(type.inner) : type.kind === 'base' && type.name === 'Tensor'
}

function written(type: SchemaType, set: string): SchemaType {
  if (type.kind === 'list') return { ...type, inner: written(type.inner, set) }
  return { ...type, alias: { before: [set], write: true, after: null } }
}

function withoutAlias(type: SchemaType): SchemaType {
  return type.kind === 'list' || type.kind === 'optional'
    ? { ...type, alias: null, inner: withoutAlias(type.inner) }
    : { ...type, alias: null }
}
