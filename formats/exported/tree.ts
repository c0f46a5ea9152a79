import { utf8 } from '../../runtime/encoding.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { damaged, guarded, unsupported } from '../../program/file-error.js'
import { type Json, JsonReader } from './json.js'
import { countOf, listOf, objectOf, textOf } from './json-values.js'

/** A key of a dict. */
export type TreeKey = string | number

/** How arguments or results are put together from values, which are in order of their leaves. */
export type Tree =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'tuple' | 'list'; readonly children: readonly Tree[] }
  | { readonly kind: 'dict'; readonly keys: readonly TreeKey[]; readonly children: readonly Tree[] }
  | { readonly kind: 'namedtuple'; readonly name: string; readonly fields: readonly string[]; readonly children: readonly Tree[] }

const TREE_VERSION = 1
const MAX_DEPTH = 64

/** Field names of named tuples by type. */
export type TupleFields = ReadonlyMap<string, readonly string[]>

/** `treespec_namedtuple_fields` of a program. */
export function readTupleFields(json: Json | undefined): TupleFields {
  if (json === undefined || json === null) return new Map()
  return new Map(
    [...objectOf(json)].map(([name, item]) => [name, listOf(objectOf(item).get('field_names')).map((field) => textOf(field))] as const),
  )
}

/** A TreeSpec in the JSON that torch.utils._pytree writes. */
export function readTree(text: string, fields: TupleFields, budget: ValueBudget): Tree {
  return guarded('a tree of arguments', () => {
    const [version, root] = listOf(jsonOf(text, budget))
    if (version !== TREE_VERSION) throw unsupported(`trees of version ${String(version)}; expected ${TREE_VERSION}`)
    return readNode(root, fields, budget, 0)
  })
}

function jsonOf(text: string, budget: ValueBudget): Json {
  return new JsonReader(utf8(text), budget).document()
}

function readNode(json: Json | undefined, fields: TupleFields, budget: ValueBudget, depth: number): Tree {
  if (depth > MAX_DEPTH) throw damaged(`it is nested more than ${MAX_DEPTH} deep`)
  const node = objectOf(json)
  const type = node.get('type') ?? null
  if (type === null) return { kind: 'leaf' }
  const name = textOf(type)
  const children = listOf(node.get('children_spec')).map((child) => readNode(child, fields, budget, depth + 1))
  const context = node.get('context') ?? null
  const read = (): Json => (context === null ? null : jsonOf(textOf(context), budget))
  switch (name) {
    case 'builtins.tuple':
      return { kind: 'tuple', children }
    case 'builtins.list':
    case 'collections.deque':
      return { kind: 'list', children }
    case 'builtins.dict':
    case 'collections.OrderedDict':
      return dictOf(read(), children)
    case 'collections.defaultdict':
      return dictOf(keysOfDefaultDict(read()), children)
    case 'collections.namedtuple':
      return namedTuple(textOf(context), children, fields)
    default:
      return fields.has(name) ? namedTuple(name, children, fields) : registered(context, children, budget)
  }
}

function dictOf(keys: Json, children: readonly Tree[]): Tree {
  const list = listOf(keys, 'the keys of a dict').map(keyOf)
  if (list.length !== children.length || new Set(list).size !== list.length)
    throw damaged(`a dict has ${list.length} keys for ${children.length} values, or has one of them twice`)
  return { kind: 'dict', keys: list, children }
}

function keyOf(key: Json): TreeKey {
  return typeof key === 'number' ? countOf(key, 'a key', Number.MIN_SAFE_INTEGER) : textOf(key, 'a text or int as key of a dict')
}

function keysOfDefaultDict(context: Json): Json {
  return objectOf(context).get('dict_context') ?? null
}

function namedTuple(name: string, children: readonly Tree[], known: TupleFields): Tree {
  const fields = known.get(name)
  if (fields?.length !== children.length) throw damaged(`a named tuple of ${children.length} values without as many names`)
  if (!fields.every((field) => /^[A-Za-z_]\w*$/.test(field))) throw damaged('a named tuple has a field of no proper name')
  return { kind: 'namedtuple', name: name.replaceAll(/[^\w.]/g, '_'), fields, children }
}

/** Classes that their library registered: with names for their values they are dicts, without them tuples. */
function registered(context: Json, children: readonly Tree[], budget: ValueBudget): Tree {
  const keys = namesIn(context, budget)
  return keys?.length === children.length && children.length > 0 ? dictOf([...keys], children) : { kind: 'tuple', children }
}

/** The names in what a class says of itself, which may be anything: a list of texts, or a list that begins with one. */
function namesIn(context: Json, budget: ValueBudget): readonly string[] | null {
  let value: Json
  try {
    value = typeof context === 'string' ? jsonOf(context, budget) : null
  } catch {
    return null
  }
  const list = Array.isArray(value) && Array.isArray(value[0]) ? value[0] : value
  const isNames = Array.isArray(list) && list.every((item) => typeof item === 'string') && new Set(list).size === list.length
  return isNames ? (list as string[]) : null
}

export function leavesOf(tree: Tree): number {
  return tree.kind === 'leaf' ? 1 : tree.children.reduce((sum, child) => sum + leavesOf(child), 0)
}

/** The trees of a program's arguments and result, and the names of its arguments; null where the file has none. */
export interface CallTrees {
  readonly inputs: Tree
  readonly outputs: Tree
  readonly names: readonly string[] | null
}

/** The signature of the program's own call, which the first entry of the call graph has. */
export function readCallTrees(json: Json | undefined, fields: TupleFields, budget: ValueBudget): CallTrees | null {
  const entry = listOf(json ?? [])
    .map((item) => objectOf(item))
    .find((item) => item.get('fqn') === '')
  const signature = entry?.get('signature') ?? null
  if (signature === null) return null
  const call = objectOf(signature)
  const names = call.get('forward_arg_names') ?? null
  return {
    inputs: readTree(textOf(call.get('in_spec')), fields, budget),
    outputs: readTree(textOf(call.get('out_spec')), fields, budget),
    names: names === null ? null : listOf(names).map((name) => textOf(name)),
  }
}
