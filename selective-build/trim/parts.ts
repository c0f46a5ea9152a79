import ts from 'typescript'
import type { BundleSource } from './source.js'
import { classNameOf, type FunctionNode, isFunction } from './syntax.js'

/** What can be left out by itself: a function, or what runs only if a condition holds. */
export interface Part {
  /** Its place among the parts of the bundle. */
  readonly index: number
  /** `Unpickler.long`, `readArchive`; of what has no name that of the function around it. */
  readonly name: string
  readonly node: FunctionNode | Branch
}

/** A statement, an expression, or the statements of a clause of a switch. */
export type Branch = ts.Statement | ts.Expression | ts.CaseOrDefaultClause

/** The parts of those files of a bundle that `isWanted` names, in the order of the text. */
export function partsOf(source: BundleSource, isWanted: (file: string) => boolean): Part[] {
  const parts: Part[] = []
  const visit = (node: ts.Node, owner: string, name: string, around = ''): void => {
    if (ts.isClassLike(node)) {
      const className = classNameOf(node)
      ts.forEachChild(node, (child) => visit(child, className, className))
      return
    }
    let inner = nameIn(node, owner) ?? name
    if (isFunction(node)) {
      inner = ts.isConstructorDeclaration(node) ? owner : inner
      around = inner
      parts.push({ index: parts.length, name: inner, node })
    } else if (isBranch(node)) parts.push({ index: parts.length, name: around, node })
    ts.forEachChild(node, (child) => visit(child, owner, inner, around))
  }
  for (const statement of source.tree.statements) if (isWanted(source.fileAt(statement.getStart()))) visit(statement, '', '')
  return parts
}

const CHOICES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
])

function isBranch(node: ts.Node): node is Branch {
  const { parent } = node
  if (ts.isIfStatement(parent)) return node !== parent.expression
  if (ts.isConditionalExpression(parent)) return node === parent.whenTrue || node === parent.whenFalse
  if (ts.isBinaryExpression(parent)) return node === parent.right && CHOICES.has(parent.operatorToken.kind)
  return ts.isCaseOrDefaultClause(node) && node.statements.length > 0
}

function nameIn(node: ts.Node, owner: string): string | undefined {
  const named = node as Partial<ts.NamedDeclaration>
  const isNamed = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)
  const isMember = ts.isMethodDeclaration(node) || ts.isAccessor(node)
  if ((!isNamed && !isMember) || named.name === undefined) return undefined
  if (!ts.isStringLiteralLike(named.name) && !ts.isIdentifier(named.name)) return undefined
  const { text } = named.name
  return isMember && owner !== '' ? `${owner}.${text}` : text
}
