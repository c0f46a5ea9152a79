import { parseType, type NamedTuples, type TypeNode } from '../../program/types.js'
import type { FunctionCode } from '../../program/code.js'
import type { Program } from '../../program/program.js'
import type { ArgumentInfo, Dimension } from '../../program/signature-info.js'

/** What TypeScript makes of the methods of a model: their arguments and results, with the dtypes that its file declares. */
export function declarationsOf(program: Program, name: string): string {
  const methods = program.functions.filter(({ className, schema }) => className === program.root.typeName && schema !== null)
  const texts = methods.map((fn) => methodText(fn, program))
  const all = texts.join('')
  const imported = ['Complex', 'Input', 'Output', 'Tensor', 'tuple'].filter((type) => new RegExp(`\\b${type}\\b`).test(all))
  return `// Written by \`ptlite types ${name}\`, which writes it anew when the model changes.
import type { ${[...imported, 'TypedModule'].join(', ')} } from 'ptlite'

/** The methods of ${name}. */
export interface Methods {
${all}}

/** \`await loadModule<Model>('${name}')\` */
export type Model = TypedModule<Methods>
`
}

function methodText({ method, schema }: FunctionCode, { inputs, outputs, signatures }: Program): string {
  const said = signatures?.get(method) ?? (method === 'forward' ? { inputs, outputs } : {})
  const types: NamedTuples = new Map()
  const given = new Map((said.inputs ?? []).map((info) => [info.name, info]))
  const args = schema!.args.slice(1)
  const required = args.findLastIndex((argument) => argument.default === undefined) + 1
  const parameters = args.map(({ name, type }, i) => {
    const node = parseType(type, types)
    return `${identifier(name, i)}${i >= required ? '?' : ''}: ${argumentType(node, given.get(name))}`
  })
  const described = args.flatMap(({ name }, i) => {
    const info = given.get(name)
    return info?.shape === undefined ? [] : [`   * @param ${identifier(name, i)} ${sizesText(info.shape)}`]
  })
  const leaves = [...(said.outputs ?? [])]
  const [first] = leaves
  // in containers of tensors that all have one dtype
  const each = leaves.every(({ dtype }) => dtype === first?.dtype) ? first : undefined
  const results = schema!.returns.map(({ type, described }) => parseType(described ?? type, types))
  const isKnown = results.reduce((sum, node) => sum + tensorsIn(node), 0) === leaves.length
  const resultTypes = results.map((node) => resultType(node, isKnown ? leaves : [], each))
  const result = resultTypes.length === 1 ? resultTypes[0]! : resultTypes.length === 0 ? 'null' : `[${resultTypes.join(', ')}]`
  const sizes = (said.outputs ?? []).flatMap(({ dtype, shape }) => (shape === undefined ? [] : [`${dtype ?? 'tensor'}${sizesText(shape)}`]))
  const returned = sizes.length === 0 ? [] : [`   * @returns ${sizes.join(', ')}`]
  const comment = [...described, ...returned]
  return `${comment.length === 0 ? '' : `  /**\n${comment.join('\n')}\n   */\n`}  ${property(method)}(${parameters.join(', ')}): ${result}\n`
}

/** Sizes, with what symbols may be: `[batch (1 to 8), 3, 224, 224]`. */
function sizesText(shape: readonly Dimension[]): string {
  const texts = shape.map(({ text, min, max }) =>
    /^\d+$/.test(text) ? text : `${text} (${max === null ? `at least ${min}` : `${min} to ${max}`})`,
  )
  // a comment ends where the text says so
  return `[${texts.join(', ')}]`.replaceAll('*/', '* /')
}

function tensorText(info: ArgumentInfo | undefined): string {
  return info?.dtype === undefined ? 'Tensor' : `Tensor<'${info.dtype}'>`
}

const NUMBERS: Readonly<Record<string, string>> = {
  ...{ int: 'number | bigint', SymInt: 'number | bigint', float: 'number', bool: 'boolean', str: 'string', complex: 'Complex' },
  ...{ number: 'number | bigint', Scalar: 'number | bigint', Device: 'string', NoneType: 'null', None: 'null' },
}

function argumentType({ name, args, fields }: TypeNode, info?: ArgumentInfo): string {
  const [first, second] = args
  switch (name) {
    case 'Tensor':
      return tensorText(info)
    case 'Optional':
      return `${argumentType(first!, info)} | null`
    case 'List':
      return listText(argumentType(first!))
    case 'Dict':
      return `Map<${NUMBERS[first!.name] ?? 'unknown'}, ${argumentType(second!)}>`
    case 'Tuple':
      return 'ReturnType<typeof tuple>'
    default:
      return fields !== undefined ? 'ReturnType<typeof tuple>' : (NUMBERS[name] ?? 'Input')
  }
}

/** Takes what the file says of tensors from the front of `leaves`, in their order. */
function resultType({ name, args, fields }: TypeNode, leaves: ArgumentInfo[], each?: ArgumentInfo): string {
  const [first, second] = args
  switch (name) {
    case 'Tensor':
      return tensorText(leaves.shift() ?? each)
    case 'Optional':
      return `${resultType(first!, leaves, each)} | null`
    case 'List':
      return listText(resultType(first!, [], each))
    case 'Dict':
      return `Map<${NUMBERS[first!.name] ?? 'unknown'}, ${resultType(second!, [], each)}>`
    case 'Tuple':
      return `[${args.map((arg) => resultType(arg, leaves, each)).join(', ')}]`
    default:
      if (fields === undefined) return NUMBERS[name] ?? 'Output'
      return `[${args.map((arg, i) => `${identifier(fields[i]!, i)}: ${resultType(arg, leaves, each)}`).join(', ')}]`
  }
}

/** How many results a type has that the file describes one by one; NaN where their number is not fixed. */
function tensorsIn({ name, args, fields }: TypeNode): number {
  if (name === 'Tuple' || fields !== undefined) return args.reduce((sum, arg) => sum + tensorsIn(arg), 0)
  return name === 'Tensor' ? 1 : NaN
}

function listText(item: string): string {
  return item.includes(' ') ? `(${item})[]` : `${item}[]`
}

const RESERVED = new Set(
  'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with let static yield await arguments eval'.split(
    ' ',
  ),
)

/** A name of Python as one of TypeScript. */
function identifier(name: string, i: number): string {
  const text = name.replaceAll(/[^\p{L}\p{N}_$]/gu, '_')
  return /^[\p{L}_$]/u.test(text) ? (RESERVED.has(text) ? `${text}_` : text) : `argument${i}`
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
