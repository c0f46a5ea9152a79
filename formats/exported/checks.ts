import * as features from '../../runtime/features.js'
import { nameOfCode } from '../../runtime/tensor/dtype.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { Leaf } from './arguments.js'
import type { CodeBuilder, Label } from './code-builder.js'
import { type Expression, isCondition, isSound, linearIn, namesIn, OPERATORS, textOfExpression } from './expression.js'
import { parseGuard } from './parse-expression.js'

/** What a program says of a tensor that it takes. */
export interface TensorForm {
  /** c10::ScalarType number. */
  readonly scalarType: number
  /** null where the expression is of an unknown form. */
  readonly sizes: readonly (Expression | null)[]
}

/** Least and largest value of a symbol; null where there is no limit. */
export interface Range {
  readonly min: number | null
  readonly max: number | null
}

/** Whether sizes follow from others, and guards stand beside them: programs of ExecuTorch have symbols alone. */
const HAS_EXPRESSIONS = features.pt2

/** PyTorch takes sizes of 0 and 1 where a program was exported for 2 and more. */
const ALWAYS_ALLOWED = 2

interface Size {
  readonly what: string
  readonly register: number
  readonly expression: Expression
}

/**
 * Writes what a program demands of its arguments in front of it: dtypes, numbers of dimensions, sizes, ranges of symbols and guards. A check that fails jumps to
 * the end of the code, where an error is raised that names the argument and what was found.
 */
export class InputChecks {
  private readonly symbols = new Map<string, { readonly register: number; readonly what: string }>()
  /** Registers of sizes by the name that guards have for them. */
  private readonly sizes = new Map<string, number>()
  private readonly derived: Size[] = []
  private readonly failures: {
    readonly label: Label
    readonly message: string
    readonly register: number
    readonly instruction?: string
  }[] = []
  private readonly registers: number[] = []

  constructor(
    private readonly builder: CodeBuilder,
    private readonly method: string,
  ) {}

  tensor({ path, register }: Leaf, { scalarType, sizes }: TensorForm): void {
    const { builder } = this
    const dtype = nameOfCode(scalarType)
    if (dtype !== undefined) {
      builder.emit('LOAD', register)
      builder.emit('DTYPE')
      this.same(scalarType, `argument ${path}: expected ${dtype}, found scalar type number {}`, register, 'DTYPE')
    }
    builder.emit('LOAD', register)
    builder.emit('DIM')
    const shape = `[${sizes.map((size) => (size === null ? '?' : textOfExpression(size))).join(', ')}]`
    this.same(sizes.length, `argument ${path}: expected ${sizes.length} dimensions, ${shape}, found {}`, register, 'DIM')
    if (sizes.length === 0) return
    const registers = sizes.map(() => builder.allocate())
    this.registers.push(...registers)
    builder.emit('LOAD', register)
    builder.operator('aten::size', 1)
    builder.emit('LIST_UNPACK', sizes.length)
    for (const size of [...registers].reverse()) builder.emit('STORE', size)
    sizes.forEach((size, i) => {
      this.sizes.set(`${path}.size()[${i}]`, registers[i]!)
      this.size(size, registers[i]!, `argument ${path}, dimension ${i}`)
    })
  }

  /** An int argument that is a symbol. */
  int({ path, register }: Leaf, expression: Expression | null): void {
    this.sizes.set(path, register)
    this.size(expression, register, `argument ${path}`)
  }

  /** An argument that the program was exported for one value of. */
  constant({ path, register }: Leaf, value: Value, text: string): void {
    this.builder.emit('LOAD', register)
    this.same(value, `argument ${path}: the program was exported for ${text}, found {}`, register)
  }

  private size(expression: Expression | null, register: number, what: string): void {
    if (expression === null) return
    if (expression.kind === 'int') {
      this.builder.emit('LOAD', register)
      this.same(expression.value, `${what}: expected ${expression.value}, found {}`, register)
    } else if (expression.kind === 'name' && !this.symbols.has(expression.name)) this.symbols.set(expression.name, { register, what })
    else this.derived.push({ what, register, expression })
  }

  /** What several arguments have to agree in, ranges, and guards in Python's words. Those in other forms than on sizes are left out. */
  relations(ranges: ReadonlyMap<string, Range>, guards: readonly string[]): void {
    for (const size of this.derived) this.solve(size)
    for (const size of this.derived) this.equation(size)
    for (const [symbol, range] of ranges) this.range(symbol, range)
    for (const guard of guards) this.guard(guard)
  }

  /** Finds a symbol that is the size of no dimension by itself: of `2*s0` half of it. */
  private solve({ what, register, expression }: Size): void {
    if (!HAS_EXPRESSIONS) return
    const linear = linearIn(expression)
    if (linear === null || this.symbols.has(linear.symbol)) return
    const { builder } = this
    const { symbol, factor, summand } = linear
    const value = builder.allocate()
    this.registers.push(value)
    builder.emit('LOAD', register)
    builder.constant(summand)
    builder.operator('aten::sub.int', 2)
    builder.constant(factor)
    builder.operator('aten::floordiv.int', 2)
    builder.emit('STORE', value)
    this.symbols.set(symbol, { register: value, what: `${symbol} in ${what}` })
  }

  private equation({ what, register, expression }: Size): void {
    if (!HAS_EXPRESSIONS) return
    const { builder } = this
    if (!isSound(expression) || isCondition(expression) || !this.knows(expression)) return
    builder.emit('LOAD', register)
    this.compute(expression)
    builder.operator('aten::eq.int', 2)
    const symbols = [...namesIn(expression)].map((name) => `${name} of ${this.symbols.get(name)!.what}`).join(', ')
    this.check(`${what}: expected ${textOfExpression(expression)} (${symbols}), found {}`, register)
  }

  private range(symbol: string, { min, max }: Range): void {
    const { builder } = this
    const known = this.symbols.get(symbol)
    if (known === undefined) return
    const { register, what } = known
    const text = `${what}: expected ${min ?? 0} to ${max ?? 'any size'}, found {}`
    if (min !== null && min > ALWAYS_ALLOWED) {
      builder.emit('LOAD', register)
      builder.constant(min)
      builder.operator('aten::ge.int', 2)
      this.check(text, register)
    }
    if (max === null) return
    builder.emit('LOAD', register)
    builder.constant(max)
    builder.operator('aten::le.int', 2)
    this.check(text, register)
  }

  private guard(text: string): void {
    if (!HAS_EXPRESSIONS) return
    const condition = parseGuard(text)
    if (condition === null || !isCondition(condition) || !isSound(condition) || !this.knows(condition)) return
    const [name] = namesIn(condition)
    if (name === undefined) return
    this.compute(condition)
    this.check(`the program was exported for arguments with ${textOfExpression(condition)}; ${name} is {}`, this.registerOf(name)!)
  }

  private knows(expression: Expression): boolean {
    if (!HAS_EXPRESSIONS) return false
    return [...namesIn(expression)].every((name) => this.registerOf(name) !== undefined)
  }

  private registerOf(name: string): number | undefined {
    return this.symbols.get(name)?.register ?? this.sizes.get(name)
  }

  private compute(expression: Expression): void {
    if (!HAS_EXPRESSIONS) return
    const { builder } = this
    if (expression.kind === 'int') builder.constant(expression.value)
    else if (expression.kind === 'name') builder.emit('LOAD', this.registerOf(expression.name)!)
    else {
      for (const arg of expression.args) this.compute(arg)
      if (expression.function === 'not') builder.emit('__NOT__')
      else builder.operator(OPERATORS[expression.function], expression.args.length)
    }
  }

  /** The value on the stack has to be this one. */
  private same(value: Value, message: string, register: number, instruction?: string): void {
    this.builder.constant(value)
    this.builder.emit('__IS__')
    this.check(message, register, instruction)
  }

  /** The bool on the stack has to be true. `{}` in the message stands for what `instruction` makes of the register, or for what is in it. */
  private check(message: string, register: number, instruction?: string): void {
    const label = this.builder.label()
    this.builder.jump('JF', label)
    this.failures.push({ label, message, register, ...(instruction === undefined ? {} : { instruction }) })
  }

  /** Behind the checks: their registers can be used again. */
  release(): void {
    for (const register of this.registers) this.builder.release(register)
  }

  /** Behind the code: what is raised where a check fails. */
  writeFailures(): void {
    const { builder } = this
    for (const { label, message, register, instruction } of this.failures) {
      builder.place(label)
      const [before, after] = message.split('{}') as [string, string]
      builder.constant('{}{}{}')
      builder.constant(`${this.method}() ${before}`)
      builder.emit('LOAD', register)
      if (instruction !== undefined) builder.emit(instruction)
      builder.constant(after)
      builder.emit('FORMAT', 4)
      builder.constant(null)
      builder.emit('RAISE_EXCEPTION')
    }
  }
}
