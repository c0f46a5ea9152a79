import { type OperatorEntry, overloadsOf } from '../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../runtime/operators/table/schema.js'
import { CUSTOM_CLASSES, type Value } from '../../runtime/tensor/value.js'
import {
  dictOf,
  futureOf,
  INT,
  listOf,
  namedType,
  NUMBER,
  optionalOf,
  plainType,
  TENSOR,
  tupleOfTypes,
  type Type,
  variableType,
} from './types.js'

export interface FormalArgument {
  readonly name: string
  readonly type: Type
  /** N of `int[N]`, where one number stands for N of them. */
  readonly listSize: number | null
  readonly keywordOnly: boolean
  readonly default: Value | undefined
}

/** What a call can be matched with: an overload of an operator, or a function of the program. */
export interface Signature {
  readonly args: readonly FormalArgument[]
  readonly isVararg: boolean
  readonly returns: readonly Type[]
}

export interface Overload extends Signature {
  readonly entry: OperatorEntry
}

/** Types of schemas that are ints in programs. */
const INTS: ReadonlySet<string> = new Set(['ScalarType', 'Layout', 'MemoryFormat', 'QScheme', 'SymInt'])
const VARIABLE = /^t([A-Z]\w*|\d*)$/

/**
 * Operators by name, `aten::add`, with the types of their schemas, in the order in which calls try them: variants that write into `out` come last,
 * those of numbers and of anything after those that say what they take.
 */
export class OperatorSchemas {
  private readonly known = new Map<string, readonly Overload[]>()

  overloads(name: string): readonly Overload[] {
    let found = this.known.get(name)
    if (found === undefined) {
      const ranked = overloadsOf(name).map((entry) => ({ overload: overloadOf(entry), rank: rankOf(entry) }))
      found = ranked.sort((a, b) => a.rank - b.rank).map(({ overload }) => overload)
      this.known.set(name, found)
    }
    return found
  }
}

function overloadOf(entry: OperatorEntry): Overload {
  const { schema } = entry
  return {
    entry,
    args: schema.arguments.map(formalOf),
    isVararg: schema.isVararg,
    returns: schema.returns.map(({ type }) => schemaType(type)),
  }
}

function formalOf({ name, type, kwargOnly, defaultValue, isOut }: SchemaArgument): FormalArgument {
  const size = /\[(\d+)\]\??$/.exec(type)?.[1]
  return {
    name,
    type: schemaType(type),
    listSize: size === undefined ? null : Number(size),
    keywordOnly: kwargOnly || isOut,
    default: defaultValue,
  }
}

/** Of overloads that fit the same calls: which PyTorch tries before others, and which after them. */
const FIRST =
  /\.(vec|sizes|tensors)$|^aten::(Float\.Scalar|range\.step|__interpolate\.(size_list_)?scale_list|linalg_matrix_rank\.atol_rtol_tensor(_out)?|linalg_pinv\.atol_rtol_tensor_out)$/
const LAST = /\.correction(_out)?$/
/** Of overloads that write into `out`, the one without another name. */
const OUT = /^(?!aten::normal\.).*\.out$/

function rankOf({ schema, qualifiedName }: OperatorEntry): number {
  const outs = schema.arguments.some(({ isOut }) => isOut) ? 1000 : 0
  const place = FIRST.test(qualifiedName) ? -100 : LAST.test(qualifiedName) ? 100 : OUT.test(qualifiedName) ? -5 : 0
  // numbers convert to bools, and tensors of one element to numbers: those that take tensors are asked before
  const plain = schema.arguments[0]?.type.startsWith('Tensor') === true ? 0 : 10
  return outs + place + plain + schema.arguments.filter(({ type, kwargOnly }) => !kwargOnly && isOpen(type)).length
}

function isOpen(type: string): boolean {
  return type === 'Any' || type === 'Scalar' || VARIABLE.test(type.replace(/[[\]?]/g, ''))
}

/** The type that a schema writes as `Tensor?[]`, `int[2]`, `Dict(str, t)` or `(str, t)[]`. */
export function schemaType(text: string): Type {
  if (text.endsWith('?')) return optionalOf(schemaType(text.slice(0, -1)))
  const list = /^(.*)\[\d*\]$/.exec(text)?.[1]
  if (list !== undefined) return listOf(schemaType(list))
  const [, name, parts] = /^(Dict|Future|)\((.*)\)$/.exec(text) ?? []
  if (parts !== undefined) {
    const items = splitParts(parts).map(schemaType)
    return name === 'Dict' ? dictOf(items[0]!, items[1]!) : name === 'Future' ? futureOf(items[0]!) : tupleOfTypes(items)
  }
  if (text === 'Scalar') return NUMBER
  if (text === 'Tensor') return TENSOR
  if (INTS.has(text)) return INT
  if (VARIABLE.test(text)) return variableType(text)
  return text.startsWith(CUSTOM_CLASSES) ? namedType('custom', text) : plainType(text)
}

/** At commas that stand in no parentheses. */
function splitParts(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const c = text[at]
    if (c === '(' || c === '[') depth++
    else if (c === ')' || c === ']') depth--
    else if (at === text.length || (c === ',' && depth === 0)) {
      const part = text.slice(start, at).trim()
      if (part !== '') parts.push(part)
      start = at + 1
    }
  }
  return parts
}
