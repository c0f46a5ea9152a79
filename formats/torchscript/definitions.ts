import { DEDENT, END, INDENT, NEWLINE, STRING, tokenize } from './lexer.js'
import { Parser } from './parser.js'
import type { SourceFile } from './source.js'
import type { ClassSyntax, FunctionSyntax, Member, Stmt } from './syntax.js'

/** Classes and functions of one file by name. */
export interface Definitions {
  readonly source: SourceFile
  readonly classes: ReadonlyMap<string, ClassSyntax>
  readonly functions: ReadonlyMap<string, FunctionSyntax>
}

/** Reads what a file defines; bodies of functions are parsed when they are asked for. */
export function readDefinitions(source: SourceFile): Definitions {
  return new DefinitionParser(source, tokenize(source)).read()
}

class DefinitionParser extends Parser {
  read(): Definitions {
    const classes = new Map<string, ClassSyntax>()
    const functions = new Map<string, FunctionSyntax>()
    while (this.kind !== END) {
      if (this.kind === 'class') {
        const found = this.classDefinition()
        this.add(classes, found)
      } else if (this.kind === 'def') {
        const found = this.functionDefinition()
        this.add(functions, found)
      } else if (!this.accept(NEWLINE)) this.skipLine()
    }
    return { source: this.source, classes, functions }
  }

  /** Of two definitions one would be another program than whoever looked at the code has read. */
  private add<T extends { readonly name: string; readonly at: number }>(all: Map<string, T>, found: T): void {
    if (all.has(found.name)) throw this.source.wrong(found.at, `${found.name} is defined twice`)
    all.set(found.name, found)
  }

  /** Older files say there what they import, and `op_version_set = 1`. */
  private skipLine(): void {
    const isHeader = this.kind === 'import' || this.kind === 'from' || this.text() === 'op_version_set'
    if (!isHeader) this.fail("'class' or 'def'")
    while (this.kind !== NEWLINE && this.kind !== END) this.at++
  }

  private classDefinition(): ClassSyntax {
    const at = this.place
    this.at++
    const name = this.name()
    let base = ''
    if (this.accept('(')) {
      if (this.kind !== ')') base = this.name()
      this.expect(')')
    }
    this.expect(':')
    const members: Member[] = []
    const methods = new Map<string, FunctionSyntax>()
    this.expect(NEWLINE)
    this.expect(INDENT)
    while (!this.accept(DEDENT)) {
      if (this.kind === 'def') this.add(methods, this.functionDefinition())
      else if (!this.accept(NEWLINE) && !this.accept('pass')) members.push(...this.member())
    }
    return { at, name, base, members, methods: [...methods.values()] }
  }

  /** `name : type`, `name = value` or both; `__annotations__["name"] = type` of names that are none of Python's. */
  private member(): Member[] {
    const at = this.place
    if (this.kind === STRING) {
      // a text that describes the class
      this.expression()
      return []
    }
    const name = this.name()
    if (this.accept('[')) {
      const key = this.expression()
      this.expect(']')
      this.expect('=')
      const type = this.expression()
      if (name !== '__annotations__' || key.kind !== 'constant' || typeof key.value !== 'string')
        throw this.source.wrong(at, "expected __annotations__['name'] = type")
      return [{ at, name: key.value, type, value: null }]
    }
    const type = this.accept(':') ? this.expression() : null
    const value = this.accept('=') ? this.expressions() : null
    if (type === null && value === null) this.fail("':' or '='")
    return [{ at, name, type, value }]
  }

  private functionDefinition(): FunctionSyntax {
    const at = this.place
    this.at++
    const name = this.name()
    const parameters = this.parameters()
    const returns = this.accept('->') ? this.expression() : null
    this.expect(':')
    this.expect(NEWLINE)
    const indent = this.at
    this.expect(INDENT)
    this.at = this.tokens.closes[indent]! + 1
    const body = (): readonly Stmt[] => new Parser(this.source, this.tokens).blockAt(indent + 1)
    return { at, name, parameters, returns, body }
  }
}
