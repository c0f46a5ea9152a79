import type { DictKey, Value } from '../../../runtime/tensor/value.js'
import { Tuple } from '../../../runtime/tensor/value.js'
import type { AlignedArg } from './aligned.js'

/* How arguments and results are put together, in the JSON of torch.utils._pytree. */

interface Spec {
  readonly type: string | null
  readonly context: string | null
  readonly children_spec: readonly Spec[]
}

const LEAF: Spec = { type: null, context: null, children_spec: [] }

function sequence(type: 'list' | 'tuple', children: readonly Spec[]): Spec {
  return { type: `builtins.${type}`, context: 'null', children_spec: children }
}

function dict(keys: readonly DictKey[], children: readonly Spec[]): Spec {
  return { type: 'builtins.dict', context: JSON.stringify(keys), children_spec: children }
}

function textOf(spec: Spec): string {
  return JSON.stringify([1, spec])
}

function ofValue(value: Value): Spec {
  if (Array.isArray(value)) return sequence('list', value.map(ofValue))
  if (value instanceof Tuple) return sequence('tuple', value.items.map(ofValue))
  if (value instanceof Map) return dict([...value.keys()], [...value.values()].map(ofValue))
  return LEAF
}

/** Of the arguments of a call. */
export function argumentTree(args: readonly Value[]): string {
  return textOf(sequence('tuple', [sequence('tuple', args.map(ofValue)), dict([], [])]))
}

/** The values at the leaves of arguments, in order. */
export function leavesIn(value: Value): Value[] {
  if (Array.isArray(value)) return value.flatMap(leavesIn)
  if (value instanceof Tuple) return value.items.flatMap(leavesIn)
  if (value instanceof Map) return [...value.values()].flatMap(leavesIn)
  return [value]
}

function ofArg(arg: AlignedArg): Spec {
  if (arg.kind === 'list' || arg.kind === 'tuple') return sequence(arg.kind, arg.items.map(ofArg))
  if (arg.kind === 'dict') return dict(arg.keys, arg.items.map(ofArg))
  return LEAF
}

/** Of a result. */
export function resultTree(result: AlignedArg): string {
  return textOf(ofArg(result))
}

/** The values at the leaves of a result. */
export function leavesOfResult(result: AlignedArg): AlignedArg[] {
  return 'items' in result ? result.items.flatMap(leavesOfResult) : [result]
}
