import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import t from 'tap'

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
  const names = [...exportsOf(read('src/index.ts')), ...methodsOf(read('runtime/tensor/operations.ts'), 'TensorOperations')]
  t.ok(names.includes('loadModule') && names.includes('custom') && names.includes('topk') && names.length > 80, `${names.length} names`)
  t.strictSame(
    names.filter((name) => !isNamed(name)),
    [],
  )
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
