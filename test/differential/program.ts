import { type Type, typeText } from './types.js'

/** The memory of one or several tensors. */
export interface StorageSpec {
  readonly dtype: DType
  readonly data: readonly number[]
}

export const DTYPES = ['float32', 'float64', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool'] as const
export type DType = (typeof DTYPES)[number]

/** A tensor over one of the storages beside it. */
export interface TensorSpec {
  readonly storage: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly offset: number
  readonly id?: number
}

/** A value that stands in a file, or is an argument. Everything that describes a program is plain data, so that it can be sent anywhere. */
export type Spec =
  | null
  | boolean
  | { readonly int: number }
  | { readonly float: number }
  | TensorSpec
  | { readonly list: readonly Spec[]; readonly type: string; readonly id?: number }
  | { readonly dict: readonly (readonly [key: string, value: Spec])[]; readonly type: string; readonly id?: number }
  | { readonly tuple: readonly Spec[] }
  /** An object of a class of the program. */
  | { readonly object: string; readonly id?: number }
  /** What has this id: the same tensor, list, dict or object. */
  | { readonly same: number }
  /** A tensor of an earlier result, by its place among them. */
  | { readonly earlier: number; readonly tensor: number }

export type Statement =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'if'; readonly condition: string; readonly then: readonly Statement[]; readonly other: readonly Statement[] }
  | { readonly kind: 'for' | 'while'; readonly head: string; readonly body: readonly Statement[] }

export interface Parameter {
  readonly name: string
  readonly type: Type
}

export interface Method {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returns: Type
  readonly body: readonly Statement[]
  readonly result: string
}

/** `class` is the name of a class, where the attribute holds an object. */
export interface Attribute {
  readonly name: string
  readonly type: string
  readonly value: Spec
}

export interface ClassCode {
  readonly name: string
  readonly attributes: readonly Attribute[]
  readonly methods: readonly Method[]
}

/** What the caller does behind a call: with a tensor of its result or arguments, by its place among them. */
export interface Action {
  readonly kind: 'write' | 'dispose'
  readonly of: 'result' | 'argument' | 'attribute'
  readonly tensor: number
}

export interface Call {
  readonly method: string
  readonly storages: readonly StorageSpec[]
  readonly args: readonly Spec[]
  readonly after: readonly Action[]
}

export interface Program {
  readonly family: string
  readonly seed: number
  readonly namedTuples: readonly (Type & { readonly kind: 'NamedTuple' })[]
  /** The last is that of the module. */
  readonly classes: readonly ClassCode[]
  readonly storages: readonly StorageSpec[]
  readonly calls: readonly Call[]
  /** Attributes are looked at behind every call, or behind the last alone: to look at a tensor may keep it alive. */
  readonly looks: 'always' | 'last'
}

/** The code of a program, as TorchScript writes it. */
export function sourceOf({ namedTuples, classes }: Pick<Program, 'namedTuples' | 'classes'>): string {
  const lines: string[] = []
  for (const { name, fields } of namedTuples) {
    lines.push(`class ${name}(NamedTuple):`, ...fields.map(([field, type]) => `  ${field} : ${typeText(type)}`))
  }
  for (const { name, attributes, methods } of classes) {
    lines.push(`class ${name}(Module):`, '  __parameters__ = []', '  __buffers__ = []')
    for (const attribute of attributes) lines.push(`  ${attribute.name} : ${attribute.type}`)
    for (const { name: method, parameters, returns, body, result } of methods) {
      const params = [`self: __torch__.${name}`, ...parameters.map((p) => `${p.name}: ${typeText(p.type)}`)]
      lines.push(`  def ${method}(${params.join(', ')}) -> ${typeText(returns)}:`)
      writeStatements(body, '    ', lines)
      lines.push(`    return ${result}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function writeStatements(statements: readonly Statement[], indent: string, lines: string[]): void {
  if (statements.length === 0) lines.push(`${indent}pass`)
  const deeper = `${indent}  `
  for (const statement of statements) {
    if (statement.kind === 'line') lines.push(`${indent}${statement.text}`)
    else if (statement.kind === 'if') {
      lines.push(`${indent}if ${statement.condition}:`)
      writeStatements(statement.then, deeper, lines)
      lines.push(`${indent}else:`)
      writeStatements(statement.other, deeper, lines)
    } else {
      lines.push(`${indent}${statement.kind} ${statement.head}:`)
      writeStatements(statement.body, deeper, lines)
    }
  }
}
