import ts from 'typescript'
import { declarationsOf, isFunction } from './syntax.js'

/** Whether a function, or statements, cannot end but by throwing. */
export function alwaysThrows(node: ts.Node, throwers: ReadonlySet<string>): boolean {
  if (isFunction(node)) return alwaysThrows(node.body, throwers)
  if (ts.isThrowStatement(node)) return true
  if (ts.isExpressionStatement(node)) return alwaysThrows(node.expression, throwers)
  if (ts.isReturnStatement(node)) return node.expression !== undefined && alwaysThrows(node.expression, throwers)
  if (ts.isCallExpression(node)) return ts.isIdentifier(node.expression) && throwers.has(node.expression.text)
  if (ts.isBlock(node) || ts.isCaseClause(node)) {
    const last = node.statements[node.statements.length - 1]
    return last !== undefined && alwaysThrows(last, throwers) && !returnsBefore(node)
  }
  return false
}

function returnsBefore(node: ts.Node): boolean {
  const last = (node as ts.Block).statements[(node as ts.Block).statements.length - 1]
  const returns = (child: ts.Node): boolean =>
    (ts.isReturnStatement(child) && child !== last) || (!isFunction(child) && ts.forEachChild(child, returns) === true)
  return ts.forEachChild(node, returns) === true
}

/** Names of the functions of a bundle that always throw. */
export function throwersOf(tree: ts.SourceFile): Set<string> {
  const throwers = new Set<string>()
  const declared = tree.statements.flatMap((statement): [string, ts.Node][] => {
    if (ts.isFunctionDeclaration(statement)) return statement.body === undefined ? [] : [[statement.name?.text ?? '', statement]]
    return declarationsOf(statement).flatMap(({ name, initializer }) =>
      initializer !== undefined && isFunction(initializer) ? [[name.getText(), initializer]] : [],
    )
  })
  for (let found = -1; found !== throwers.size;) {
    found = throwers.size
    for (const [name, fn] of declared) if (alwaysThrows(fn, throwers)) throwers.add(name)
  }
  return throwers
}

/** Calls `visit` for what makes an error: what is thrown, what is done with what was caught, texts that are built when asked for. */
export function forEachErrorPath(node: ts.Node, visit: (node: ts.Node) => void): void {
  if (ts.isThrowStatement(node) || ts.isCatchClause(node)) visit(node)
  else if (ts.isArrowFunction(node) && isText(node.body)) visit(node)
  ts.forEachChild(node, (child) => forEachErrorPath(child, visit))
}

/** Whether an expression is a text, perhaps of several parts. */
export function isText(node: ts.Node): boolean {
  return (
    ts.isTemplateExpression(node) ||
    ts.isStringLiteralLike(node) ||
    (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)))
  )
}
