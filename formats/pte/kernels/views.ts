import { findOperator, type OperatorEntry } from '../../../runtime/operators/table/registry.js'
import type { MethodEmitter } from '../method-emitter.js'

/** Operators that copy a tensor as it is. */
const COPIES: ReadonlySet<string> = new Set(['aten::alias_copy', 'aten::clone', 'aten::detach_copy', 'aten::lift_fresh_copy'])
/** Views whose strides are those of this runtime, which may be others than PyTorch's. */
const OWN: Readonly<Record<string, string>> = { 'aten::view_copy': 'aten::reshape', 'aten::_reshape_copy': 'aten::reshape' }
/** Copies that depend on the strides of what they are of. */
const STRIDED: ReadonlySet<string> = new Set(['aten::as_strided_copy', 'aten::_reshape_alias_copy', 'aten::view_copy.dtype'])

/**
 * The operator to call for one that makes results: for a copy of a view the view, where nobody writes to either. null where that is the argument itself, which is
 * stored as the result.
 */
export function viewOf(
  { qualifiedName }: OperatorEntry,
  args: readonly number[],
  results: readonly number[],
  emitter: MethodEmitter,
): string | null {
  const [self, result] = [args[0], results[0]]
  if (self === undefined || result === undefined || !emitter.mayAlias(self, result)) return qualifiedName
  if (COPIES.has(qualifiedName)) {
    if (emitter.isResult(result)) return qualifiedName
    storeAs(self, result, emitter)
    return null
  }
  if (STRIDED.has(qualifiedName)) return qualifiedName
  const own = OWN[qualifiedName]
  if (own !== undefined) return own
  const match = /^(\w+::\w+)_copy((?:\.\w+)?)$/.exec(qualifiedName)
  if (match === null) return qualifiedName
  const view = match[1]! + match[2]!
  return view.startsWith('aten::_') || findOperator(view) === undefined || NO_VIEWS.has(view) ? qualifiedName : view
}

/** What has the name of a view with a copy, and is none. */
const NO_VIEWS: ReadonlySet<string> = new Set(['aten::index', 'aten::narrow'])

/** One tensor under another name. */
export function storeAs(self: number, result: number, emitter: MethodEmitter): void {
  emitter.push(self)
  emitter.store(result)
}
