import ts from 'typescript'

/** Blocks that are told apart. */
const MAX_BLOCKS = 1 << 14
const { factory } = ts

/**
 * A function that puts marks into sources: where a block, a branch or a case of them runs, its byte of `globalThis.ptliteBlocks` is set. Sources are told by their
 * path.
 */
export function blockMarks(isMarked) {
  let count = 0
  return (text, path) => {
    if (!isMarked(path)) return text
    const { outputText } = ts.transpileModule(text, {
      fileName: path,
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
      transformers: { before: [marker(() => count++ % MAX_BLOCKS)] },
    })
    return `const ptliteBlocks = (globalThis.ptliteBlocks ??= new Uint8Array(${MAX_BLOCKS}));\n${outputText}`
  }
}

function marker(next) {
  const mark = () =>
    factory.createAssignment(
      factory.createElementAccessExpression(factory.createIdentifier('ptliteBlocks'), next()),
      factory.createNumericLiteral(1),
    )
  const statement = () => factory.createExpressionStatement(mark())
  const marked = (expression) => factory.createParenthesizedExpression(factory.createComma(mark(), expression))
  return (context) => {
    const inBlock = (node) => (ts.isBlock(node) ? node : factory.createBlock([node], true))
    const visit = (original) => {
      const node = ts.visitEachChild(original, visit, context)
      if (ts.isBlock(node)) return factory.updateBlock(node, [statement(), ...node.statements])
      if (ts.isIfStatement(node)) {
        const then = ts.isBlock(node.thenStatement) ? node.thenStatement : factory.createBlock([statement(), node.thenStatement], true)
        const other = node.elseStatement
        const otherwise =
          other === undefined || ts.isBlock(other) || ts.isIfStatement(other)
            ? other
            : inBlock(factory.createBlock([statement(), other], true))
        return factory.updateIfStatement(node, node.expression, then, otherwise)
      }
      if (ts.isConditionalExpression(node))
        return factory.updateConditionalExpression(
          node,
          node.condition,
          node.questionToken,
          marked(node.whenTrue),
          node.colonToken,
          marked(node.whenFalse),
        )
      if (ts.isBinaryExpression(node) && ['&&', '||', '??'].includes(ts.tokenToString(node.operatorToken.kind)))
        return factory.updateBinaryExpression(node, node.left, node.operatorToken, marked(node.right))
      if (ts.isCaseClause(node)) return factory.updateCaseClause(node, node.expression, [statement(), ...node.statements])
      if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
        return factory.updateArrowFunction(
          node,
          node.modifiers,
          node.typeParameters,
          node.parameters,
          node.type,
          node.equalsGreaterThanToken,
          marked(node.body),
        )
      return node
    }
    return (source) => ts.visitEachChild(source, visit, context)
  }
}
