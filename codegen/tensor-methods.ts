import { failAt, type Source } from './error.js'
import type { Operator } from './model/operator.js'
import { type Argument, isOutArgument } from './schema/model.js'
import type { Entry } from './yaml-file.js'

/** One way to call a method or function, of codegen/tensor_methods.yaml. */
export interface Form {
  readonly parameters: readonly { readonly name: string; readonly fallback: string | null }[]
  /** The first one that takes the arguments is called. */
  readonly operators: readonly Operator[]
}

/** What a tensor can be asked for by name, or a function of the package that makes one. */
export interface TensorMethod {
  readonly name: string
  readonly kind: 'method' | 'function'
  readonly group: string
  readonly forms: readonly Form[]
  /** What is known of the dtype of each result. */
  readonly dtypes: readonly string[]
  readonly doc: string
  readonly shape: string
}

const DTYPES: ReadonlySet<string> = new Set(['same', 'floating', 'sum', 'real', 'promoted', 'quotient', 'elements', 'bool', 'int64'])

/** Reads codegen/tensor_methods.yaml. Throws CodegenError for what does not fit the schemas. */
export function readTensorMethods(entries: readonly Entry[], operators: readonly Operator[]): TensorMethod[] {
  const byName = new Map(operators.map((o) => [o.qualifiedName, o]))
  const seen = new Set<string>()
  let group = ''
  return entries.flatMap(({ fields, source }) => {
    const [first] = fields
    if (first?.key === 'group') {
      group = String(first.value)
      return []
    }
    const name = String(first?.value)
    const kind = first?.key
    if (kind !== 'method' && kind !== 'function') failAt(source, 'entry', "needs 'method', 'function' or 'group' first")
    if (seen.has(`${kind} ${name}`)) failAt(source, name, 'stands here twice')
    seen.add(`${kind} ${name}`)
    const unknown = fields.find(({ key }) => ![kind, 'forms', 'dtype', 'doc', 'shape'].includes(key))
    if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
    const textOf = (key: string): string | undefined => {
      const value = fields.find((field) => field.key === key)?.value
      return typeof value === 'string' ? value : undefined
    }
    const [doc, shape] = [textOf('doc'), textOf('shape')]
    if (group === '' || doc === undefined || shape === undefined) failAt(source, name, "needs a group, 'doc' and 'shape'")
    const forms = Object.entries((fields.find(({ key }) => key === 'forms')?.value ?? {}) as Readonly<Record<string, unknown>>)
    if (forms.length === 0) failAt(source, name, "needs 'forms'")
    const dtype = textOf('dtype')
    const dtypes = dtype === undefined ? [] : dtype.split(/, */)
    for (const one of dtypes) if (!DTYPES.has(one) && !/^given( \w+)*$/.test(one)) failAt(source, name, `no such dtype: ${one}`)
    return [
      {
        ...{ name, kind, group, dtypes, doc, shape },
        forms: forms.map(([signature, names]) => formOf(signature, String(names), kind, name, byName, source)),
      },
    ]
  })
}

function formOf(
  signature: string,
  names: string,
  kind: TensorMethod['kind'],
  name: string,
  byName: ReadonlyMap<string, Operator>,
  source: Source,
): Form {
  const [, called, list] = /^(\w+)\((.*)\)$/.exec(signature) ?? []
  if (called !== name || list === undefined) failAt(source, name, `'${signature}' is no call of it`)
  const parameters = list === '' ? [] : list.split(/, */).map((text) => {
    const [, parameter, fallback] = /^(\w+)(?: = (.+))?$/.exec(text) ?? failAt(source, name, `'${text}' is no parameter`)
    return { name: parameter!, fallback: fallback ?? null }
  }) // prettier-ignore
  const operators = names.split(' ').map((each) => {
    const operator = byName.get(`aten::${each}`) ?? failAt(source, name, `no operator aten::${each} is declared`)
    if (kind === 'method' && !operator.schema.arguments.some((argument) => argument.name === 'self'))
      failAt(source, name, `aten::${each} has no 'self'`)
    if (argumentsOf(operator, kind).length < parameters.length) failAt(source, name, `aten::${each} takes fewer arguments`)
    return operator
  })
  return { parameters, operators }
}

/** The arguments of an operator that a caller gives: of methods without the tensor itself. */
export function argumentsOf({ schema }: Operator, kind: TensorMethod['kind']): Argument[] {
  return schema.arguments.filter((argument) => !isOutArgument(argument) && !(kind === 'method' && argument.name === 'self'))
}
