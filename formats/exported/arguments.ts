import type { FunctionArgument } from '../../program/code.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CodeBuilder } from './code-builder.js'
import { damaged } from '../../program/file-error.js'
import type { Tree, TreeKey } from './tree.js'

/** A value that a caller passes, at its place in the arguments. */
export interface Leaf {
  /** As guards and messages name it: `x`, `batch['ids']`, `pair[0]`. */
  readonly path: string
  readonly register: number
}

/** An argument of the program's own call. */
export interface CallArgument {
  readonly name: string
  readonly tree: Tree
}

/** Positional and keyword arguments in order. `tree` is that of (args, kwargs). */
export function callArguments(tree: Tree, names: readonly string[] | null): CallArgument[] {
  const [positional, keyword] = tree.kind === 'tuple' ? tree.children : []
  if (positional?.kind !== 'tuple' || keyword?.kind !== 'dict') throw damaged('the arguments are no pair of a tuple and a dict')
  const trees = [...positional.children, ...keyword.children]
  const used = new Set<string>()
  return trees.map((child, i) => {
    const key = i < positional.children.length ? undefined : keyword.keys[i - positional.children.length]
    const given = key === undefined ? (names?.[i] ?? `arg${i}`) : String(key)
    const name = used.has(given) || given === 'self' ? `arg${i}` : given
    used.add(name)
    return { name, tree: child }
  })
}

/** Arguments of a program that does not say how they belong together. */
export function flatArguments(count: number, names: readonly string[]): CallArgument[] {
  return Array.from({ length: count }, (_, i) => ({ name: names[i] ?? `arg${i}`, tree: { kind: 'leaf' } }))
}

/** What a schema says of one value: its type, and the value itself where it can be no other. */
export interface LeafType {
  readonly type: string
  readonly default?: Value
}

/** What a schema says of an argument; `leaves` are the values in it. */
export function schemaArgument({ name, tree }: CallArgument, leaves: readonly LeafType[]): FunctionArgument {
  return { name, type: typeText(tree, leaves), default: tree.kind === 'leaf' ? leaves[0]?.default : undefined }
}

/** The type text of a tree: of containers of several types `Any`, whose values the code looks at. */
export function typeText(tree: Tree, leaves: readonly LeafType[]): string {
  let next = 0
  const of = (node: Tree): string => {
    switch (node.kind) {
      case 'leaf':
        return leaves[next++]?.type ?? 'Any'
      case 'tuple':
        return `Tuple[${node.children.map(of).join(', ')}]`
      case 'list':
        return commonType(node.children.map(of), (type) => `List[${type}]`)
      case 'dict': {
        const type = commonType(node.children.map(of), (item) => `Dict[str, ${item}]`)
        return node.keys.every((key) => typeof key === 'string') ? type : 'Any'
      }
      case 'namedtuple':
        for (const child of node.children) of(child)
        return 'Any'
    }
  }
  return of(tree)
}

function commonType(types: readonly string[], container: (type: string) => string): string {
  const [first] = types
  return first !== undefined && types.every((type) => type === first) ? container(first) : 'Any'
}

/** Takes the values at the leaves of an argument, which is in `register`, apart; each gets a register. */
export function takeApart(tree: Tree, register: number, path: string, builder: CodeBuilder): Leaf[] {
  if (tree.kind === 'leaf') return [{ path, register }]
  const { children } = tree
  const keys: readonly TreeKey[] = tree.kind === 'dict' ? tree.keys : children.map((_, i) => i)
  const registers = children.map(() => builder.allocate())
  if (tree.kind === 'dict') {
    keys.forEach((key, i) => {
      builder.emit('LOAD', register)
      builder.constant(key)
      builder.emit('DICT_INDEX')
      builder.emit('STORE', registers[i]!)
    })
  } else if (children.length > 0) unpackSequence(register, registers, builder)
  return children.flatMap((child, i) => takeApart(child, registers[i]!, `${path}${accessor(tree, keys[i]!, i)}`, builder))
}

/** Callers may pass an array where the model has a tuple. */
function unpackSequence(register: number, registers: readonly number[], builder: CodeBuilder): void {
  const [tuple, end] = [builder.label(), builder.label()]
  const store = (): void => {
    for (const target of [...registers].reverse()) builder.emit('STORE', target)
  }
  builder.emit('LOAD', register)
  builder.emit('ISINSTANCE', builder.type('list'), 1)
  builder.jump('JF', tuple)
  builder.emit('LOAD', register)
  builder.emit('LIST_UNPACK', registers.length)
  store()
  builder.jump('JMP', end)
  builder.place(tuple)
  registers.forEach((target, i) => {
    builder.emit('LOAD', register)
    builder.constant(i)
    builder.emit('TUPLE_INDEX')
    builder.emit('STORE', target)
  })
  builder.place(end)
}

function accessor(tree: Tree, key: TreeKey, index: number): string {
  if (tree.kind === 'namedtuple') return `.${tree.fields[index]!}`
  return typeof key === 'string' ? `['${key}']` : `[${key}]`
}

/** Puts the values at the leaves together; `push` pushes the next one. The result is on the stack. */
export function putTogether(tree: Tree, builder: CodeBuilder, push: () => void): void {
  if (tree.kind === 'leaf') return push()
  tree.children.forEach((child, i) => {
    if (tree.kind === 'dict') builder.constant(tree.keys[i]!)
    putTogether(child, builder, push)
  })
  const count = tree.children.length
  switch (tree.kind) {
    case 'tuple':
      return builder.emit('TUPLE_CONSTRUCT', count)
    case 'list':
      return builder.emit('LIST_CONSTRUCT', builder.type('List[Any]'), count)
    case 'dict':
      return builder.emit('DICT_CONSTRUCT', builder.type('Dict[str, Any]'), 2 * count)
    case 'namedtuple': {
      const fields = tree.fields.map((field) => `[${field}, Any]`).join(', ')
      return builder.emit('NAMED_TUPLE_CONSTRUCT', builder.type(`${tree.name}[NamedTuple, [${fields}]]`), count)
    }
  }
}
