import ts from 'typescript'

/**
 * Names of properties in a bundle that nothing outside of it knows, so that others can take their places. `known` are those of other
 * objects, and of the bundle's own that apps use. In typed sources an object from outside has no property that its declarations do not
 * name. A name also stays if a text has it as a word, or if its object's keys are asked for.
 */
export function ownNames(tree: ts.SourceFile, known: (name: string) => boolean): string[] {
  const used = new Set<string>()
  const fixed = new Set<string>()
  const listed = new Set<string>()
  const literals = new Map<string, ts.ObjectLiteralExpression[]>()
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) used.add(node.name.text)
    else if (isMemberDeclaration(node)) used.add(node.name.text)
    else if (isTextPart(node)) for (const word of node.text.match(/[\w$]+/g) ?? []) fixed.add(word)
    else if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      if (isParsed(node.initializer)) for (const name of namesIn(node.name)) fixed.add(name)
      if (ts.isObjectLiteralExpression(node.initializer)) {
        literals.set(node.name.getText(), [...(literals.get(node.name.getText()) ?? []), node.initializer])
      }
    }
    for (const object of keysAskedOf(node)) {
      if (ts.isIdentifier(object)) listed.add(object.text)
      if (ts.isObjectLiteralExpression(object)) for (const key of keysOf(object)) fixed.add(key)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  for (const name of listed) for (const literal of literals.get(name) ?? []) for (const key of keysOf(literal)) fixed.add(key)
  return [...used].filter((name) => !fixed.has(name) && !known(name)).sort()
}

type TextPart = ts.StringLiteralLike | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail

function isTextPart(node: ts.Node): node is TextPart {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
}

function isMemberDeclaration(node: ts.Node): node is ts.ObjectLiteralElementLike & { readonly name: ts.Identifier } {
  const isMember =
    ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node)
  return isMember && ts.isIdentifier(node.name)
}

/** Whether a value is read from JSON. */
function isParsed(node: ts.Expression): boolean {
  return ts.isCallExpression(node) && node.expression.getText() === 'JSON.parse'
}

function namesIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return []
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? [(element.propertyName ?? element.name).getText()] : []))
}

const LISTING = new Set(['Object.keys', 'Object.entries', 'Object.values', 'Object.fromEntries', 'Object.hasOwn', 'JSON.stringify'])

/** Objects of which a node names a property by an expression, or all. */
function keysAskedOf(node: ts.Node): ts.Node[] {
  if (ts.isElementAccessExpression(node)) return [node.expression]
  if (ts.isForInStatement(node)) return [node.expression]
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) return [node.right]
  return ts.isCallExpression(node) && LISTING.has(node.expression.getText()) ? [...node.arguments] : []
}

function keysOf(literal: ts.ObjectLiteralExpression): string[] {
  return literal.properties.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []))
}
