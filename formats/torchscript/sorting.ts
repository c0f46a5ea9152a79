import type { Expressions } from './expressions.js'
import type { Value } from './graph.js'
import type { CallArguments } from './matching.js'
import { callFunction, callOperator, callOperatorWith } from './operator-calls.js'
import { sortText } from './sort-text.js'
import { isTuple, onceForEach, type Type } from './types.js'

/** A call of what code names as an operator. */
export function callNamed(code: Expressions, name: string, call: CallArguments): Value {
  const sorted = name === 'aten::sort' || name === 'aten::sorted' ? sortByMethod(code, name, call) : undefined
  return sorted ?? callOperatorWith(code, name, call)
}

/**
 * `sort` and `sorted` of objects whose class has `__lt__`, and of tuples with such objects: operators call no methods, so a function is written for lists of this type.
 * undefined for lists that operators sort, or refuse when they run.
 */
function sortByMethod(code: Expressions, name: string, { args, keywords }: CallArguments): Value | undefined {
  const [list, ...rest] = args
  const element = list?.type.kind === 'List' ? list.type.args[0]! : undefined
  if (element === undefined || !holdsObjects(element)) return undefined
  const { builder, library } = code
  const hasMethod = (type: Type): boolean => library.findClass(type.text)?.methods.has('__lt__') === true
  const namespace = library.written(`sort of ${element.text}`, () => sortText(element, hasMethod))
  const unit = namespace === undefined ? undefined : library.findFunction(`${namespace}.sort`)
  if (unit === undefined) return undefined
  const isSorted = name === 'aten::sorted'
  const sorted = isSorted ? callOperator(code, 'aten::list', [list!]) : list!
  const order = rest.length === 0 && keywords.length === 0 ? [builder.constant(false)] : rest
  const result = callFunction(code, unit, { args: [sorted, ...order], keywords })
  return isSorted ? sorted : result
}

const holdsObjects = onceForEach((type): boolean => type.kind === 'class' || (isTuple(type) && type.args.some((arg) => holdsObjects(arg))))
