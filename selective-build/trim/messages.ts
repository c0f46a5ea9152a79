import { createHash } from 'node:crypto'
import ts from 'typescript'
import { applyEdits, type BundleSource } from './source.js'
import { declarationsOf, isFunction } from './syntax.js'

/** Stands for a value in a text. */
const HOLE = '{}'
/** Shorter texts, and those of one word, which may mean something to code, stay. */
const LEAST_LENGTH = 16

export interface Messages {
  /** The bundle without them. */
  readonly text: string
  /** Of the texts: what a bundle and the file beside it must agree in. */
  readonly hash: string
  /** By number. */
  readonly texts: readonly string[]
}

/** The bundle with calls of `textOf(number, ...values)` in place of the texts of errors. Files that `stays` names keep theirs. */
export function withoutTexts(source: BundleSource, textOf: string, stays: (file: string) => boolean): Messages {
  const numbers = new Map<string, number>()
  const rewritten = (node: ts.Node): string => {
    const found = patternOf(node)
    if (found === null) return withInner(node, rewritten)
    if (!numbers.has(found.pattern)) numbers.set(found.pattern, numbers.size)
    return `${textOf}(${[numbers.get(found.pattern)!, ...found.values.map(rewritten)].join(', ')})`
  }
  const contexts = new ErrorContexts(source)
  const edits = source.tree.statements
    .filter((statement) => !stays(source.fileAt(statement.getStart())))
    .flatMap((statement) => contexts.within(statement))
    .map((node) => ({ start: node.getStart(), end: node.end, text: rewritten(node) }))
  const texts = [...numbers.keys()]
  return { text: applyEdits(source.text, edits), hash: createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 8), texts }
}

/** A text with holes, and what fills them; null for what is none, or too short. */
function patternOf(node: ts.Node): { pattern: string; values: ts.Expression[] } | null {
  if (meansMore(node)) return null
  const [parts, values] = ts.isStringLiteralLike(node)
    ? [[node.text], []]
    : ts.isTemplateExpression(node)
      ? [[node.head.text, ...node.templateSpans.map((span) => span.literal.text)], node.templateSpans.map((span) => span.expression)]
      : [[], []]
  const plain = parts.join('')
  if (plain.length < LEAST_LENGTH || !plain.includes(' ') || plain.includes(HOLE)) return null
  return { pattern: parts.join(HOLE), values }
}

/** Whether a text is a key, or is compared with. */
function meansMore(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isBinaryExpression(parent)) {
    return parent.operatorToken.kind !== ts.SyntaxKind.PlusToken && parent.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken
  }
  if (ts.isPropertyAssignment(parent)) return parent.name === node
  return ts.isTaggedTemplateExpression(parent) || ts.isCaseClause(parent) || ts.isElementAccessExpression(parent)
}

/** The text of a node with what `rewritten` makes of its children. */
function withInner(node: ts.Node, rewritten: (node: ts.Node) => string): string {
  let text = ''
  let at = node.getStart()
  const file = node.getSourceFile().text
  ts.forEachChild(node, (child) => {
    text += file.slice(at, child.getStart()) + rewritten(child)
    at = child.end
  })
  return text + file.slice(at, node.end)
}

/** Where a bundle makes errors: what is thrown, arguments of error classes, and of functions that throw what they are given a text for. */
class ErrorContexts {
  private readonly errors = new Set(['Error'])
  private readonly checks = new Set<string>()

  constructor(source: BundleSource) {
    for (const statement of source.tree.statements) {
      for (const { name, initializer } of declarationsOf(statement)) {
        const parent = initializer !== undefined && ts.isClassLike(initializer) ? initializer.heritageClauses?.[0]?.types[0] : undefined
        if (parent !== undefined && this.errors.has(parent.expression.getText())) this.errors.add(name.getText())
      }
      if (ts.isFunctionDeclaration(statement) && statement.body?.statements.some((inner) => throws(inner))) {
        this.checks.add(statement.name?.text ?? '')
      }
    }
  }

  /** The outermost of them in `node`. */
  within(node: ts.Node): ts.Node[] {
    if (ts.isThrowStatement(node)) return [node]
    if (ts.isNewExpression(node) && this.errors.has(node.expression.getText())) return [node]
    const isCheck = ts.isCallExpression(node) && ts.isIdentifier(node.expression) && this.checks.has(node.expression.text)
    const found: ts.Node[] = []
    ts.forEachChild(node, (child) => {
      if (isCheck && ts.isArrowFunction(child) && patternOf(child.body) !== null) found.push(child.body)
      else found.push(...this.within(child))
    })
    return found
  }
}

function throws(node: ts.Node): boolean {
  return ts.isThrowStatement(node) || (!isFunction(node) && ts.forEachChild(node, throws) === true)
}
