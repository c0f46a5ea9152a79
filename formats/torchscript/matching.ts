import type { Builder } from './builder.js'
import { bind, convert, evaluate, isListOf, type Variables } from './convert.js'
import type { Value } from './graph.js'
import type { FormalArgument, Signature } from './schemas.js'
import { FLOAT, INT, isSubtype, type Type, UNKNOWN, withoutNone } from './types.js'

/*
 * Calls are matched with schemas by the rules of PyTorch's compiler: the first one that fits without conversions is meant, else the first one that
 * fits with them.
 */

export interface CallArguments {
  readonly args: readonly Value[]
  readonly keywords: readonly { readonly name: string; readonly value: Value }[]
}

export interface Match<T> {
  readonly signature: T
  /** One for each argument of the schema, or all that were given where it takes any number. */
  readonly inputs: readonly Value[]
  readonly returns: readonly Type[]
}

/** The signature that a call means; undefined, with nothing appended, where none fits. */
export function matchCall<T extends Signature>(builder: Builder, signatures: readonly T[], call: CallArguments): Match<T> | undefined {
  const conversions = signatures.length === 1 ? [true] : [false, true]
  const { length } = builder.block.nodes
  for (const implicitly of conversions) {
    for (const signature of signatures) {
      const match = matchOne(builder, signature, call, implicitly)
      if (match !== undefined) return match
      builder.rollBack(length)
    }
  }
  return undefined
}

function matchOne<T extends Signature>(builder: Builder, signature: T, call: CallArguments, implicitly: boolean): Match<T> | undefined {
  const { args, keywords } = call
  const variables: Variables = new Map()
  const inputs: Value[] = []
  let used = 0
  let usedKeywords = 0
  for (let i = 0; i < signature.args.length; i++) {
    const formal = signature.args[i]!
    let given: Value | undefined
    if (!formal.keywordOnly && used < args.length) {
      if (implicitly && takesRest(signature, i) && !isList(args[used]!.type, formal.type)) {
        const list = restAsList(builder, formal.type, args.slice(used))
        if (list === undefined) return undefined
        inputs.push(list)
        used = args.length
        continue
      }
      given = args[used++]
    } else {
      given = keywords.find(({ name }) => name === formal.name || (formal.name === 'self' && name === 'input'))?.value
      if (given !== undefined) usedKeywords++
      else if (formal.default !== undefined) {
        // of the schema's type, whatever the value looks like
        inputs.push(builder.constant(copied(builder, formal.default), evaluate(formal.type, variables) ?? UNKNOWN))
        continue
      } else return undefined
    }
    const input = fitted(builder, formal, given!, implicitly, variables)
    if (input === undefined) return undefined
    inputs.push(input)
  }
  if (signature.isVararg) inputs.push(...args.slice(used))
  else if (used < args.length) return undefined
  if (usedKeywords < keywords.length) return undefined
  const returns = signature.returns.map((type) => evaluate(type, variables))
  return returns.every((type) => type !== undefined) ? { signature, inputs, returns } : undefined
}

function copied<T>(builder: Builder, value: T): T {
  if (!Array.isArray(value)) return value
  builder.library.spend(value.length)
  return value.slice() as T
}

/** What is given for an argument, converted; undefined where it is of another type. */
function fitted(builder: Builder, formal: FormalArgument, given: Value, implicitly: boolean, variables: Variables): Value | undefined {
  let value = given
  // int[2] takes one int for two of them
  if (formal.listSize !== null && isElement(value.type, formal.type)) {
    value = builder.list(value.type, new Array<Value>(formal.listSize).fill(value))
  }
  const type = bind(formal.type, value.type, variables)
  if (type === undefined) return value.type === UNKNOWN ? value : undefined
  value = convert(builder, type, value, implicitly)
  return isSubtype(value.type, type) ? value : undefined
}

function isElement(type: Type, list: Type): boolean {
  const element = withoutNone(list).args[0]
  return (type === INT && element === INT) || (type === FLOAT && element === FLOAT)
}

/** zeros(2, 3) is zeros([2, 3]): the last argument that has no name of its own takes what is left, if it is a list. */
function takesRest({ args }: Signature, i: number): boolean {
  const { type, listSize } = args[i]!
  const isLast = i + 1 === args.length || args[i + 1]!.keywordOnly
  return isLast && type.kind === 'List' && type.args[0]!.kind !== 'variable' && listSize === null
}

function isList(actual: Type, formal: Type): boolean {
  return actual.kind === 'List' || actual === UNKNOWN || isListOf(actual, formal)
}

function restAsList(builder: Builder, type: Type, values: readonly Value[]): Value | undefined {
  const element = type.args[0]!
  const items = values.map((value) => convert(builder, element, value, true))
  return items.every((item) => isSubtype(item.type, element)) ? builder.list(element, items) : undefined
}
