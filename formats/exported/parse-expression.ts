import type { Expression, ExpressionFunction } from './expression.js'

/** Parsing stops at texts that are longer, or nested deeper: no size of a model is. */
const MAX_LENGTH = 10_000
const MAX_DEPTH = 100

/** The text is of another form than is known here. */
class UnknownForm extends Error {}

const call = (name: ExpressionFunction, ...args: readonly Expression[]): Expression => ({ kind: 'call', function: name, args })

/** Functions of sympy's printed form. */
const SYMPY: ReadonlyMap<string, ExpressionFunction> = new Map<string, ExpressionFunction>([
  ['Add', 'add'],
  ['Mul', 'mul'],
  ['Pow', 'pow'],
  ['PowByNatural', 'pow'],
  ['Max', 'max'],
  ['Min', 'min'],
  ['FloorDiv', 'floordiv'],
  ['Mod', 'mod'],
  ['PythonMod', 'mod'],
])

/** `Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))`; null for other forms than those of integers. */
export function parseSympy(text: string): Expression | null {
  return parsed(text, (tokens) => {
    const parse = (depth: number): Expression => {
      if (depth > MAX_DEPTH) throw new UnknownForm()
      const name = tokens.take()
      tokens.expect('(')
      if (name === 'Integer') {
        const value = tokens.integer()
        tokens.expect(')')
        return { kind: 'int', value }
      }
      if (name === 'Symbol') {
        const symbol = unquoted(tokens.take())
        while (tokens.peek() === ',') for (let i = 0; i < 4; i++) tokens.take()
        tokens.expect(')')
        return { kind: 'name', name: symbol }
      }
      const known = SYMPY.get(name)
      if (known === undefined) throw new UnknownForm()
      const args = [parse(depth + 1)]
      while (tokens.peek() === ',') {
        tokens.take()
        args.push(parse(depth + 1))
      }
      tokens.expect(')')
      const isOfTwo = known !== 'add' && known !== 'mul' && known !== 'max' && known !== 'min'
      if (isOfTwo && args.length !== 2) throw new UnknownForm()
      return args.reduce((a, b) => call(known, a, b))
    }
    return parse(0)
  })
}

/** Binary operators of Python with how tight they bind. */
const BINARY: ReadonlyMap<string, readonly [level: number, name: ExpressionFunction]> = new Map<
  string,
  readonly [number, ExpressionFunction]
>([
  ['or', [1, 'or']],
  ['and', [2, 'and']],
  ['==', [4, 'eq']],
  ['!=', [4, 'ne']],
  ['<', [4, 'lt']],
  ['<=', [4, 'le']],
  ['>', [4, 'gt']],
  ['>=', [4, 'ge']],
  ['+', [5, 'add']],
  ['-', [5, 'sub']],
  ['*', [6, 'mul']],
  ['//', [6, 'floordiv']],
  ['%', [6, 'mod']],
  ['**', [8, 'pow']],
])

/** Levels of `not` and of a sign, among those of BINARY. */
const NOT = 3
const SIGN = 7

/** A guard: a condition on sizes in Python's words, `(L['x'].size()[0] % 2) == 0`. null for conditions of other kinds. */
export function parseGuard(text: string): Expression | null {
  return parsed(text, (tokens) => {
    const parse = (level: number, depth: number): Expression => {
      if (depth > MAX_DEPTH) throw new UnknownForm()
      let left = prefix(depth)
      for (;;) {
        const operator = BINARY.get(tokens.peek())
        if (operator === undefined || operator[0] < level) return left
        tokens.take()
        // a chain of comparisons means something else
        left = call(operator[1], left, parse(operator[0] + 1, depth + 1))
      }
    }
    const prefix = (depth: number): Expression => {
      const token = tokens.take()
      if (token === 'not') return call('not', parse(NOT, depth + 1))
      if (token === '-') return call('neg', parse(SIGN, depth + 1))
      if (token === '(') {
        const inner = parse(0, depth + 1)
        tokens.expect(')')
        return inner
      }
      if (/^\d+$/.test(token)) return { kind: 'int', value: safe(token) }
      if (token === 'max' || token === 'min') return extreme(token, depth)
      if (token === 'L') return { kind: 'name', name: path() }
      throw new UnknownForm()
    }
    const extreme = (name: 'max' | 'min', depth: number): Expression => {
      tokens.expect('(')
      const args = [parse(0, depth + 1)]
      while (tokens.peek() === ',') {
        tokens.take()
        args.push(parse(0, depth + 1))
      }
      tokens.expect(')')
      return args.reduce((a, b) => call(name, a, b))
    }
    /** What follows `L`: `['x'].size()[0]` becomes `x.size()[0]`. */
    const path = (): string => {
      tokens.expect('[')
      let name = unquoted(tokens.take())
      tokens.expect(']')
      for (;;) {
        const next = tokens.peek()
        if (next !== '[' && next !== '.') return name
        tokens.take()
        name += next + tokens.take()
        if (next === '[') {
          tokens.expect(']')
          name += ']'
        } else if (tokens.peek() === '(') {
          tokens.take()
          tokens.expect(')')
          name += '()'
        }
      }
    }
    return parse(0, 0)
  })
}

class Tokens {
  private at = 0

  constructor(private readonly items: readonly string[]) {}

  /** '' at the end. */
  peek(): string {
    return this.items[this.at] ?? ''
  }

  take(): string {
    const token = this.items[this.at++]
    if (token === undefined) throw new UnknownForm()
    return token
  }

  expect(token: string): void {
    if (this.take() !== token) throw new UnknownForm()
  }

  integer(): number {
    const token = this.take()
    return token === '-' ? -safe(this.take()) : safe(token)
  }
}

function parsed(text: string, parse: (tokens: Tokens) => Expression): Expression | null {
  if (text.length > MAX_LENGTH) return null
  const items = text.match(/'[^']*'|"[^"]*"|[A-Za-z_]\w*|\d+|\*\*|\/\/|[=!<>]=|\S/g) ?? []
  const tokens = new Tokens(items)
  try {
    const expression = parse(tokens)
    return tokens.peek() === '' ? expression : null
  } catch (error) {
    if (error instanceof UnknownForm) return null
    throw error
  }
}

function unquoted(token: string): string {
  if (!/^(['"]).*\1$/.test(token)) throw new UnknownForm()
  return token.slice(1, -1)
}

function safe(token: string): number {
  const value = /^\d+$/.test(token) ? Number(token) : NaN
  if (!Number.isSafeInteger(value)) throw new UnknownForm()
  return value
}
