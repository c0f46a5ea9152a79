import type { GeneratedFiles } from '../generate.js'
import type { Return, SchemaType } from '../schema/model.js'
import { argumentsOf, type Form, type TensorMethod } from '../tensor-methods.js'
import { banner, importOf } from './file.js'

const INPUT = 'codegen/tensor_methods.yaml'
/** Type parameters of arguments on whose dtype that of the result depends. */
const PROMOTED = new Set(['promoted', 'quotient'])

const TENSOR = '../../../runtime/tensor'
const types = (names: readonly string[], path: string): string => importOf(names.join(' '), names, path, true)

interface Parameter {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
}

/** Types of methods, what they and the functions call, and the functions that the package exports. */
export function emitTensorMethods(all: readonly TensorMethod[]): GeneratedFiles {
  const of = (kind: TensorMethod['kind']): TensorMethod[] => all.filter((method) => method.kind === kind)
  return new Map([
    ['runtime/tensor/generated/operations.ts', operationsText(of('method'))],
    ['src/values/generated/tensor-methods.ts', tableText(of('method'), of('function'))],
    ['src/values/generated/tensor-functions.ts', functionsText(of('function'))],
  ])
}

function operationsText(methods: readonly TensorMethod[]): string {
  const members = methods.map((method) => {
    const types = signaturesOf(method).map((signature) => `  ${method.name}${signature}\n`)
    return types.map((type) => `  ${commentOf(method)}\n${type}`).join('')
  })
  return `${banner('tensor-methods.ts', INPUT)}${types(['DTypeName'], '../dtype.js')}${types(['FloatingOf', 'Operand', 'PromotedOf', 'RealOf', 'SumOf'], '../dtype-types.js')}${types(['Tensor'], '../tensor.js')}
/**
 * What can be done with a tensor by name: the operators that programs around a model most often need, with PyTorch's results, dtypes and
 * errors (\`callOperator\` calls all others). Negative dimensions count from the last. Results are new tensors, or views that share memory
 * with this one, as said. All throw INVALID_ARGUMENT for arguments that do not fit, and DISPOSED; in selective
 * builds MISSING_OPERATOR, too, where no trace has the operator.
 */
export interface TensorOperations<D extends DTypeName = DTypeName> {
${members.join('')}}
`
}

function tableText(methods: readonly TensorMethod[], functions: readonly TensorMethod[]): string {
  const rows = (all: readonly TensorMethod[]): string => `'${all.map(rowText).join(';')}'`
  return `${banner('tensor-methods.ts', INPUT)}
/** Tables for src/values/method-table.ts, as texts, which are short in bundles: methods of tensors and their operators. */
export const METHODS: string =
  ${rows(methods)}

/** Functions that make tensors. */
export const FUNCTIONS: string =
  ${rows(functions)}
`
}

/** The name and, behind \`=\`, its operators; of those that have that name the overload alone. */
function rowText({ name, forms }: TensorMethod): string {
  const calls = forms.flatMap(({ operators, parameters }) => {
    const fallbacks = parameters.flatMap(({ fallback }) => (fallback === null ? [] : [fallback]))
    return operators.map(({ schema }) => {
      const overload = schema.overload === '' ? '' : `.${schema.overload}`
      return (schema.name === name ? '' : schema.name) + overload + (fallbacks.length > 0 ? `(${fallbacks.join(',')})` : '')
    })
  })
  const text = calls.join(' ')
  return text === '' ? name : `${name}=${text}`
}

function functionsText(functions: readonly TensorMethod[]): string {
  const texts = functions.map((method) => {
    const signatures = signaturesOf(method).map((signature) => `${commentOf(method)}\nexport function ${method.name}${signature}\n`)
    const calls = `export function ${method.name}(...args: readonly unknown[]): unknown {\n  return callFunction('${method.name}', args)\n}\n`
    return `\n${signatures.join('')}${calls}`
  })
  return `${banner('tensor-methods.ts', INPUT)}${types(['DTypeName'], `${TENSOR}/dtype.js`)}${types(['Tensor'], `${TENSOR}/tensor.js`)}${importOf('callFunction', ['callFunction'], '../tensor-operations.js')}${texts.join('')}`
}

/** A sentence, and the errors of functions, which methods have in common. */
function commentOf({ doc, kind }: TensorMethod): string {
  return `/** ${doc}${kind === 'function' ? ' Throws INVALID_ARGUMENT, DISPOSED, OUT_OF_MEMORY.' : ''} */`
}

/** Parameters and result of each form, as TypeScript has them; one for forms that only add parameters to others. */
export function signaturesOf(method: TensorMethod): string[] {
  const forms = method.forms.map((form) => ({ parameters: parametersOf(form, method), returns: form.operators[0]!.schema.returns }))
  const longest = forms.reduce((a, b) => (b.parameters.length > a.parameters.length ? b : a))
  const isPrefix = ({ parameters, returns }: (typeof forms)[number]): boolean =>
    returns.length === longest.returns.length && parameters.every(({ name }, i) => name === longest.parameters[i]!.name)
  if (!forms.every(isPrefix)) return forms.map((form) => signatureText(method, form.parameters, form.returns))
  const shortest = Math.min(...forms.map(({ parameters }) => parameters.length))
  const merged = longest.parameters.map((parameter, i) => ({ ...parameter, isOptional: parameter.isOptional || i >= shortest }))
  return [signatureText(method, merged, longest.returns)]
}

function parametersOf({ parameters, operators }: Form, { kind }: TensorMethod): Parameter[] {
  const takers = operators.map((operator) => argumentsOf(operator, kind))
  return parameters.map(({ name, fallback }, i) => {
    const found = takers.map((args) => args[i]!)
    const types = new Set(found.flatMap(({ type }) => typeTexts(type)))
    return { name, type: [...types].join(' | '), isOptional: fallback !== null || found.every(({ defaultValue }) => defaultValue !== null) }
  })
}

function signatureText(method: TensorMethod, parameters: readonly Parameter[], returns: readonly Return[]): string {
  const isGiven = method.dtypes[0]?.startsWith('given') === true && parameters.some(({ name }) => name === 'dtype')
  const defaults = method.dtypes[0]?.split(' ').slice(1) ?? []
  const other = parameters.find(({ name }) => name === 'other' || name === 'exponent')
  // of two tensors even where a form of one alone has its dtype
  const isPromoted = other !== undefined && method.dtypes[0] === 'same'
  const operand = isPromoted || PROMOTED.has(method.dtypes[0] ?? '') ? other : undefined
  const list = parameters.map(({ name, type, isOptional }) => {
    const own = name === 'dtype' && isGiven ? 'E' : name === operand?.name ? 'O' : elementsType(method, type)
    return `${name}${isOptional ? '?' : ''}: ${own}`
  })
  const generic = isGiven
    ? `<E extends DTypeName${defaults.length > 0 ? ` = ${defaults.map((name) => `'${name}'`).join(' | ')}` : ''}>`
    : operand !== undefined
      ? `<O extends ${operand.type === 'Tensor' ? 'Tensor' : 'Operand'}>`
      : method.dtypes[0] === 'elements'
        ? '<D extends DTypeName>'
        : ''
  return `${generic}(${list.join(', ')}): ${returnText(isPromoted ? { ...method, dtypes: ['promoted'] } : method, returns)}`
}

function elementsType({ dtypes }: TensorMethod, type: string): string {
  return dtypes[0] === 'elements' && type === 'readonly Tensor[]' ? 'readonly Tensor<D>[]' : type
}

function returnText(method: TensorMethod, returns: readonly Return[]): string {
  const texts = returns.map(({ name, type }, i) => {
    const tensor = tensorText(method.dtypes[Math.min(i, method.dtypes.length - 1)])
    return { name, text: type.kind === 'list' ? `${tensor}[]` : tensor }
  })
  if (texts.length === 1) return texts[0]!.text
  return `[${texts.map(({ name, text }) => `${name!}: ${text}`).join(', ')}]`
}

function tensorText(dtype: string | undefined): string {
  switch (dtype?.split(' ')[0]) {
    case undefined:
      return 'Tensor'
    case 'same':
    case 'elements':
      return 'Tensor<D>'
    case 'given':
      return 'Tensor<E>'
    case 'floating':
      return 'Tensor<FloatingOf<D>>'
    case 'sum':
      return 'Tensor<SumOf<D>>'
    case 'real':
      return 'Tensor<RealOf<D>>'
    case 'promoted':
      return 'Tensor<PromotedOf<D, O>>'
    case 'quotient':
      return 'Tensor<FloatingOf<PromotedOf<D, O>>>'
    default:
      return `Tensor<'${dtype!}'>`
  }
}

/** The TypeScript types of what callers give for an argument. */
function typeTexts(type: SchemaType): string[] {
  switch (type.kind) {
    case 'optional':
      return [...typeTexts(type.inner), 'null']
    case 'list': {
      const item = typeTexts(type.inner).join(' | ')
      return [...(type.size === 1 ? [item] : []), `readonly ${item.includes('|') ? `(${item})` : item}[]`]
    }
    case 'base':
      if (type.name === 'Scalar') return ['number', 'bigint']
      return [PLAIN[type.name] ?? 'never']
    default:
      return ['never']
  }
}

const PLAIN: Readonly<Record<string, string>> = {
  ...{ Tensor: 'Tensor', int: 'number', SymInt: 'number', float: 'number', bool: 'boolean', str: 'string', ScalarType: 'DTypeName' },
}
