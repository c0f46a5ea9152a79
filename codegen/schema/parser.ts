import type { AliasInfo, Argument, DefaultValue, FunctionSchema, Return, SchemaType } from './model.js'
import { SchemaError, type Token, tokenize } from './tokenizer.js'

const GENERICS = new Set(['Dict', 'Future', 'RRef', 'Await'])

/** Schemas parsed so far in this process: a test asserts that the runtime adds none. */
export let parseCount = 0

/** Parses `ns::name.overload(arguments) -> returns`. Throws SchemaError. */
export function parseSchema(text: string): FunctionSchema {
  parseCount++
  return new Parser(text).schema()
}

/** Parses one type, e.g. `Tensor(a!)[]`. Throws SchemaError. */
export function parseType(text: string): SchemaType {
  const parser = new Parser(text)
  const type = parser.type()
  parser.expectEnd()
  return type
}

class Parser {
  private readonly tokens: Token[]
  private at = 0

  constructor(private readonly text: string) {
    this.tokens = tokenize(text)
  }

  schema(): FunctionSchema {
    const [namespace, name, overload] = this.operatorName()
    this.expect('(')
    const [args, isVararg] = this.arguments()
    this.expect('->')
    const [returns, isVarret] = this.returns()
    this.expectEnd()
    return { namespace, name, overload, arguments: args, isVararg, returns, isVarret }
  }

  private operatorName(): [string | null, string, string] {
    const first = this.name('an operator name')
    const namespace = this.accept('::') ? first : null
    const full = namespace === null ? first : this.name('an operator name')
    const dot = full.indexOf('.')
    return dot < 0 ? [namespace, full, ''] : [namespace, full.slice(0, dot), full.slice(dot + 1)]
  }

  private arguments(): [Argument[], boolean] {
    const args: Argument[] = []
    let kwargOnly = false
    if (this.accept(')')) return [args, false]
    for (;;) {
      if (this.accept('...')) {
        this.expect(')')
        return [args, true]
      }
      if (this.accept('*')) {
        if (kwargOnly) this.fail("a second '*'")
        kwargOnly = true
        if (this.peek().text === ')' || this.tokens[this.at + 1]?.text === '...') this.fail("arguments behind '*' expected")
      } else args.push(this.argument(kwargOnly, args))
      if (this.accept(')')) break
      this.expect(',')
    }
    return [args, false]
  }

  private argument(kwargOnly: boolean, before: readonly Argument[]): Argument {
    const type = this.type()
    const name = this.name('an argument name')
    if (before.some((a) => a.name === name)) this.fail(`a second argument '${name}'`)
    const defaultValue = this.accept('=') ? this.defaultValue() : null
    return { name, type, defaultValue, kwargOnly }
  }

  private returns(): [Return[], boolean] {
    if (this.accept('...')) return [[], true]
    if (!this.accept('(')) return [[this.return()], false]
    const returns: Return[] = []
    if (this.accept(')')) return [returns, false]
    do returns.push(this.return())
    while (this.accept(','))
    this.expect(')')
    return [returns, false]
  }

  private return(): Return {
    const type = this.type()
    return { type, name: this.peek().kind === 'name' ? this.next().text : null }
  }

  type(): SchemaType {
    let type = this.simpleType()
    for (;;) {
      if (this.accept('?')) type = { kind: 'optional', inner: type, alias: null }
      else if (this.accept('[')) {
        const size = this.peek().kind === 'number' ? this.integer() : null
        this.expect(']')
        type = { kind: 'list', inner: type, size, alias: null }
      } else if (this.peek().text === '(') type = { ...type, alias: this.alias() }
      else return type
    }
  }

  private simpleType(): SchemaType {
    if (this.accept('(')) {
      const items = [this.type()]
      while (this.accept(',')) items.push(this.type())
      this.expect(')')
      return { kind: 'tuple', items, alias: null }
    }
    const name = this.name('a type')
    if (!GENERICS.has(name)) return { kind: 'base', name, alias: null }
    this.expect('(')
    const parameters = [this.type()]
    while (this.accept(',')) parameters.push(this.type())
    this.expect(')')
    return { kind: 'generic', name, parameters, alias: null }
  }

  private alias(): AliasInfo {
    this.expect('(')
    const before = this.aliasSets()
    const write = this.accept('!')
    const after = this.accept('->') ? this.aliasSets() : null
    this.expect(')')
    return { before, write, after }
  }

  private aliasSets(): string[] {
    if (this.accept('*')) return ['*']
    const sets = [this.name('an alias set')]
    while (this.accept('|')) sets.push(this.name('an alias set'))
    return sets
  }

  private defaultValue(): DefaultValue {
    const token = this.next()
    if (token.kind === 'string') return { kind: 'str', value: token.text, quote: token.quote! }
    if (token.kind === 'number') return { kind: /^-?\d+$/.test(token.text) ? 'int' : 'float', text: token.text }
    if (token.kind === 'name') {
      if (token.text === 'None') return { kind: 'none' }
      if (token.text === 'True' || token.text === 'False') return { kind: 'bool', value: token.text === 'True' }
      return { kind: 'symbol', name: token.text }
    }
    if (token.text !== '[') throw new SchemaError(`expected a default value, found '${token.text}'`, this.text, token.start)
    const items: DefaultValue[] = []
    if (this.accept(']')) return { kind: 'list', items }
    do items.push(this.defaultValue())
    while (this.accept(','))
    this.expect(']')
    return { kind: 'list', items }
  }

  private integer(): number {
    const value = Number(this.next().text)
    if (!Number.isInteger(value) || value < 1) this.fail('a list size that is not a positive integer')
    return value
  }

  private peek(): Token {
    return this.tokens[this.at]!
  }

  private next(): Token {
    return this.tokens[this.at++]!
  }

  private accept(punctuation: string): boolean {
    const token = this.peek()
    const hit = token.kind === 'punctuation' && token.text === punctuation
    if (hit) this.at++
    return hit
  }

  private expect(punctuation: string): void {
    if (!this.accept(punctuation)) this.fail(`'${punctuation}' expected`)
  }

  private name(what: string): string {
    const token = this.peek()
    if (token.kind !== 'name') this.fail(`${what} expected`)
    return this.next().text
  }

  expectEnd(): void {
    if (this.peek().kind !== 'end') this.fail('the end expected')
  }

  private fail(message: string): never {
    const token = this.peek()
    throw new SchemaError(`${message}, found '${token.text}'`, this.text, token.start)
  }
}
