import ts from 'typescript'
import { applyEdits, parseBundle } from './source.js'

/** Called by the language itself. */
const IMPLICIT = new Set(['constructor', 'toString', 'toJSON', 'valueOf', 'then', 'next', 'return', 'throw'])

/**
 * The bundle without methods and accessors of classes whose names stand nowhere else in it. Bundlers keep all members of a class that is
 * kept. `kept` are names that code outside of the bundle may use.
 */
export function withoutUnusedMembers(text: string, kept: ReadonlySet<string>): string {
  for (;;) {
    const { tree } = parseBundle(text)
    const used = namesUsed(tree)
    const unused = membersOf(tree).filter(
      ({ name }) => ts.isIdentifier(name) && !used.has(name.text) && !kept.has(name.text) && !IMPLICIT.has(name.text),
    )
    if (unused.length === 0) return text
    text = applyEdits(
      text,
      unused.map((member) => ({ start: member.getStart(), end: member.end, text: '' })),
    )
  }
}

function membersOf(node: ts.Node): (ts.MethodDeclaration | ts.AccessorDeclaration)[] {
  const members: (ts.MethodDeclaration | ts.AccessorDeclaration)[] = []
  const visit = (child: ts.Node): void => {
    if ((ts.isMethodDeclaration(child) || ts.isAccessor(child)) && ts.isClassLike(child.parent)) members.push(child)
    ts.forEachChild(child, visit)
  }
  visit(node)
  return members
}

/** Names of properties that are used, and all texts: either may name a member. */
function namesUsed(node: ts.Node): Set<string> {
  const names = new Set<string>()
  const visit = (child: ts.Node): void => {
    if (ts.isPropertyAccessExpression(child)) names.add(child.name.text)
    else if (ts.isBindingElement(child)) names.add((child.propertyName ?? child.name).getText())
    else if (ts.isStringLiteralLike(child)) names.add(child.text)
    else if (ts.isShorthandPropertyAssignment(child)) names.add(child.name.text)
    ts.forEachChild(child, visit)
  }
  visit(node)
  return names
}
