import ts from 'typescript'
import { applyEdits, type Edit, parseBundle } from '../trim/source.js'

interface Imported {
  readonly module: string
  readonly name: string
  readonly local: string
}

/** A bundle with one import for each module of Node, where bundlers leave one for each source file, and one name for what is imported again. */
export function mergedImports(text: string): string {
  const { tree } = parseBundle(text)
  const statements = tree.statements.filter(isNamedImport)
  const declared = declaredNames(tree)
  const kept = new Map<string, Imported>()
  const renamed = new Map<string, string>()
  for (const statement of statements) {
    const module = (statement.moduleSpecifier as ts.StringLiteral).text
    for (const { name, propertyName } of statement.importClause.namedBindings.elements) {
      const imported = { module, name: (propertyName ?? name).text, local: name.text }
      const key = `${module} ${imported.name}`
      const first = kept.get(key)
      if (first === undefined) kept.set(key, imported)
      // what is declared under the name would hide it
      else if (declared.has(first.local)) kept.set(`${key} ${imported.local}`, imported)
      else renamed.set(imported.local, first.local)
    }
  }
  const edits: Edit[] = statements.map((statement) => ({ start: statement.getStart(), end: statement.end, text: '' }))
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return
    if (ts.isShorthandPropertyAssignment(node) && renamed.has(node.name.text))
      edits.push({ start: node.getStart(), end: node.end, text: `${node.name.text}: ${renamed.get(node.name.text)!}` })
    else if (ts.isIdentifier(node) && renamed.has(node.text) && !isPropertyName(node))
      edits.push({ start: node.getStart(), end: node.end, text: renamed.get(node.text)! })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  const modules = new Set([...kept.values()].map(({ module }) => module))
  const imports = [...modules].map((module) => {
    const all = [...kept.values()].filter((imported) => imported.module === module)
    const names = all.map(({ name, local }) => (name === local ? name : `${name} as ${local}`))
    return `import { ${names.join(', ')} } from ${JSON.stringify(module)};\n`
  })
  return imports.join('') + applyEdits(text, edits)
}

type NamedImport = ts.ImportDeclaration & { readonly importClause: ts.ImportClause & { readonly namedBindings: ts.NamedImports } }

function isNamedImport(node: ts.Statement): node is NamedImport {
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false
  const { name, namedBindings } = node.importClause
  return name === undefined && namedBindings !== undefined && ts.isNamedImports(namedBindings)
}

/** Names of variables, parameters, functions and classes, wherever they are. */
function declaredNames(tree: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    const isDeclaration = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node)
    if ((isDeclaration || ts.isFunctionLike(node) || ts.isClassLike(node)) && node.name !== undefined && ts.isIdentifier(node.name))
      names.add(node.name.text)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return names
}

function isPropertyName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (
    (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isAccessor(parent) || ts.isPropertyDeclaration(parent)) &&
    parent.name === node
  )
}
