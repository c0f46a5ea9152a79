import { failAt, type Source } from '../error.js'
import type { Entry } from '../yaml-file.js'

/** What a step does, as codegen/functions.yaml has it. `fms` is a b - c, `fnma` c - a b, `minus_product` a - b c. */
export const OPS = [
  'add',
  'sub',
  'mul',
  'div',
  'neg',
  'abs',
  'sqrt',
  'fma',
  'fms',
  'fnma',
  'minus_product',
  'square_rest',
  'series',
  'round',
  'scale',
  'at_least',
  'at_most',
  'less',
  'greater',
  'equal',
  'is_nan',
  'select',
  'copysign',
  'int_sub',
  'shift_left',
  'shift_right',
  'to_float',
  'bits',
  'from_bits',
  'rounded',
] as const
export type Op = (typeof OPS)[number]
export type Lanes = 'float' | 'int' | 'mask'

export type Operand =
  | { readonly kind: 'value'; readonly index: number; readonly lanes: Lanes }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'parameter'; readonly name: string }

/** `series` and `shift` are what operations have beside operands. */
export interface Step {
  readonly op: Op
  readonly operands: readonly Operand[]
  readonly lanes: Lanes
  readonly series: readonly number[]
  readonly shift: number
}

/** A function of one vector, value 0; step i is value i + 1, and the last one is the result. */
export interface Program {
  readonly name: string
  readonly doc: string
  readonly parameters: readonly string[]
  readonly steps: readonly Step[]
  /** Of any vectors of floating-point numbers. */
  readonly isGeneric: boolean
  /** The targets that have it, if it is not all of them: the vector class, or that and generated code of x86. */
  readonly only: string
}

export type Numbers = ReadonlyMap<string, number | readonly number[]>

interface Definition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly lines: readonly string[]
  readonly source: Source
}

/** What is not computed before it is known what becomes of it. */
type Term =
  | Operand
  | { readonly kind: 'product'; readonly a: Operand; readonly b: Operand }
  | { readonly kind: 'negative'; readonly of: Operand }
  | { readonly kind: 'comparison'; readonly op: Op; readonly operands: readonly Operand[] }

const KEYS = ['function', 'part', 'doc', 'steps', 'vectors', 'only']
const HEAD = /^([a-z]\w*)\((\w+(?:, \w+)*)\)$/

/** The functions of codegen/functions.yaml, each a straight line of steps. Throws CodegenError. */
export function readFunctions(entries: readonly Entry[], numbers: Numbers): Program[] {
  const definitions = new Map<string, Definition>()
  const programs = entries.map(({ fields, source }) => {
    const get = (key: string): string => String(fields.find((f) => f.key === key)?.value ?? '')
    const head = String(fields[0]?.value)
    const unknown = fields.find(({ key }) => !KEYS.includes(key))
    if (unknown !== undefined) failAt(unknown.source, head, `unknown key '${unknown.key}'`)
    const [, name = '', list = ''] = HEAD.exec(head) ?? failAt(source, head, 'expected name(x, ...)')
    const definition = { name, parameters: list.split(', '), lines: get('steps').trim().split('\n'), source }
    if (definitions.has(name)) failAt(source, name, 'stands here twice')
    definitions.set(name, definition)
    return () => {
      if (fields[0]!.key === 'part') return []
      const [, ...parameters] = definition.parameters
      const steps: Step[] = []
      const x: Operand = { kind: 'value', index: 0, lanes: 'float' }
      const given = [x, ...parameters.map((parameter): Operand => ({ kind: 'parameter', name: parameter }))]
      const results = new Writer(definitions, numbers, steps).run(definition, given)
      const [result] = results
      if (results.length !== 1 || result!.kind !== 'value' || result!.index !== steps.length)
        failAt(source, name, 'must return its last step')
      return [{ name, doc: get('doc'), parameters, steps, isGeneric: get('vectors') === 'any', only: get('only') }]
    }
  })
  return programs.flatMap((program) => program())
}

const TOKEN = /\s*(?:(0x[0-9a-f]+(?:p\d+)?|\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(<<|>>|==|[-+*/(),<>=]))/y
/** Operators from those that bind least to those that bind most. */
const LEVELS = [
  ['<', '>', '=='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/'],
]
const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}
const isNumber = (operand: Operand, value: number): boolean => operand.kind === 'number' && operand.value === value
const COMPARISONS: Readonly<Record<string, Op>> = { '<': 'less', '>': 'greater', '==': 'equal' }
/** Functions of floats to floats, by their numbers of operands. */
const CALLS: Readonly<Partial<Record<string, number>>> = {
  abs: 1,
  sqrt: 1,
  round: 1,
  scale: 2,
  at_least: 2,
  at_most: 2,
  copysign: 2,
  square_rest: 2,
}

/** Writes the steps of a definition, those of others that it calls among them. */
class Writer {
  private tokens: string[] = []
  private next = 0
  private names = new Map<string, Operand>()
  private definition!: Definition

  constructor(
    private readonly definitions: ReadonlyMap<string, Definition>,
    private readonly numbers: Numbers,
    private readonly steps: Step[],
  ) {}

  run(definition: Definition, given: readonly Operand[]): Operand[] {
    this.definition = definition
    if (given.length !== definition.parameters.length) this.fail(`takes ${definition.parameters.length} operands, not ${given.length}`)
    definition.parameters.forEach((name, i) => this.names.set(name, given[i]!))
    const lines = definition.lines.map((line) => this.line(line))
    return lines.at(-1) ?? this.fail('must end with return')
  }

  /** What a line returns, or null of an assignment. */
  private line(text: string): Operand[] | null {
    this.tokens = []
    this.next = 0
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const start = TOKEN.lastIndex
      const match = TOKEN.exec(text) ?? this.fail(`'${text.slice(start).trim()}' cannot be read`)
      this.tokens.push(match[1] ?? match[2] ?? match[3]!)
    }
    if (this.take('return')) return this.whole(this.list())
    const to = [this.name()]
    while (this.take(',')) to.push(this.name())
    this.need('=')
    const values = this.whole(to.length > 1 ? this.called(this.name()) : [this.operand()])
    if (values.length !== to.length) this.fail(`gives ${values.length} values, not ${to.length}`)
    to.forEach((name, i) => this.names.set(name, values[i]!))
    return null
  }

  private whole(values: Operand[]): Operand[] {
    if (this.next < this.tokens.length) this.fail(`'${this.tokens[this.next]}' was not expected`)
    return values
  }

  private list(): Operand[] {
    const all = [this.operand()]
    while (this.take(',')) all.push(this.operand())
    return all
  }

  private operand(): Operand {
    return this.settle(this.term())
  }

  private settle(term: Term): Operand {
    if (term.kind === 'product') return this.step('mul', [term.a, term.b])
    if (term.kind === 'negative') return this.step('neg', [term.of])
    return term.kind === 'comparison' ? this.step(term.op, term.operands, 'mask') : term
  }

  /** Operators of LEVELS[level] and of those that bind more. */
  private term(level = 0): Term {
    const operators = LEVELS[level]
    if (operators === undefined) return this.factor()
    let left = this.term(level + 1)
    for (let sign = this.tokens[this.next] ?? ''; operators.includes(sign); sign = this.tokens[this.next] ?? '') {
      this.next++
      left = this.combine(sign, this.settle(left), this.term(level + 1))
    }
    return left
  }

  private combine(sign: string, a: Operand, right: Term): Term {
    if (sign === '-' && right.kind === 'product') return this.step('minus_product', [a, right.a, right.b])
    const b = this.settle(right)
    const fold = ARITHMETIC[sign]
    if (fold && a.kind === 'number' && b.kind === 'number') return { kind: 'number', value: Math.fround(fold(a.value, b.value)) }
    switch (sign) {
      case '<<':
      case '>>':
        return this.step(sign === '<<' ? 'shift_left' : 'shift_right', [a], 'int', { shift: this.constant(b) })
      case '*':
        return isNumber(b, 1) ? a : { kind: 'product', a, b }
      case '/':
        return this.step('div', [a, b])
      case '+':
      case '-':
        // zero changes nothing but the sign of zero
        if (sign === '+' && isNumber(b, 0)) return a
        if (a.kind === 'value' && a.lanes === 'int') return this.step('int_sub', [a, b], 'int')
        if ([a, b].some((summand) => this.isOf(summand, ['mul']))) this.fail('a sum with a product needs fma() or rounded()')
        return this.step(sign === '+' ? 'add' : 'sub', [a, b])
    }
    return { kind: 'comparison', op: COMPARISONS[sign]!, operands: [a, b] }
  }

  private factor(): Term {
    if (this.take('-')) {
      const of = this.settle(this.factor())
      return of.kind === 'number' ? { kind: 'number', value: -of.value } : { kind: 'negative', of }
    }
    if (this.take('(')) {
      const inner = this.operand()
      this.need(')')
      return inner
    }
    const token = this.tokens[this.next] ?? ''
    if (/^\d/.test(token)) {
      this.next++
      const [mantissa, power = '0'] = token.split('p') as [string, string?]
      return { kind: 'number', value: Number(mantissa) * 2 ** Number(power) }
    }
    const name = this.name()
    if (this.tokens[this.next] === '(') {
      const [value, more] = this.called(name)
      if (more !== undefined) this.fail(`'${name}' gives more than one value`)
      return value!
    }
    if (name === 'INFINITY' || name === 'NAN') return { kind: 'number', value: name === 'NAN' ? NaN : Infinity }
    const number = this.numbers.get(name)
    if (typeof number === 'number') return { kind: 'number', value: Math.fround(number) }
    return this.names.get(name) ?? this.fail(`there is no '${name}'`)
  }

  private called(name: string): Operand[] {
    this.need('(')
    const values = this.call(name)
    this.need(')')
    return values
  }

  private call(name: string): Operand[] {
    switch (name) {
      case 'fma':
        return [this.multiplyAdd()]
      case 'series':
        return [this.series()]
      case 'select': {
        const condition = this.term()
        this.need(',')
        const values = this.list()
        return [this.step('select', [this.settle(condition), ...values])]
      }
      case 'is_nan':
        return [this.step('is_nan', [this.operand()], 'mask')]
      case 'bits':
        return [this.step('bits', [this.operand()], 'int')]
      case 'to_float':
      case 'from_bits':
        return [this.step(name, [this.operand()])]
      case 'rounded': {
        const a = this.operand()
        // a product with 1 is none any more
        return [this.isOf(a, ['mul', 'scale']) ? this.step('rounded', [a]) : a]
      }
    }
    const operands = this.list()
    if (CALLS[name] !== undefined) {
      if (operands.length !== CALLS[name]) this.fail(`'${name}' takes ${CALLS[name]} operands`)
      if (name.startsWith('at_') && operands[1]!.kind === 'value') this.fail(`'${name}' needs a number`)
      return [this.step(name as Op, operands)]
    }
    const definition = this.definitions.get(name) ?? this.fail(`there is no function '${name}'`)
    return new Writer(this.definitions, this.numbers, this.steps).run(definition, operands)
  }

  private multiplyAdd(): Operand {
    const a = this.term()
    this.need(',')
    const b = this.operand()
    this.need(',')
    const c = this.term()
    if (a.kind === 'negative') return this.step('fnma', [a.of, b, this.settle(c)])
    if (c.kind === 'negative') return this.step('fms', [this.settle(a), b, c.of])
    return this.step('fma', [this.settle(a), b, this.settle(c)])
  }

  private series(): Operand {
    const x = this.operand()
    this.need(',')
    const name = this.name()
    const unit = this.take(',') ? this.constant(this.operand()) : 1
    const coefficients = this.numbers.get(name)
    if (typeof coefficients !== 'object') this.fail(`there is no series '${name}'`)
    return this.step('series', [x], 'float', { series: coefficients.map((c, i) => Math.fround(c) * unit ** i) })
  }

  private step(
    op: Op,
    operands: readonly Operand[],
    lanes: Lanes = 'float',
    { series = [] as readonly number[], shift = 0 } = {},
  ): Operand {
    if (operands.every(({ kind }) => kind !== 'value')) this.fail(`'${op}' has no operand that is a vector`)
    this.steps.push({ op, operands, lanes, series, shift })
    return { kind: 'value', index: this.steps.length, lanes }
  }

  private isOf(operand: Operand, ops: readonly Op[]): boolean {
    return operand.kind === 'value' && operand.index > 0 && ops.includes(this.steps[operand.index - 1]!.op)
  }

  private constant(operand: Operand): number {
    return operand.kind === 'number' ? operand.value : this.fail('expected a number')
  }

  private name(): string {
    const token = this.tokens[this.next++] ?? ''
    return /^[A-Za-z_]/.test(token) ? token : this.fail(`a name was expected, not '${token}'`)
  }

  private take(token: string): boolean {
    if (this.tokens[this.next] !== token) return false
    this.next++
    return true
  }

  private need(token: string): void {
    if (!this.take(token)) this.fail(`'${token}' was expected, not '${this.tokens[this.next] ?? ''}'`)
  }

  private fail(message: string): never {
    failAt(this.definition.source, this.definition.name, message)
  }
}
