import { pace } from '../../runtime/pace.js'
import type { Value } from '../../runtime/tensor/value.js'
import { DEDENT, END, INDENT, NAME, NEWLINE, NUMBER, numberValue, STRING, stringValue, tokenize, type Tokens } from './lexer.js'
import type { SourceFile } from './source.js'
import type { Expr, Keyword, Loop, Parameter, Stmt, WithItem } from './syntax.js'

/** Levels of expressions in expressions and of statements in statements. PyTorch's printer breaks lines long before. */
const MAX_LEVELS = 120

/** Names and literals of one function, or of all that stands outside of them: far more than anybody writes. */
const MAX_ATOMS = 1 << 20

/** Binary operators by how tightly they bind, loosest first; all of them from left to right. */
const LEVELS: readonly ReadonlySet<string>[] = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '//', '%', '@']].map(
  (operators) => new Set(operators),
)
const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'is'])
const AUGMENTED: ReadonlySet<string> = new Set(['+=', '-=', '*=', '/=', '//=', '%=', '**=', '&=', '|=', '^=', '<<=', '>>=', '@='])
const LITERALS: Readonly<Record<string, Value>> = { None: null, True: true, False: false }

/** Reads tokens as syntax trees. Throws INVALID_FILE with file and line for anything else. */
export class Parser {
  protected readonly tokens: Tokens
  protected at = 0
  private level = 0
  private atoms = 0

  constructor(
    protected readonly source: SourceFile,
    /** Tokens of the file, where it was read before. */
    tokens?: Tokens,
  ) {
    this.tokens = tokens ?? tokenize(source)
  }

  /** Statements of a block from the token behind its INDENT on. */
  blockAt(token: number): Stmt[] {
    this.at = token
    return this.statements()
  }

  protected get kind(): string {
    return this.tokens.kinds[this.at]!
  }

  private isAt(...kinds: readonly string[]): boolean {
    return kinds.includes(this.kind)
  }

  protected get place(): number {
    return this.tokens.starts[this.at]!
  }

  protected text(token = this.at): string {
    return this.source.text.slice(this.tokens.starts[token], this.tokens.ends[token])
  }

  protected fail(expected: string): never {
    const found = this.kind === NAME || this.kind === NUMBER || this.kind === STRING ? this.text().slice(0, 40) : this.kind
    throw this.source.wrong(this.place, `expected ${expected}, found ${found}`)
  }

  protected accept(kind: string): boolean {
    if (this.kind !== kind) return false
    this.at++
    return true
  }

  protected expect(kind: string): void {
    if (!this.accept(kind)) this.fail(`'${kind}'`)
  }

  protected name(): string {
    if (this.kind !== NAME) this.fail('a name')
    return this.text(this.at++)
  }

  private nested<T>(read: () => T): T {
    if (++this.level > MAX_LEVELS) throw this.source.wrong(this.place, `code is nested more than ${MAX_LEVELS} deep`)
    const result = read()
    this.level--
    return result
  }

  // statements

  private statements(): Stmt[] {
    const statements: Stmt[] = []
    while (this.kind !== DEDENT && this.kind !== END) {
      if (!this.accept(NEWLINE) && !this.accept(';')) statements.push(this.nested(() => this.statement()))
    }
    return statements
  }

  /** What stands behind a colon: an indented block, or statements on the same line. */
  private suite(): Stmt[] {
    this.expect(':')
    if (!this.accept(NEWLINE)) return this.line()
    this.expect(INDENT)
    const statements = this.statements()
    this.expect(DEDENT)
    return statements
  }

  private line(): Stmt[] {
    const statements = [this.nested(() => this.statement())]
    while (this.accept(';')) {
      if (!this.isAt(NEWLINE)) statements.push(this.nested(() => this.statement()))
    }
    this.accept(NEWLINE)
    return statements
  }

  private statement(): Stmt {
    const at = this.place
    const kind = this.kind
    switch (kind) {
      case 'if':
      case 'elif': {
        this.at++
        const condition = this.expression()
        const then = this.suite()
        return { kind: 'if', at, condition, then, other: this.otherwise() }
      }
      case 'while': {
        this.at++
        const condition = this.expression()
        return { kind: 'while', at, condition, body: this.suite() }
      }
      case 'for': {
        this.at++
        const target = this.targets()
        this.expect('in')
        const source = this.expressions()
        return { kind: 'for', at, target, source, body: this.suite() }
      }
      case 'def': {
        this.at++
        const name = this.name()
        if (this.parameters().length > 0) throw this.source.unsupported(at, 'functions with parameters in functions')
        if (this.accept('->')) this.expression()
        return { kind: 'function', at, name, body: this.suite() }
      }
      case 'with': {
        this.at++
        const items: WithItem[] = []
        do {
          const context = this.expression()
          items.push({ context, target: this.accept('as') ? this.binary(0) : null })
        } while (this.accept(','))
        return { kind: 'with', at, items, body: this.suite() }
      }
      default: {
        const statement = this.simpleStatement(kind, at)
        return this.ends() ? statement : this.fail('the end of the statement')
      }
    }
  }

  private otherwise(): Stmt[] {
    if (this.kind === 'elif') return [this.nested(() => this.statement())]
    return this.accept('else') ? this.suite() : []
  }

  private simpleStatement(kind: string, at: number): Stmt {
    switch (kind) {
      case 'pass':
      case 'break':
      case 'continue':
        this.at++
        return { kind, at }
      case 'return':
        this.at++
        return { kind, at, value: this.ends() ? null : this.expressions() }
      case 'raise':
        this.at++
        return { kind, at, error: this.ends() ? null : this.expression() }
      case 'assert': {
        this.at++
        const condition = this.expression()
        return { kind, at, condition, message: this.accept(',') ? this.expression() : null }
      }
      case 'del': {
        this.at++
        const targets = this.expressions()
        return { kind: 'delete', at, targets: targets.kind === 'tuple' ? targets.items : [targets] }
      }
      default:
        return this.assignment(at)
    }
  }

  private ends(): boolean {
    return this.kind === NEWLINE || this.kind === ';' || this.kind === END || this.kind === DEDENT
  }

  private assignment(at: number): Stmt {
    const first = this.expressions()
    if (AUGMENTED.has(this.kind)) {
      const operator = this.text(this.at++).slice(0, -1)
      return { kind: 'augment', at, target: first, operator, value: this.expressions() }
    }
    const type = this.accept(':') ? this.expression() : null
    if (this.kind !== '=') {
      if (type !== null) this.fail("'='")
      return { kind: 'expression', at, value: first }
    }
    const parts = [first]
    while (this.accept('=')) parts.push(this.expressions())
    return { kind: 'assign', at, targets: parts.slice(0, -1), type, value: parts.at(-1)! }
  }

  /** Names that a loop assigns, without the `in` behind them. */
  private targets(): Expr {
    const at = this.place
    const first = this.binary(0)
    if (this.kind !== ',') return first
    const items = [first]
    while (this.accept(',')) if (!this.isAt('in')) items.push(this.binary(0))
    return { kind: 'tuple', at, items }
  }

  // expressions

  /** One expression, or several with commas between them as a tuple. */
  protected expressions(): Expr {
    const at = this.place
    const first = this.item()
    if (this.kind !== ',') return first
    const items = [first]
    while (this.accept(',')) {
      if (this.ends() || this.isAt('=', ')', ']', ':')) break
      items.push(this.item())
    }
    return { kind: 'tuple', at, items }
  }

  private item(): Expr {
    const at = this.place
    return this.accept('*') ? { kind: 'starred', at, value: this.binary(0) } : this.expression()
  }

  protected expression(): Expr {
    return this.nested(() => {
      const at = this.place
      const value = this.logical('or')
      if (!this.accept('if')) return value
      const condition = this.logical('or')
      this.expect('else')
      return { kind: 'choice', at, condition, then: value, other: this.expression() }
    })
  }

  private logical(operator: 'and' | 'or'): Expr {
    const at = this.place
    const operand = (): Expr => (operator === 'or' ? this.logical('and') : this.negation())
    const operands = [operand()]
    while (this.accept(operator)) operands.push(operand())
    if (operands.length > MAX_LEVELS) throw this.source.wrong(at, `a condition of more than ${MAX_LEVELS} parts`)
    return operands.reduceRight((right, left) => ({ kind: 'logical', at, operator, left, right }))
  }

  private negation(): Expr {
    const at = this.place
    if (!this.accept('not')) return this.comparison()
    return { kind: 'unary', at, operator: 'not', operand: this.nested(() => this.negation()) }
  }

  private comparison(): Expr {
    const at = this.place
    let left = this.binary(0)
    let result: Expr | null = null
    while (COMPARISONS.has(this.kind) || (this.kind === 'not' && this.tokens.kinds[this.at + 1] === 'in')) {
      let operator = this.text(this.at++)
      if (operator === 'not') operator = `not ${this.text(this.at++)}`
      else if (operator === 'is' && this.accept('not')) operator = 'is not'
      const right = this.binary(0)
      const compared: Expr = { kind: 'binary', at, operator, left, right }
      // a < b < c is a < b and b < c
      if (result !== null) throw this.source.unsupported(at, 'chained comparisons')
      result = compared
      left = right
    }
    return result ?? left
  }

  private binary(level: number): Expr {
    if (level === LEVELS.length) return this.unary()
    const at = this.place
    let left = this.binary(level + 1)
    let count = 0
    while (LEVELS[level]!.has(this.kind)) {
      if (++count > MAX_LEVELS) throw this.source.wrong(at, `an expression of more than ${MAX_LEVELS} operators`)
      const operator = this.text(this.at++)
      left = { kind: 'binary', at, operator, left, right: this.binary(level + 1) }
    }
    return left
  }

  private unary(): Expr {
    const at = this.place
    const operator = this.kind
    if (operator !== '-' && operator !== '+' && operator !== '~') return this.power()
    this.at++
    // a literal, unless it is the base of a power
    if (operator === '-' && this.kind === NUMBER && this.tokens.kinds[this.at + 1] !== '**') return this.number(true)
    return { kind: 'unary', at, operator, operand: this.nested(() => this.unary()) }
  }

  private power(): Expr {
    const at = this.place
    const base = this.postfix()
    if (!this.accept('**')) return base
    return { kind: 'binary', at, operator: '**', left: base, right: this.nested(() => this.unary()) }
  }

  private number(negative: boolean): Expr {
    const at = this.place
    const value = numberValue(this.source, at, this.tokens.ends[this.at]!, negative)
    this.at++
    return { kind: 'constant', at, value }
  }

  private postfix(): Expr {
    let value = this.atom()
    for (let count = 0; ; count++) {
      if (count > MAX_LEVELS) throw this.source.wrong(this.place, `an expression of more than ${MAX_LEVELS} parts`)
      if (this.accept('.')) {
        // names of attributes may be keywords
        value = { kind: 'attribute', at: value.at, object: value, name: this.text() }
        if (!/^\w+$/.test(value.name)) this.fail('the name of an attribute')
        this.at++
      } else if (this.accept('(')) value = { kind: 'call', at: value.at, callee: value, ...this.callArguments() }
      else if (this.accept('[')) {
        value = { kind: 'subscript', at: value.at, object: value, items: this.subscripts() }
        this.expect(']')
      } else return value
    }
  }

  private callArguments(): { args: Expr[]; keywords: Keyword[] } {
    const args: Expr[] = []
    const keywords: Keyword[] = []
    while (!this.accept(')')) {
      if (this.kind === NAME && this.tokens.kinds[this.at + 1] === '=') {
        const name = this.name()
        this.at++
        keywords.push({ name, value: this.expression() })
      } else {
        if (keywords.length > 0) this.fail('an argument with its name')
        const at = this.place
        const value = this.item()
        args.push(this.kind === 'for' ? { kind: 'comprehension', at, key: null, element: value, loop: this.loop() } : value)
      }
      if (!this.accept(',') && this.kind !== ')') this.fail("',' or ')'")
    }
    return { args, keywords }
  }

  private subscripts(): Expr[] {
    const items: Expr[] = []
    while (this.kind !== ']') {
      items.push(this.nested(() => this.subscriptItem()))
      if (!this.accept(',')) break
    }
    return items
  }

  private subscriptItem(): Expr {
    const at = this.place
    const part = (): Expr | null => (this.kind === ':' || this.kind === ']' || this.kind === ',' ? null : this.expression())
    const start = part()
    if (!this.accept(':')) return start ?? this.fail('an index')
    const stop = part()
    return { kind: 'slice', at, start, stop, step: this.accept(':') ? part() : null }
  }

  private atom(): Expr {
    const at = this.place
    pace(16)
    if (++this.atoms > MAX_ATOMS) throw this.source.wrong(at, `a function of more than ${MAX_ATOMS} names and literals`)
    const kind = this.kind
    switch (kind) {
      case NAME:
        return { kind: 'name', at, name: this.name() }
      case NUMBER:
        return this.number(false)
      case STRING:
        return this.string()
      case 'None':
      case 'True':
      case 'False':
        this.at++
        return { kind: 'constant', at, value: LITERALS[kind]! }
      case '(':
        return this.nested(() => this.parenthesized())
      case '[':
        return this.nested(() => this.list())
      case '{':
        return this.nested(() => this.dict())
      default:
        return this.fail('an expression')
    }
  }

  /** Texts that follow each other are one. */
  private string(): Expr {
    const at = this.place
    const parts: string[] = []
    for (; this.kind === STRING; this.at++) parts.push(stringValue(this.source, this.place, this.tokens.ends[this.at]!))
    return { kind: 'constant', at, value: parts.join('') }
  }

  private parenthesized(): Expr {
    const at = this.place
    this.expect('(')
    if (this.accept(')')) return { kind: 'tuple', at, items: [] }
    const value = this.expressions()
    this.expect(')')
    return value
  }

  private list(): Expr {
    const at = this.place
    this.expect('[')
    const items: Expr[] = []
    while (!this.accept(']')) {
      items.push(this.item())
      if (this.kind === 'for' && items.length === 1) {
        const loop = this.loop()
        this.expect(']')
        return { kind: 'comprehension', at, key: null, element: items[0]!, loop }
      }
      if (!this.accept(',') && this.kind !== ']') this.fail("',' or ']'")
    }
    return { kind: 'list', at, items }
  }

  private dict(): Expr {
    const at = this.place
    this.expect('{')
    const keys: Expr[] = []
    const values: Expr[] = []
    while (!this.accept('}')) {
      keys.push(this.expression())
      this.expect(':')
      values.push(this.expression())
      if (this.kind === 'for' && keys.length === 1) {
        const loop = this.loop()
        this.expect('}')
        return { kind: 'comprehension', at, key: keys[0]!, element: values[0]!, loop }
      }
      if (!this.accept(',') && this.kind !== '}') this.fail("',' or '}'")
    }
    return { kind: 'dict', at, keys, values }
  }

  private loop(): Loop {
    this.expect('for')
    const target = this.targets()
    this.expect('in')
    const source = this.logical('or')
    return { target, source, condition: this.accept('if') ? this.logical('or') : null }
  }

  // definitions

  protected parameters(): Parameter[] {
    const parameters: Parameter[] = []
    let keywordOnly = false
    this.expect('(')
    while (!this.accept(')')) {
      if (this.accept('*')) keywordOnly = true
      else {
        const at = this.place
        const name = this.name()
        const type = this.accept(':') ? this.expression() : null
        parameters.push({ name, at, type, default: this.accept('=') ? this.expression() : null, keywordOnly })
      }
      if (!this.accept(',') && this.kind !== ')') this.fail("',' or ')'")
    }
    return parameters
  }
}
