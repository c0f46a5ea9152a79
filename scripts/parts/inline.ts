import { parseAst } from 'rollup/parseAst'
import { forEachChild, type Node } from './syntax.js'

/** Values by key of an object that only has numbers, such as an enumeration. */
export type Numbers = ReadonlyMap<string, number>

/** The exported constants of a module that are objects of numbers. */
export function numbersIn(code: string): Map<string, Numbers> {
  const found = new Map<string, Numbers>()
  for (const statement of parseAst(code).body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration?.type !== 'VariableDeclaration') continue
    if (statement.declaration.kind !== 'const') continue
    for (const { id, init } of statement.declaration.declarations) {
      const numbers = id.type === 'Identifier' && init?.type === 'ObjectExpression' ? numbersOf(init as unknown as Node) : null
      if (numbers !== null) found.set((id as { name: string }).name, numbers)
    }
  }
  return found
}

function numbersOf(object: Node): Numbers | null {
  const numbers = new Map<string, number>()
  for (const property of object.properties as Node[]) {
    const { key, value, computed } = property as unknown as { key: Node; value: Node; computed: boolean }
    if (property.type !== 'Property' || computed || key.type !== 'Identifier' || typeof value.value !== 'number') return null
    numbers.set(key.name as string, value.value)
  }
  return numbers
}

/**
 * The code with a number in place of each `Name.key`; `numbersFor` says what an import names, null for a namespace. Bundlers keep the objects and
 * look up their keys at run time.
 */
export function inlineNumbers(code: string, numbersFor: (from: string) => ReadonlyMap<string, Numbers>): string {
  const program = parseAst(code)
  const objects = new Map(numbersIn(code))
  const namespaces = new Map<string, ReadonlyMap<string, Numbers>>()
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration') continue
    const numbers = numbersFor(String(statement.source.value))
    if (numbers.size === 0) continue
    for (const specifier of statement.specifiers) {
      if (specifier.type === 'ImportNamespaceSpecifier') namespaces.set(specifier.local.name, numbers)
      if (specifier.type !== 'ImportSpecifier' || specifier.imported.type !== 'Identifier') continue
      const one = numbers.get(specifier.imported.name)
      if (one !== undefined) objects.set(specifier.local.name, one)
    }
  }
  if (objects.size === 0 && namespaces.size === 0) return code
  const replaced: { start: number; end: number; text: string }[] = []
  const visit = (node: Node): void => {
    if (node.type === 'MemberExpression' && node.computed !== true) {
      const numbers = objectOf(node.object as Node)
      const value = numbers?.get((node.property as { name: string }).name)
      if (value !== undefined) {
        // a negative one may stand behind a minus
        replaced.push({ start: node.start, end: node.end, text: `(${String(value)})` })
        return
      }
    }
    forEachChild(node, visit)
  }
  const objectOf = (node: Node): Numbers | undefined => {
    if (node.type === 'Identifier') return objects.get(node.name as string)
    if (node.type !== 'MemberExpression' || node.computed === true || (node.object as Node).type !== 'Identifier') return undefined
    return namespaces.get((node.object as { name: string }).name)?.get((node.property as { name: string }).name)
  }
  // `const Name = namespace.Name`
  for (const statement of program.body) {
    if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') continue
    for (const { id, init } of statement.declarations) {
      const numbers = init === null || init === undefined ? undefined : objectOf(init as unknown as Node)
      if (id.type === 'Identifier' && numbers !== undefined) objects.set(id.name, numbers)
    }
  }
  for (const name of locals(program as unknown as Node)) {
    objects.delete(name)
    namespaces.delete(name)
  }
  visit(program as unknown as Node)
  for (const { start, end, text } of replaced.reverse()) code = code.slice(0, start) + text + code.slice(end)
  return code
}

/** Names that are declared inside of functions. */
function locals(program: Node): Set<string> {
  const names = new Set<string>()
  const visit = (node: Node, inside: boolean): void => {
    const isFunction = 'params' in node
    if (isFunction) for (const parameter of node.params as Node[]) addNames(parameter, names)
    if (inside && node.type === 'VariableDeclarator') addNames(node.id as Node, names)
    if (node.type === 'CatchClause' && node.param !== null) addNames(node.param as Node, names)
    forEachChild(node, (child) => {
      visit(child, inside || isFunction || node.type === 'BlockStatement')
    })
  }
  visit(program, false)
  return names
}

function addNames(pattern: Node, names: Set<string>): void {
  if (pattern.type === 'Identifier') names.add(pattern.name as string)
  else forEachChild(pattern, (child) => addNames(child, names))
}
