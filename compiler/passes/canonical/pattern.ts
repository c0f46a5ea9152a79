import { type Arg, type GraphNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, integersArg, numberArg, onlyResult, valueArg } from '../analysis.js'
import { clampOf, madeBy, near, plusNumber, type Product, productOf, sumOf } from '../expression.js'

/* What an expression of several operators looks like: patterns are made of patterns, and are tested from the last operator on. */

/** What the names in a pattern stand for, and the graph that it is looked for in. */
export class Match {
  private readonly values = new Map<string, ValueId>()
  private readonly axes = new Map<string, number>()

  constructor(readonly analysis: Analysis) {}

  /** The value of a name. Only asked for names that a pattern has. */
  value(name: string): ValueId {
    return this.values.get(name)!
  }

  /** The dimension of a name, counted from the front. */
  axis(name: string): number {
    return this.axes.get(name)!
  }

  /** True where the name stands for this value, as it does from now on if it has none yet. */
  bind(name: string, id: ValueId): boolean {
    if (!this.values.has(name)) this.values.set(name, id)
    return this.values.get(name) === id
  }

  bindAxis(name: string, axis: number): boolean {
    if (!this.axes.has(name)) this.axes.set(name, axis)
    return this.axes.get(name) === axis
  }

  /** Tries a pattern; names that it gave values go where it does not fit. */
  attempt(test: () => boolean): boolean {
    const [values, axes] = [new Map(this.values), new Map(this.axes)]
    if (test()) return true
    restore(this.values, values)
    restore(this.axes, axes)
    return false
  }
}

function restore<V>(into: Map<string, V>, from: ReadonlyMap<string, V>): void {
  into.clear()
  for (const [name, item] of from) into.set(name, item)
}

export type Pattern = (arg: Arg, match: Match) => boolean

/** Any value, the same one wherever the name stands. */
export const named =
  (name: string, pattern: Pattern = () => true): Pattern =>
  (arg, match) => {
    const id = valueArg(arg)
    return id !== undefined && pattern(arg, match) && match.bind(name, id)
  }

/** The one dimension that an argument names, of as many as the value `of` has. */
export const axis =
  (name: string, of: string): Pattern =>
  (arg, match) => {
    const [dim, ...others] = integersArg(arg) ?? [numberArg(arg)]
    const rank = match.analysis.type(match.value(of)).shape.length
    return dim !== undefined && others.length === 0 && match.bindAxis(name, dim < 0 ? dim + rank : dim)
  }

/** This bool, number or None. */
export const given =
  (expected: boolean | number | null): Pattern =>
  (arg) =>
    arg.kind === 'constant' && (arg.value === expected || (typeof expected === 'number' && numberArg(arg) === expected))

/** The result of an operator. */
export const call =
  (op: string, ...patterns: readonly Pattern[]): Pattern =>
  (arg, match) => {
    const node = madeBy(arg, match.analysis)
    return node?.op === op && onlyResult(node) !== undefined && patterns.every((pattern, i) => pattern(node.args[i]!, match))
  }

export const anyOf =
  (...patterns: readonly Pattern[]): Pattern =>
  (arg, match) =>
    patterns.some((pattern) => match.attempt(() => pattern(arg, match)))

/** `scale` times all of these, in any order; whole powers count as so many factors. */
export const product =
  (scale: number, ...patterns: readonly Pattern[]): Pattern =>
  (arg, match) =>
    productsOf(arg, match.analysis).some(
      (found) => near(found.scale, scale) && found.factors.length === patterns.length && inSomeOrder(found.factors, patterns, match),
    )

/** The factors as they are written, which may be products themselves, and taken apart. */
function productsOf(arg: Arg, analysis: Analysis): Product[] {
  const node = madeBy(arg, analysis)
  const [a, b] = node?.args.map(valueArg) ?? []
  const written = node?.op === 'aten::mul.Tensor' && a !== undefined && b !== undefined ? [{ scale: 1, factors: [a, b] }] : []
  return valueArg(arg) === undefined ? [] : [...written, productOf(arg, analysis)]
}

function inSomeOrder(factors: readonly ValueId[], [first, ...rest]: readonly Pattern[], match: Match): boolean {
  if (first === undefined) return factors.length === 0
  return factors.some((factor, i) => match.attempt(() => first(value(factor), match) && inSomeOrder(factors.toSpliced(i, 1), rest, match)))
}

/** A number added to a term, or two terms in any order. */
export const sum =
  (term: Pattern, other: Pattern | number): Pattern =>
  (arg, match) => {
    if (typeof other === 'number') {
      const plus = plusNumber(arg, match.analysis)
      return plus !== null && near(plus.number, other) && term(plus.term, match)
    }
    const [a, b] = sumOf(arg, match.analysis) ?? []
    if (a === undefined || b === undefined) return false
    return match.attempt(() => term(a, match) && other(b, match)) || match.attempt(() => term(b, match) && other(a, match))
  }

export const difference = (from: Pattern, subtracted: Pattern): Pattern => call('aten::sub.Tensor', from, subtracted, given(1))

/** What lies between two bounds. */
export const clamped =
  (term: Pattern, min: number, max: number): Pattern =>
  (arg, match) => {
    const clamp = clampOf(arg, match.analysis)
    return clamp?.min === min && clamp.max === max && term(clamp.term, match)
  }

/** The names of a pattern, where it fits the result of a node. */
export function matchOf(node: GraphNode, pattern: Pattern, analysis: Analysis): Match | null {
  const result = onlyResult(node)
  const match = new Match(analysis)
  return result !== undefined && pattern(value(result), match) ? match : null
}
