import ts from 'typescript'

export type FunctionNode = ts.FunctionLikeDeclaration & { readonly body: ts.ConciseBody }

export function isFunction(node: ts.Node): node is FunctionNode {
  return ts.isFunctionLike(node) && (node as ts.FunctionLikeDeclaration).body !== undefined
}

/** The name by which the other code of a bundle knows a class. */
export function classNameOf(node: ts.ClassLikeDeclaration): string {
  return (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : node.name?.text) ?? ''
}

export function declarationsOf(statement: ts.Statement): readonly ts.VariableDeclaration[] {
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations : []
}

/** What a bundle exports. */
export function exportsOf(tree: ts.SourceFile): ts.ExportSpecifier[] {
  return tree.statements.filter(ts.isExportDeclaration).flatMap(({ exportClause }) => {
    return exportClause !== undefined && ts.isNamedExports(exportClause) ? [...exportClause.elements] : []
  })
}
