import { PtliteError } from '../runtime/error.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { PairMap } from '../runtime/tensor/pair-map.js'
import { CustomObject, Device, type DictKey, listType, ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'

/** A parsed type text: `Dict[str, List[int]]`, a class name, or a NamedTuple with its fields. */
export interface TypeNode {
  readonly name: string
  readonly args: readonly TypeNode[]
  readonly fields?: readonly string[]
}

/** NamedTuples by name: a file defines each one inline where it first occurs and uses its bare name afterwards. */
export type NamedTuples = Map<string, TypeNode>

const MAX_NESTING = 64

/** Of NamedTuples: how deep their types are nested. */
const levelsOf = new WeakMap<TypeNode, number>()

function levelsIn(type: TypeNode): number {
  return levelsOf.get(type) ?? (type.args.length === 0 ? 0 : 1 + type.args.reduce((most, arg) => Math.max(most, levelsIn(arg)), 0))
}

/** Parses a type as TorchScript prints it. Unknown names are class names. Throws INVALID_FILE for text that is not a type. */
export function parseType(text: string, namedTuples: NamedTuples): TypeNode {
  const tokens = text.match(/[^\s[\],]+|[[\],]/g) ?? []
  let at = 0

  const bad = (what: string): never => {
    throw new PtliteError('INVALID_FILE', `type '${text.slice(0, 200)}': expected ${what}`)
  }
  const eat = (token: string): void => {
    if (tokens[at++] !== token) bad(`'${token}'`)
  }

  const parse = (depth: number): TypeNode => {
    if (depth > MAX_NESTING) bad(`at most ${MAX_NESTING} levels`)
    const name = tokens[at++]
    if (name === undefined || name === '[' || name === ']' || name === ',') return bad('a name')
    if (tokens[at] !== '[') return namedTuples.get(name) ?? { name, args: [] }
    at++
    if (tokens[at] === 'NamedTuple') return parseNamedTuple(name, depth)
    const args: TypeNode[] = []
    while (tokens[at] !== ']') {
      if (args.length > 0) eat(',')
      args.push(parse(depth + 1))
    }
    at++
    return { name, args }
  }

  const parseNamedTuple = (name: string, depth: number): TypeNode => {
    at++
    eat(',')
    eat('[')
    const fields: string[] = []
    const args: TypeNode[] = []
    while (tokens[at] !== ']') {
      if (args.length > 0) eat(',')
      eat('[')
      fields.push(tokens[at++] ?? bad('a field name'))
      eat(',')
      args.push(parse(depth + 1))
      eat(']')
    }
    at++
    eat(']')
    const node = { name, args, fields }
    // a type that is referred to by its name counts with all that is in it
    const levels = 1 + args.reduce((most, arg) => Math.max(most, levelsIn(arg)), 0)
    if (levels > MAX_NESTING) bad(`at most ${MAX_NESTING} levels`)
    levelsOf.set(node, levels)
    namedTuples.set(name, node)
    return node
  }

  const node = parse(0)
  if (at !== tokens.length) bad('the end')
  return node
}

export function typeText(type: TypeNode): string {
  if (type.args.length === 0 || type.fields !== undefined) return type.name
  return `${type.name}[${type.args.map(typeText).join(', ')}]`
}

/**
 * Whether a value is of a type, as TorchScript's isinstance sees it. An empty list answers by the element type
 * it was made with, or, if that is unknown, is a list of anything.
 */
export function matchesType(value: Value, type: TypeNode): boolean {
  return matches(value, type, null)
}

/** What is known of containers in containers: those that are shared are looked at once for each type. */
type Known = PairMap<Value, TypeNode, boolean>

function matches(value: Value, type: TypeNode, known: Known | null): boolean {
  switch (type.name) {
    case 'Any':
      return true
    case 'None':
    case 'NoneType':
      return value === null
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
    case 'float':
      return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))
    case 'complex':
      return value instanceof Complex
    case 'number':
    case 'Scalar':
      return typeof value === 'number' || typeof value === 'bigint' || value instanceof Float || value instanceof Complex
    case 'str':
      return typeof value === 'string'
    case 'Tensor':
      return value instanceof Tensor
    case 'Device':
      return value instanceof Device
    case 'list':
      return Array.isArray(value)
    case 'tuple':
      return value instanceof Tuple
    case 'List':
      return Array.isArray(value) && once(value, type, known, matchesList)
    case 'Dict':
      return value instanceof Map && once(value, type, known, matchesDict)
    case 'Tuple':
      return value instanceof Tuple && once(value, type, known, matchesTuple)
    case 'Optional':
      return value === null || type.args.some((arg) => matches(value, arg, known))
    case 'Union':
      return type.args.some((arg) => matches(value, arg, known))
    default:
      if (value instanceof ScriptObject) return value.typeName === type.name
      if (value instanceof CustomObject) return type.name.endsWith(`.${value.className}`)
      return value instanceof Tuple && type.fields !== undefined && once(value, type, known, matchesNamedTuple)
  }
}

/** `test` of a container, unless the answer is known. The outermost ones need not be remembered. */
function once<T extends Value>(
  value: T,
  type: TypeNode,
  known: Known | null,
  test: (value: T, type: TypeNode, known: Known) => boolean,
): boolean {
  if (known === null) return test(value, type, new PairMap())
  return known.get(value, type) ?? known.set(value, type, test(value, type, known))
}

function matchesTuple({ items }: Tuple, { args }: TypeNode, known: Known): boolean {
  return items.length === args.length && items.every((item, i) => matches(item, args[i]!, known))
}

function matchesNamedTuple(value: Tuple, type: TypeNode, known: Known): boolean {
  return value.fields !== undefined && value.fields.join() === type.fields!.join() && matchesTuple(value, type, known)
}

function matchesList(list: Value[], type: TypeNode, seen: Known): boolean {
  const element = type.args[0]
  if (element === undefined) return true
  if (list.length > 0) return list.every((item) => matches(item, element, seen))
  const known = listType(list)
  return known === undefined || known === typeText(element)
}

function matchesDict(dict: Map<DictKey, Value>, type: TypeNode, known: Known): boolean {
  const [key, item] = type.args
  if (key === undefined || item === undefined) return true
  for (const [k, v] of dict) {
    // float keys are plain numbers
    if (key.name === 'float' ? typeof k !== 'number' : !matches(k, key, known)) return false
    if (!matches(v, item, known)) return false
  }
  return true
}
