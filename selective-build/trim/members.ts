import ts from 'typescript'
import { applyEdits, parseBundle } from './source.js'
import { classNameOf, declarationsOf, exportsOf } from './syntax.js'

/** Called by the language itself. */
const IMPLICIT = new Set(['constructor', 'toString', 'toJSON', 'valueOf', 'then', 'next', 'return', 'throw'])

/**
 * The bundle without methods and accessors of classes whose names stand nowhere else in it. Bundlers keep all members of a class that is
 * kept. `known` are names that apps may use, of classes that the bundle exports and those that extend them.
 */
export function withoutUnusedMembers(text: string, known: ReadonlySet<string>): string {
  for (;;) {
    const { tree } = parseBundle(text)
    const used = namesUsed(tree)
    const open = openClasses(tree)
    const unused = classesOf(tree).flatMap((node) => {
      const isOpen = open.has(classNameOf(node))
      return node.members.filter((member) => {
        if (!(ts.isMethodDeclaration(member) || ts.isAccessor(member)) || !ts.isIdentifier(member.name)) return false
        const name = member.name.text
        return !used.has(name) && !IMPLICIT.has(name) && !(isOpen && known.has(name))
      })
    })
    if (unused.length === 0) return text
    text = applyEdits(
      text,
      unused.map((member) => ({ start: member.getStart(), end: member.end, text: '' })),
    )
  }
}

function classesOf(node: ts.Node): ts.ClassLikeDeclaration[] {
  const classes: ts.ClassLikeDeclaration[] = ts.isClassLike(node) ? [node] : []
  ts.forEachChild(node, (child) => void classes.push(...classesOf(child)))
  return classes
}

/** Names of the classes whose instances apps get: those that are exported or stood for, what they extend, and what extends one of them. */
function openClasses(tree: ts.SourceFile): Set<string> {
  const open = new Set(exportsOf(tree).map((element) => (element.propertyName ?? element.name).text))
  for (const name of stoodFor(tree, open)) open.add(name)
  const pairs = classesOf(tree).map((node) => [classNameOf(node), node.heritageClauses?.[0]?.types[0]?.expression.getText() ?? ''] as const)
  for (let size = -1; size !== open.size;) {
    size = open.size
    for (const [name, parent] of pairs) {
      if (parent === '') continue
      if (open.has(parent)) open.add(name)
      if (open.has(name)) open.add(parent)
    }
  }
  return open
}

/**
 * Classes whose prototype one of these has, too: `Object.defineProperties(name, { prototype: { value: Class.prototype } })`, where `name` may have
 * been given another one.
 */
function stoodFor(tree: ts.SourceFile, exported: ReadonlySet<string>): string[] {
  const found: string[] = []
  const names = new Set(exported)
  for (const statement of tree.statements)
    for (const { name, initializer } of declarationsOf(statement))
      if (initializer !== undefined && ts.isIdentifier(initializer) && names.has(name.getText())) names.add(initializer.text)
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'Object.defineProperties' && names.has(node.arguments[0]!.getText())) {
      const prototype = /\bprototype: *\{ *value: *([\w$]+)\.prototype\b/.exec(node.getText())
      if (prototype !== null) found.push(prototype[1]!)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
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
