import ts from 'typescript'
import type { BundleSource } from './source.js'
import { classNameOf, type FunctionNode, isFunction } from './syntax.js'

/** A function: what can be left out by itself. */
export interface Part {
  /** Its place among the parts of the bundle. */
  readonly index: number
  /** `Unpickler.long`, `readArchive`; of a function without a name that of the one around it. */
  readonly name: string
  readonly node: FunctionNode
}

/** The parts of those files of a bundle that `isWanted` names, in the order of the text. */
export function partsOf(source: BundleSource, isWanted: (file: string) => boolean): Part[] {
  const parts: Part[] = []
  const visit = (node: ts.Node, owner: string, name: string): void => {
    if (ts.isClassLike(node)) {
      const className = classNameOf(node)
      ts.forEachChild(node, (child) => visit(child, className, className))
      return
    }
    let inner = nameIn(node, owner) ?? name
    if (isFunction(node)) {
      inner = ts.isConstructorDeclaration(node) ? owner : inner
      parts.push({ index: parts.length, name: inner, node })
    }
    ts.forEachChild(node, (child) => visit(child, owner, inner))
  }
  for (const statement of source.tree.statements) if (isWanted(source.fileAt(statement.getStart()))) visit(statement, '', '')
  return parts
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
