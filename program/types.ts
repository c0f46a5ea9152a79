import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'

/** A parsed type text: `Dict[str, List[int]]`, a class name, or a NamedTuple with its fields. */
export interface TypeNode {
  readonly name: string
  readonly args: readonly TypeNode[]
  readonly fields?: readonly string[]
}

/** NamedTuples by name: a file defines each one inline where it first occurs and uses its bare name afterwards. */
export type NamedTuples = Map<string, TypeNode>

const MAX_NESTING = 64

/** Types that were parsed with these NamedTuples: functions name the same one hundreds of times. */
const parsedWith = new WeakMap<NamedTuples, Map<string, TypeNode>>()

/** Of NamedTuples: how deep their types are nested. */
const levelsOf = new WeakMap<TypeNode, number>()

function levelsIn(type: TypeNode): number {
  return levelsOf.get(type) ?? (type.args.length === 0 ? 0 : 1 + type.args.reduce((most, arg) => Math.max(most, levelsIn(arg)), 0))
}

/** Parses a type as TorchScript prints it. Unknown names are class names. Throws INVALID_FILE for text that is not a type. */
export function parseType(text: string, namedTuples: NamedTuples): TypeNode {
  const parsed = parsedWith.get(namedTuples) ?? new Map<string, TypeNode>()
  parsedWith.set(namedTuples, parsed)
  const type = parsed.get(text) ?? parse(text, namedTuples)
  // what has a comma may define a NamedTuple, whose name means something else from then on
  if (text.includes(',')) parsed.clear()
  else parsed.set(text, type)
  return type
}

function parse(text: string, namedTuples: NamedTuples): TypeNode {
  pace(16 * text.length)
  const tokens = text.match(/[^\s[\],]+|[[\],]/g) ?? []
  let at = 0

  const bad = (what: string): never => {
    throw new PtliteError('INVALID_FILE', `type '${text.slice(0, 200)}': expected ${what}`)
  }
  const eat = (token: string): void => {
    if (tokens[at++] !== token) bad(`'${token}'`)
  }

  const parseAt = (depth: number): TypeNode => {
    if (depth > MAX_NESTING) bad(`at most ${MAX_NESTING} levels`)
    const name = tokens[at++]
    if (name === undefined || name === '[' || name === ']' || name === ',') return bad('a name')
    if (tokens[at] !== '[') return namedTuples.get(name) ?? { name, args: [] }
    at++
    if (tokens[at] === 'NamedTuple') return parseNamedTuple(name, depth)
    const args: TypeNode[] = []
    while (tokens[at] !== ']') {
      if (args.length > 0) eat(',')
      args.push(parseAt(depth + 1))
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
      args.push(parseAt(depth + 1))
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

  const node = parseAt(0)
  if (at !== tokens.length) bad('the end')
  return node
}

export function typeText(type: TypeNode): string {
  if (type.args.length === 0 || type.fields !== undefined) return type.name
  return `${type.name}[${type.args.map(typeText).join(', ')}]`
}
