import { PtliteError } from '../../runtime/error.js'
import { rebuild, type Rebuilding } from '../../runtime/tensor/rebuild.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import { leafValue, type Output, outputOfLeaf, wholeValue } from './convert-leaf.js'
import { foreignContainer } from './foreign.js'

/** An argument that holds others as a value of the runtime; `known` containers are one already. Throws INVALID_ARGUMENT for what is in itself. */
export function valueOfContainer(input: unknown, known?: WeakSet<object>): Value {
  return rebuild<unknown, Value>(input, known === undefined ? ARGUMENTS : argumentsBut(known)) as Value
}

function argumentsBut(known: WeakSet<object>): Rebuilding<unknown, Value> {
  const isKnown = (value: unknown): value is Value => typeof value === 'object' && value !== null && known.has(value)
  return {
    ...ARGUMENTS,
    itemsOf: (value) => (isKnown(value) ? null : ARGUMENTS.itemsOf(value)),
    leaf: (value) => (isKnown(value) ? value : leafValue(value)),
  }
}

/** The caller's form of a list, tuple or dict. What is shared, or in itself, is so in the result. */
export function outputOfContainer(value: Value): Output {
  return rebuild<Value, Output>(value, RESULTS) as Output
}

/** Arguments as values: arrays, dicts and tuples of which nothing needs conversion are taken as they are. */
const ARGUMENTS: Rebuilding<unknown, Value> = {
  itemsOf(value) {
    if (typeof value !== 'object' || value === null || value instanceof Tensor) return null
    if (Array.isArray(value)) return iterable(value)
    if (value instanceof Tuple) return value.items
    return value instanceof Map ? [...(value as Map<unknown, unknown>)].flat() : (foreignContainer(value)?.items ?? null)
  },
  leaf: leafValue,
  isForeign: (value) => !(Array.isArray(value) || value instanceof Tuple || value instanceof Map),
  shell(value) {
    if (Array.isArray(value)) return []
    if (value instanceof Tuple) return new Tuple([], value.fields)
    return value instanceof Map ? new Map() : foreignContainer(value as object)!.shell()
  },
  fill: fillContainer,
  refuseCycle() {
    throw new PtliteError('INVALID_ARGUMENT', 'a list, tuple or dict is in itself')
  },
}

/** Operators walk through lists: one without a prototype cannot be. */
function iterable(list: unknown[]): unknown[] {
  if (Symbol.iterator in list) return list
  throw new PtliteError('INVALID_ARGUMENT', 'expected an array, found one without the methods of arrays')
}

/** Puts items into a new container; those of a dict are its keys and values in turn. */
function fillContainer(container: Value, items: readonly Value[]): void {
  if (container instanceof Map) {
    for (let i = 0; i < items.length; i += 2) container.set(items[i] as DictKey, wholeValue(items[i + 1]!))
    return
  }
  const list = container instanceof Tuple ? container.items : (container as Value[])
  for (const item of items) list.push(wholeValue(item))
}

/** Lists and dicts that hold nothing that needs conversion are given as they are. */
const RESULTS: Rebuilding<Value, Output> = {
  itemsOf(value) {
    if (typeof value !== 'object' || value instanceof Tensor) return null
    if (Array.isArray(value)) return value
    if (value instanceof Tuple) return value.items
    return value instanceof Map ? [...value].flat() : null
  },
  leaf: outputOfLeaf,
  isForeign: (value) => value instanceof Tuple,
  shell: (value) => (value instanceof Map ? new Map() : []),
  fill(shell, items) {
    if (shell instanceof Map) for (let i = 0; i < items.length; i += 2) shell.set(items[i] as DictKey, items[i + 1]!)
    else for (const item of items) (shell as Output[]).push(item)
  },
}
