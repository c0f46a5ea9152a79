import { pace } from '../runtime/pace.js'
import type { ScriptObject } from '../runtime/tensor/value.js'

/** Levels of lists in lists that are told apart. */
const MAX_DEPTH = 16
/** Characters of an argument's text. */
const MAX_TEXT = 200

/** What is known of a value before anything runs. Shared, and never changed. */
export type Flow =
  /** It comes from one of these nodes, by their keys; sorted. */
  | { readonly kind: 'nodes'; readonly keys: readonly number[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'attribute'; readonly name: string }
  | { readonly kind: 'object'; readonly object: ScriptObject; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Flow[]; readonly brackets: string; readonly depth: number }

export const UNKNOWN: Flow = { kind: 'text', text: '…' }

export const ofNode = (key: number): Flow => ({ kind: 'nodes', keys: [key] })
export const ofText = (text: string): Flow => ({ kind: 'text', text })

/** Counts work, so that a file cannot ask for any amount of it. */
export class Effort {
  private left: number

  constructor(limit: number) {
    this.left = limit
  }

  /** Throws TOO_LARGE where there is none left. */
  spend(amount: number): void {
    pace(amount)
    this.left -= amount
    if (this.left < 0) throw TOO_LARGE
  }
}

/** Thrown where a graph takes more than there is. */
export const TOO_LARGE = new Error('the graph is too large')

/** A list or tuple of values. What is nested deeper than anyone looks becomes the nodes that it is made from. */
export function listOf(items: readonly Flow[], brackets: string, effort: Effort): Flow {
  effort.spend(items.length)
  const depth = 1 + items.reduce((most, item) => Math.max(most, item.kind === 'list' ? item.depth : 0), 0)
  const list: Flow = { kind: 'list', items, brackets, depth }
  return depth > MAX_DEPTH ? fromNodes(keysOf([list], effort)) : list
}

function fromNodes(keys: readonly number[]): Flow {
  return keys.length === 0 ? UNKNOWN : { kind: 'nodes', keys }
}

/** What a part of a value comes from. */
export function partOf(value: Flow, effort: Effort): Flow {
  return value.kind === 'nodes' ? value : fromNodes(keysOf([value], effort))
}

/** The nodes that values come from; sorted. */
export function keysOf(values: readonly Flow[], effort: Effort): number[] {
  const keys = new Set<number>()
  const seen = new Set<Flow>()
  const visit = (value: Flow): void => {
    effort.spend(1)
    if (value.kind === 'nodes') {
      effort.spend(value.keys.length)
      for (const key of value.keys) keys.add(key)
    } else if (value.kind === 'list' && !seen.has(value)) {
      seen.add(value)
      value.items.forEach(visit)
    }
  }
  values.forEach(visit)
  return [...keys].sort((a, b) => a - b)
}

/** Names of the attributes in values. */
export function attributesOf(values: readonly Flow[], effort: Effort): string[] {
  const names = new Set<string>()
  const seen = new Set<Flow>()
  const visit = (value: Flow): void => {
    effort.spend(1)
    if (value.kind === 'attribute') names.add(value.name)
    else if (value.kind === 'list' && !seen.has(value)) {
      seen.add(value)
      value.items.forEach(visit)
    }
  }
  values.forEach(visit)
  return [...names]
}

/** What is known of a value that is one or the other, where paths meet: `a` itself where `b` brings nothing new. */
export function either(a: Flow, b: Flow, effort: Effort): Flow {
  effort.spend(1)
  if (a === b || isSame(a, b)) return a
  const both = fromNodes(keysOf([a, b], effort))
  return isSame(a, both) ? a : both
}

function isSame(a: Flow, b: Flow): boolean {
  switch (a.kind) {
    case 'nodes':
      return b.kind === 'nodes' && a.keys.length === b.keys.length && a.keys.every((key, i) => key === b.keys[i])
    case 'text':
      return b.kind === 'text' && a.text === b.text
    case 'attribute':
      return b.kind === 'attribute' && a.name === b.name
    case 'object':
      return b.kind === 'object' && a.object === b.object
    case 'list':
      return (
        b.kind === 'list' &&
        a.brackets === b.brackets &&
        a.items.length === b.items.length &&
        a.items.length <= MAX_DEPTH &&
        a.items.every((item, i) => item === b.items[i])
      )
  }
}

/** The truth of a value, where the file says it. */
export function truthOf(value: Flow): boolean | null {
  return value.kind !== 'text' ? null : value.text === 'True' ? true : value.text === 'False' ? false : null
}

/** Whether two values are the same object, where one of them is None and the file tells. */
export function identity(a: Flow, b: Flow): boolean | null {
  const isNone = (value: Flow): boolean | null =>
    value.kind === 'nodes' || value === UNKNOWN ? null : value.kind === 'text' && value.text === 'None'
  const [left, right] = [isNone(a), isNone(b)]
  return left === null || right === null || (!left && !right) ? null : left === right
}

/** A value as text; `numberOf` gives the number of a node. */
export function flowText(value: Flow, numberOf: (key: number) => number): string {
  let text = ''
  const add = (part: string): boolean => {
    text += part
    return text.length <= MAX_TEXT
  }
  const write = (value: Flow): boolean => {
    switch (value.kind) {
      case 'nodes':
        return value.keys.every((key, i) => add(`${i === 0 ? '' : ' or '}%${numberOf(key)}`))
      case 'list': {
        const [open, close] = value.brackets
        return add(open!) && value.items.every((item, i) => (i === 0 || add(', ')) && write(item)) && add(close!)
      }
      case 'text':
        return add(value.text)
      default:
        return add(value.name === '' ? 'self' : value.name)
    }
  }
  return write(value) ? text : `${text.slice(0, MAX_TEXT)}…`
}
