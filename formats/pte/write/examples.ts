import { exampleTensor } from '../../writing/example-tensor.js'
import { type Expression, namesIn } from '../../exported/expression.js'
import { parseGuard } from '../../exported/parse-expression.js'
import type { ArgumentInfo, Dimension } from '../../../program/signature-info.js'
import { damaged, unsupported } from '../../../program/file-error.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { DictKey, Value } from '../../../runtime/tensor/value.js'

/** What symbols of sizes stand for in one call. */
export type Sizes = ReadonlyMap<string, number>

/** A size that may differ from call to call. */
export interface Symbol {
  readonly name: string
  readonly min: number
  readonly max: number
}

/** The symbols of the sizes that a file declares, with their bounds. Throws UNSUPPORTED_FILE for one without an upper bound. */
export function symbolsOf(inputs: readonly ArgumentInfo[]): Symbol[] {
  const symbols = new Map<string, Symbol>()
  for (const { name, shape = [] } of inputs)
    for (const size of shape) {
      if (size.min === size.max) continue
      const expression = expressionOf(size)
      if (expression.kind !== 'name' || symbols.has(expression.name)) continue
      if (size.max === null)
        throw unsupported(
          `argument ${name}: the size ${size.text} has no upper bound, which ExecuTorch needs; export with Dim(..., max=...), or give --shape`,
        )
      symbols.set(expression.name, { name: expression.name, min: size.min, max: size.max })
    }
  for (const { name, shape = [] } of inputs)
    for (const size of shape) {
      if (size.min === size.max) continue
      for (const symbol of namesIn(expressionOf(size)))
        if (!symbols.has(symbol))
          throw unsupported(`${name}: the size ${size.text} follows from ${symbol}, which is no size itself; give --shape`)
    }
  return [...symbols.values()]
}

function expressionOf({ text }: Dimension): Expression {
  const marked = /^[\w\s+*/%()-]+$/.test(text) ? text.replace(/\b(?!max\b|min\b)[A-Za-z_]\w*/g, "L['$&']") : ''
  return (marked === '' ? null : parseGuard(marked)) ?? { kind: 'name', name: text }
}

function evaluate(expression: Expression, sizes: Sizes): number {
  switch (expression.kind) {
    case 'int':
      return expression.value
    case 'name':
      return sizes.get(expression.name)!
    case 'call': {
      const [a = 0, b = 0] = expression.args.map((arg) => evaluate(arg, sizes))
      switch (expression.function) {
        case 'add':
          return a + b
        case 'sub':
          return a - b
        case 'mul':
          return a * b
        case 'floordiv':
          return Math.floor(a / b)
        case 'mod':
          return a - b * Math.floor(a / b)
        case 'pow':
          return a ** b
        case 'max':
          return Math.max(a, b)
        case 'min':
          return Math.min(a, b)
        case 'neg':
          return -a
        default:
          throw damaged(`a size is a condition (${expression.function})`)
      }
    }
  }
}

/** Arguments of the sizes that a file declares, one for each of the method's: values in structures have their place in their name. */
export function argumentsFor(inputs: readonly ArgumentInfo[], sizes: Sizes): Value[] {
  const structure = new Structure()
  for (const info of inputs) structure.put(info.name, leafFor(info, sizes))
  return [...structure.args.values()]
}

function leafFor({ name, type, dtype, shape, constant }: ArgumentInfo, sizes: Sizes): Value {
  if (constant !== undefined) return type === 'float' && typeof constant === 'number' ? new Float(constant) : constant
  if (dtype === undefined || shape === undefined) {
    if (type === 'int') return 1
    throw unsupported(`argument ${name}: the file does not say its dtype and sizes; give --shape`)
  }
  return exampleTensor(
    dtype,
    shape.map((size) => (size.min === size.max ? size.min : evaluate(expressionOf(size), sizes))),
  )
}

type Holder = Map<DictKey, Value> | Value[]

/** Puts values where their names say that they are: `batch['ids']`, `pair[0]`, `state.h`. */
class Structure {
  readonly args = new Map<DictKey, Value>()
  /** Fields of named tuples, which are in order. */
  private readonly fields = new Map<Holder, string[]>()

  put(path: string, value: Value): void {
    const root = /^[^[.]*/.exec(path)![0]
    const accessors = [...path.slice(root.length).matchAll(/\['([^']*)'\]|\[(\d+)\]|\.(\w+)/g)]
    let holder: Holder = this.args
    let key: string | number = root
    for (const [, text, index, field] of accessors) {
      holder = this.inner(holder, key, text === undefined)
      key = text ?? (index === undefined ? this.placeOf(holder, field!) : Number(index))
    }
    if (Array.isArray(holder)) holder[Number(key)] = value
    else holder.set(key, value)
  }

  private inner(holder: Holder, key: string | number, isSequence: boolean): Holder {
    const known = Array.isArray(holder) ? holder[key as number] : holder.get(key)
    if (Array.isArray(known) || known instanceof Map) return known
    const made: Holder = isSequence ? [] : new Map<DictKey, Value>()
    if (Array.isArray(holder)) holder[key as number] = made
    else holder.set(key, made)
    return made
  }

  private placeOf(holder: Holder, field: string): number {
    const known = this.fields.get(holder) ?? []
    this.fields.set(holder, known)
    return known.includes(field) ? known.indexOf(field) : known.push(field) - 1
  }
}

/**
 * Sizes for recordings, the largest first: a number in code that differs from one to the other as a size does is taken for that size, so that they have little in common.
 * Those for which the model fails may be left out.
 */
export function samplesOf(symbols: readonly Symbol[]): Sizes[] {
  const largest: Sizes = new Map(symbols.map(({ name, max }) => [name, max]))
  const samples = [largest]
  for (const { name, min, max } of symbols) {
    const wanted = [max - 1, Math.floor(max / 2), Math.floor((3 * max) / 4), max - 2, max - 4, Math.floor(max / 4), min, min + 1]
    const sizes = [...new Set(wanted)].filter((size) => size >= Math.max(min, 2) && size < max)
    for (const size of sizes) samples.push(new Map([...largest, [name, size]]))
  }
  // together, which tells products from sums
  if (symbols.length > 1)
    samples.push(new Map(symbols.map(({ name, min, max }, i) => [name, Math.min(max, Math.max(min, 2, Math.floor(max / 2) + 1 - i))])))
  return samples
}
