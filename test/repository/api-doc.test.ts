import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import t from 'tap'
import { apiPage, withTensorMethods } from '../../scripts/tensor-methods-doc.js'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

/** Names that a module exports by `export { ... } from` and `export * as NAME from`. */
function exportsOf(text: string): readonly string[] {
  const file = ts.createSourceFile('index.ts', text, ts.ScriptTarget.ES2022)
  return file.statements.filter(ts.isExportDeclaration).flatMap(({ exportClause: clause }) => {
    if (clause === undefined) throw new Error('names that cannot be told from the file')
    return ts.isNamespaceExport(clause) ? [clause.name.text] : clause.elements.map(({ name }) => name.text)
  })
}

/** Methods of an interface. */
function methodsOf(text: string, name: string): readonly string[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.ES2022)
  const found = file.statements.find((one): one is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(one) && one.name.text === name)
  return found!.members.map((member) => (member.name as ts.Identifier).text)
}

t.test('docs/api.md names all that the package exports', (t) => {
  // in code alone: many of the names are words, too
  const code = [...read('docs/api.md').matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([part]) => part).join('\n')
  const isNamed = (name: string): boolean => new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(code)
  const names = [...exportsOf(read('src/index.ts')), ...methodsOf(read('runtime/tensor/generated/operations.ts'), 'TensorOperations')]
  t.ok(names.includes('loadModule') && names.includes('custom') && names.includes('topk') && names.length > 80, `${names.length} names`)
  t.strictSame(
    names.filter((name) => !isNamed(name)),
    [],
  )
  t.end()
})

t.test('its tables of methods are those of codegen/tensor_methods.yaml', (t) => {
  t.equal(apiPage(), withTensorMethods(apiPage()), 'run: npx tsx scripts/print-tensor-methods.ts')
  t.end()
})

t.test('and all codes of errors', (t) => {
  const [, union] = /export type ErrorCode =([\s\S]*?)\n\n/.exec(read('runtime/error.ts'))!
  const codes = [...union!.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code!)
  t.ok(codes.length > 10)
  t.strictSame(
    codes.filter((code) => !read('docs/api.md').includes(`\`${code}\``)),
    [],
  )
  t.end()
})

/** Of what a file of declarations exports, and of its methods, those without a description; fields may speak for themselves. */
function undescribed(text: string): readonly string[] {
  const file = ts.createSourceFile('index.d.ts', text, ts.ScriptTarget.ES2022, true)
  const declarations = new Map<string, ts.Node[]>()
  const declare = (name: string, node: ts.Node): unknown => declarations.set(name, [...(declarations.get(name) ?? []), node])
  const exported = new Map<string, string>()
  for (const one of file.statements) {
    if (ts.isVariableStatement(one)) for (const { name } of one.declarationList.declarations) declare(name.getText(), one)
    else if ('name' in one && one.name !== undefined) declare((one.name as ts.Identifier).text, one)
    else if (ts.isExportDeclaration(one) && one.exportClause !== undefined && ts.isNamedExports(one.exportClause))
      for (const { name, propertyName } of one.exportClause.elements) exported.set(name.text, (propertyName ?? name).text)
  }
  const isDescribed = (node: ts.Node): boolean => ts.getJSDocCommentsAndTags(node).length > 0
  return [...exported].flatMap(([name, local]) => {
    const found = declarations.get(local) ?? []
    const members = found.flatMap((node) => (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) ? [...node.members] : []))
    const isOpen = (node: ts.ClassElement | ts.TypeElement): boolean =>
      node.name !== undefined &&
      !ts.isPropertyDeclaration(node) &&
      !ts.isPropertySignature(node) &&
      !ts.isComputedPropertyName(node.name) &&
      !ts.isPrivateIdentifier(node.name) &&
      !(ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true)
    // one of several overloads is enough
    const nameOf = (member: ts.ClassElement | ts.TypeElement): string => `${name}.${member.name!.getText()}`
    const described = new Set(members.filter((member) => member.name !== undefined && isDescribed(member)).map(nameOf))
    const names = [...new Set(members.filter(isOpen).map(nameOf))]
    return [...(found.some(isDescribed) ? [] : [name]), ...names.filter((member) => !described.has(member))]
  })
}

const declared = fileURLToPath(new URL('../../dist/index.d.ts', import.meta.url))

t.test('what is exported has a description in its declarations', { skip: existsSync(declared) ? false : 'not built' }, (t) => {
  t.strictSame(undescribed('interface A { readonly x: 1\n a(): 1\n /** b */ b(): 2 }\nexport { type A }'), ['A', 'A.a'])
  // namespaces of TypeScript have none
  t.strictSame(
    undescribed(readFileSync(declared, 'utf8')).filter((name) => name !== 'custom'),
    [],
  )
  t.end()
})
