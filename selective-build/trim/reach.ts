import ts from 'typescript'
import { classNameOf, declarationsOf, isFunction } from './syntax.js'

interface Member {
  readonly node: ts.Node
  /** Null for functions of objects that have no class. */
  readonly className: string | null
}

/**
 * What code can come to by the names in it. No name of a bundle hides one of its top level. A property may be that of any object: it
 * stands for every method of its name, but those of classes that have no instance and that nothing comes to. That is more than is ever
 * called, never less.
 */
export class Reach {
  /** Functions and statements that were gone through. */
  readonly nodes = new Set<ts.Node>()
  private readonly topLevel = new Map<string, ts.Node>()
  private readonly members = new Map<string, Member[]>()
  private readonly names = new Set<string>()
  private readonly tables = new Set<ts.Node>()
  private readonly properties = new Set<string>()
  private readonly classes: Set<string>

  /** Calls of the functions in `barred` are not followed. */
  constructor(statements: readonly ts.Statement[], living: Iterable<string>, barred: ReadonlySet<string>) {
    this.classes = new Set(living)
    for (const statement of statements) {
      if (ts.isFunctionDeclaration(statement) && statement.name !== undefined && !barred.has(statement.name.text))
        this.topLevel.set(statement.name.text, statement)
      for (const { name, initializer } of declarationsOf(statement)) {
        if (initializer !== undefined) this.topLevel.set(name.getText(), initializer)
      }
      this.index(statement, null)
    }
  }

  private index(node: ts.Node, className: string | null): void {
    if (ts.isClassLike(node)) className = classNameOf(node)
    const isMethod = ts.isMethodDeclaration(node) || ts.isAccessor(node)
    const fn = isMethod ? node : ts.isPropertyAssignment(node) && isFunction(node.initializer) ? node.initializer : null
    if (fn !== null) {
      const name = textOf((node as ts.MethodDeclaration).name)
      const owner = isMethod && ts.isClassLike(node.parent) ? className : null
      const others = this.members.get(name)
      if (others === undefined) this.members.set(name, [{ node: fn, className: owner }])
      else others.push({ node: fn, className: owner })
    }
    ts.forEachChild(node, (child) => this.index(child, className))
  }

  /** Goes through everything that may run when `node` does: functions in it too, but for methods, which run where they are named. */
  follow(node: ts.Node): void {
    if (this.nodes.has(node)) return
    this.nodes.add(node)
    this.followWithin(node)
  }

  private followWithin(node: ts.Node): void {
    if (ts.isIdentifier(node)) this.followName(node)
    else if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
      this.followProperty(node.argumentExpression.text)
    }
    ts.forEachChild(node, (child) => {
      if (isMember(child)) return
      if (isFunction(child)) this.nodes.add(child)
      this.followWithin(child)
    })
  }

  private followName(node: ts.Identifier): void {
    const { parent, text } = node
    if (ts.isPropertyAccessExpression(parent) && parent.name === node) this.followProperty(text)
    else if (ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) this.followProperty(text)
    else if (!isKey(node)) this.followTopLevel(text, ts.isPropertyAccessExpression(parent))
  }

  private followTopLevel(name: string, isOfProperty: boolean): void {
    const found = this.topLevel.get(name)
    if (found === undefined) return
    if (!this.names.has(name)) {
      this.names.add(name)
      if (ts.isClassLike(found)) this.giveLife(name)
      this.follow(found)
    }
    // of a table whose keys are not seen any function may be meant
    if (isOfProperty || !ts.isObjectLiteralExpression(found) || this.tables.has(found)) return
    this.tables.add(found)
    for (const property of found.properties) {
      const value = ts.isPropertyAssignment(property) ? property.initializer : property
      if (isFunction(value)) this.follow(value)
    }
  }

  private giveLife(className: string): void {
    if (this.classes.has(className)) return
    this.classes.add(className)
    for (const name of this.properties) this.followMembers(name)
  }

  private followProperty(name: string): void {
    if (this.properties.has(name)) return
    this.properties.add(name)
    this.followMembers(name)
  }

  private followMembers(name: string): void {
    for (const { node, className } of this.members.get(name) ?? []) {
      if (className === null || this.classes.has(className)) this.follow(node)
    }
  }
}

/** Functions that run only where their names are used. */
function isMember(node: ts.Node): boolean {
  return ts.isMethodDeclaration(node) || ts.isAccessor(node) || (isFunction(node) && ts.isPropertyAssignment(node.parent))
}

/** Whether an identifier names a property where it is made. */
function isKey(node: ts.Identifier): boolean {
  const { parent } = node
  return (ts.isPropertyAssignment(parent) || ts.isClassElement(parent)) && parent.name === node
}

function textOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : name.getText()
}
