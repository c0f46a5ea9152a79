import ts from 'typescript'
import { declarationsOf, isFunction } from './syntax.js'

/** Stands for a value in a text. */
export const HOLE = '{}'

/** A text with holes, and the code of what fills them. */
export interface Pattern {
  readonly text: string
  readonly values: readonly string[]
}

/** An error that code makes: its code and text. */
export interface Failure extends Pattern {
  readonly code: string
}

/** Arguments of the functions that an expression is in, in its place at a call of them. */
export type Scope = ReadonlyMap<string, { readonly node: ts.Expression; readonly scope: Scope }>

export const TOP: Scope = new Map()

/** Functions that do nothing but make an error of their arguments, or throw one, perhaps unless the first of them holds. */
interface Maker {
  readonly parameters: readonly ts.ParameterDeclaration[]
  readonly error: ts.Expression
  readonly kind: 'makes' | 'throws' | 'checks'
}

/** What code throws and nothing else. */
export interface Thrown extends Failure {
  /** Code of a condition under which nothing is thrown. */
  readonly unless: string | null
}

/** What can be known of texts and errors in a bundle, no name of which hides one of its top level. */
export class Patterns {
  private readonly constants = new Map<string, string>()
  private readonly makers = new Map<string, Maker>()

  /** `errorClass` is the name of the class of errors that have a code; `inner` makes code of the texts within values, null to leave them. */
  constructor(
    tree: ts.SourceFile,
    private readonly errorClass: string,
    private readonly inner: (pattern: Pattern) => string | null,
  ) {
    for (const statement of tree.statements) {
      if (ts.isFunctionDeclaration(statement)) this.addMaker(statement.name?.text ?? '', statement)
      for (const { name, initializer } of declarationsOf(statement)) {
        if (initializer === undefined) continue
        if (ts.isStringLiteralLike(initializer) || ts.isNumericLiteral(initializer)) this.constants.set(name.getText(), initializer.text)
        else if (isFunction(initializer)) this.addMaker(name.getText(), initializer)
      }
    }
    for (const name of assignedIn(tree)) this.constants.delete(name)
  }

  private addMaker(name: string, { parameters, body }: ts.FunctionLikeDeclaration): void {
    let only = body !== undefined && ts.isBlock(body) && body.statements.length === 1 ? body.statements[0]! : undefined
    const checks =
      only !== undefined && ts.isIfStatement(only) && isNegated(only.expression, parameters[0]) && only.elseStatement === undefined
    if (checks) only = (only as ts.IfStatement).thenStatement
    if (only === undefined || !(ts.isThrowStatement(only) || (ts.isReturnStatement(only) && !checks)) || only.expression === undefined)
      return
    if (parameters.some((p) => !ts.isIdentifier(p.name) || p.dotDotDotToken !== undefined)) return
    this.makers.set(name, { parameters, error: only.expression, kind: checks ? 'checks' : ts.isThrowStatement(only) ? 'throws' : 'makes' })
  }

  /** What a statement or an expression throws; null where that is not all that it does, or is not known. */
  thrownBy(node: ts.Node): Thrown | null {
    if (ts.isThrowStatement(node)) return withCondition(this.failureOf(node.expression, TOP), null)
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return null
    const maker = this.makers.get(node.expression.text)
    if (maker === undefined || maker.kind === 'makes') return null
    const unless = maker.kind === 'checks' ? this.render(node.arguments[0]!, TOP) : null
    return withCondition(this.failureOf(maker.error, scopeOf(maker, node, TOP)), unless)
  }

  /** The error that an expression makes and does not throw; null where that is not known. */
  madeBy(node: ts.Node): Failure | null {
    return ts.isNewExpression(node) || ts.isCallExpression(node) ? this.failureOf(node, TOP) : null
  }

  private failureOf(written: ts.Expression, scope: Scope): Failure | null {
    const node = decided(written)
    if (ts.isNewExpression(node) && node.expression.getText() === this.errorClass && node.arguments?.length === 2) {
      const code = this.patternOf(node.arguments[0]!, scope)
      const text = this.patternOf(node.arguments[1]!, scope) ?? valueOf(this.render(node.arguments[1]!, scope))
      return code === null || code.values.length > 0 ? null : { code: code.text, ...text }
    }
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return null
    const maker = this.makers.get(node.expression.text)
    return maker?.kind !== 'makes' ? null : this.failureOf(maker.error, scopeOf(maker, node, scope))
  }

  /** null for what is no text, or one that has a hole's mark in it. */
  patternOf(written: ts.Expression, scope: Scope): Pattern | null {
    const node = decided(written)
    if (ts.isStringLiteralLike(node)) return node.text.includes(HOLE) ? null : { text: node.text, values: [] }
    if (ts.isIdentifier(node)) {
      const given = scope.get(node.text)
      if (given !== undefined) return this.patternOf(given.node, given.scope)
      const constant = this.constants.get(node.text)
      return constant === undefined || constant.includes(HOLE) ? null : { text: constant, values: [] }
    }
    if (ts.isTemplateExpression(node)) {
      const literals = [node.head, ...node.templateSpans.map((span) => span.literal)].map(({ text }) => text)
      if (literals.some((text) => text.includes(HOLE))) return null
      const parts = node.templateSpans.map(({ expression }) => this.patternOf(expression, scope) ?? valueOf(this.render(expression, scope)))
      return {
        text: literals[0]! + parts.map(({ text }, i) => text + literals[i + 1]!).join(''),
        values: parts.flatMap(({ values }) => values),
      }
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const given = scope.get(node.expression.text)
      if (given !== undefined && ts.isArrowFunction(given.node) && !ts.isBlock(given.node.body)) {
        return this.patternOf(given.node.body, given.scope) ?? valueOf(this.render(given.node.body, given.scope))
      }
    }
    return null
  }

  /** The code of an expression with arguments in place of parameters. */
  render(node: ts.Node, scope: Scope): string {
    const given = ts.isIdentifier(node) && !isName(node) ? scope.get(node.text) : undefined
    if (given !== undefined) {
      const code = this.render(given.node, given.scope)
      return isSimple(given.node) ? code : `(${code})`
    }
    const pattern = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ? this.patternOf(node, scope) : null
    const inner = pattern === null || meansMore(node) ? null : this.inner(pattern)
    if (inner !== null) return inner
    let text = ''
    let at = node.getStart()
    const file = node.getSourceFile().text
    ts.forEachChild(node, (child) => {
      text += file.slice(at, child.getStart()) + this.render(child, scope)
      at = child.end
    })
    return text + file.slice(at, node.end)
  }
}

/** Of a choice by a constant what it comes to. */
function decided(node: ts.Expression): ts.Expression {
  if (ts.isParenthesizedExpression(node)) return decided(node.expression)
  if (!ts.isConditionalExpression(node)) return node
  if (node.condition.kind === ts.SyntaxKind.TrueKeyword) return decided(node.whenTrue)
  return node.condition.kind === ts.SyntaxKind.FalseKeyword ? decided(node.whenFalse) : node
}

const valueOf = (code: string): Pattern => ({ text: HOLE, values: [code] })

function scopeOf({ parameters }: Maker, call: ts.CallExpression, scope: Scope): Scope {
  return new Map(
    parameters.flatMap(({ name, initializer }, i) => {
      const node = call.arguments[i] ?? initializer
      return node === undefined ? [] : [[name.getText(), { node, scope: call.arguments[i] === undefined ? TOP : scope }] as const]
    }),
  )
}

function withCondition(failure: Failure | null, unless: string | null): Thrown | null {
  return failure === null ? null : { ...failure, unless }
}

function isNegated(node: ts.Expression, parameter: ts.ParameterDeclaration | undefined): boolean {
  const isNot = ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken
  return isNot && parameter !== undefined && node.operand.getText() === parameter.name.getText()
}

function isSimple(node: ts.Node): boolean {
  return ts.isIdentifier(node) || ts.isLiteralExpression(node) || ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)
}

/** Whether a text is a key, or is compared with. */
export function meansMore(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isBinaryExpression(parent)) {
    return parent.operatorToken.kind !== ts.SyntaxKind.PlusToken && parent.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken
  }
  if (ts.isPropertyAssignment(parent)) return parent.name === node
  return ts.isTaggedTemplateExpression(parent) || ts.isCaseClause(parent) || ts.isElementAccessExpression(parent)
}

/** Whether an identifier names a property. */
function isName(node: ts.Identifier): boolean {
  const { parent } = node
  return (ts.isPropertyAccessExpression(parent) && parent.name === node) || (ts.isPropertyAssignment(parent) && parent.name === node)
}

const isAssignment = (kind: ts.SyntaxKind): boolean => kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

/** Names that get another value than they are made with. */
function assignedIn(node: ts.Node): Set<string> {
  const names = new Set<string>()
  const visit = (child: ts.Node): void => {
    if (ts.isBinaryExpression(child) && isAssignment(child.operatorToken.kind)) names.add(child.left.getText())
    else if (ts.isPrefixUnaryExpression(child) || ts.isPostfixUnaryExpression(child)) names.add(child.operand.getText())
    ts.forEachChild(child, visit)
  }
  visit(node)
  return names
}
