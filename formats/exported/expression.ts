/** An integer or condition that follows from sizes of inputs. */
export type Expression =
  | { readonly kind: 'int'; readonly value: number }
  /** A symbol, such as `s77`, or a size of an input as guards name it: `L['x'].size()[0]`. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly function: ExpressionFunction; readonly args: readonly Expression[] }

export type ExpressionFunction =
  | 'add'
  | 'sub'
  | 'mul'
  | 'floordiv'
  | 'mod'
  | 'pow'
  | 'max'
  | 'min'
  | 'neg'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'gt'
  | 'ge'
  | 'and'
  | 'or'
  | 'not'

export function isCondition(expression: Expression): boolean {
  return expression.kind === 'call' && CONDITIONS.has(expression.function)
}

const CONDITIONS: ReadonlySet<ExpressionFunction> = new Set(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'and', 'or', 'not'])

/** The operators on ints and bools that compute it, but for `not`. */
export const OPERATORS: Readonly<Record<Exclude<ExpressionFunction, 'not'>, string>> = {
  add: 'aten::add.int', sub: 'aten::sub.int', mul: 'aten::mul.int', floordiv: 'aten::floordiv.int', mod: 'aten::remainder.int', pow: 'aten::pow.int_to_int',
  max: 'prim::max.int', min: 'prim::min.int', neg: 'aten::neg.int', eq: 'aten::eq.int', ne: 'aten::ne.int', lt: 'aten::lt.int', le: 'aten::le.int',
  gt: 'aten::gt.int', ge: 'aten::ge.int', and: 'aten::__and__.bool', or: 'aten::__or__.bool',
} // prettier-ignore

/** Whether ints and conditions stand where they may: conditions in `and`, `or` and `not` alone. */
export function isSound(expression: Expression): boolean {
  if (expression.kind !== 'call') return true
  const takesConditions = expression.function === 'and' || expression.function === 'or' || expression.function === 'not'
  return expression.args.every((arg) => isCondition(arg) === takesConditions && isSound(arg))
}

export function namesIn(expression: Expression, names = new Set<string>()): Set<string> {
  if (expression.kind === 'name') names.add(expression.name)
  if (expression.kind === 'call') for (const arg of expression.args) namesIn(arg, names)
  return names
}

const SIGNS: Partial<Record<ExpressionFunction, string>> = {
  add: ' + ', sub: ' - ', mul: '*', floordiv: '//', mod: ' % ', pow: '**', eq: ' == ', ne: ' != ', lt: ' < ', le: ' <= ', gt: ' > ', ge: ' >= ', and: ' and ', or: ' or ',
} // prettier-ignore

/** As people write it: `2*s77 + 1`. */
export function textOfExpression(expression: Expression, isInner = false): string {
  if (expression.kind === 'int') return String(expression.value)
  if (expression.kind === 'name') return expression.name
  const { function: name, args } = expression
  const sign = SIGNS[name]
  if (sign === undefined) return `${name}(${args.map((arg) => textOfExpression(arg)).join(', ')})`
  const text = args.map((arg) => textOfExpression(arg, true)).join(sign)
  return isInner && name !== 'mul' ? `(${text})` : text
}

/** Factor and summand of an expression `factor * symbol + summand`; null for all others. */
export function linearIn(expression: Expression): { readonly symbol: string; readonly factor: number; readonly summand: number } | null {
  const terms = linearTerms(expression)
  if (terms === null || terms.factors.size !== 1) return null
  const [[symbol, factor]] = [...terms.factors] as [[string, number]]
  return factor === 0 ? null : { symbol, factor, summand: terms.summand }
}

interface Terms {
  readonly factors: ReadonlyMap<string, number>
  readonly summand: number
}

function linearTerms(expression: Expression): Terms | null {
  if (expression.kind === 'int') return { factors: new Map(), summand: expression.value }
  if (expression.kind === 'name') return { factors: new Map([[expression.name, 1]]), summand: 0 }
  const args = expression.args.map(linearTerms)
  if (args.includes(null)) return null
  const terms = args as Terms[]
  if (expression.function === 'add') return terms.reduce(plus)
  if (expression.function !== 'mul') return null
  return terms.reduce<Terms | null>((a, b) => {
    if (a === null || (a.factors.size > 0 && b.factors.size > 0)) return null
    const [linear, { summand }] = a.factors.size > 0 ? [a, b] : [b, a]
    return { factors: new Map([...linear.factors].map(([name, factor]) => [name, factor * summand])), summand: linear.summand * summand }
  }, ONE)
}

const ONE: Terms = { factors: new Map(), summand: 1 }

function plus(a: Terms, b: Terms): Terms {
  const factors = new Map(a.factors)
  for (const [name, factor] of b.factors) factors.set(name, (factors.get(name) ?? 0) + factor)
  return { factors, summand: a.summand + b.summand }
}
