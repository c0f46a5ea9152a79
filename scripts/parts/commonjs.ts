import { parseAst } from 'rollup/parseAst'

type Name = { readonly type: string; readonly name?: string; readonly value?: unknown }

const textOf = (name: Name): string => name.name ?? JSON.stringify(name.value)

/**
 * A chunk of modules as CommonJS. What it imports become constants, which calls reach at once, where the bundler's own CommonJS looks them up in
 * the other chunk's exports each time; so no chunk may import one that is still being loaded, and exports must not change.
 */
export function toCommonJs(code: string): string {
  const replaced: { start: number; end: number; text: string }[] = []
  const exported: [string, string][] = []
  const program = parseAst(code)
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      replaced.push({ ...rangeOf(statement), text: importText(statement.specifiers as never, String(statement.source.value)) })
    } else if (statement.type === 'ExportNamedDeclaration' && !statement.declaration) {
      const module = statement.source ? `from${exported.length}` : null
      replaced.push({
        ...rangeOf(statement),
        text: module === null ? '' : `const ${module} = require(${JSON.stringify(statement.source!.value)});`,
      })
      for (const { local, exported: name } of statement.specifiers)
        exported.push([textOf(name as Name), (module === null ? '' : `${module}.`) + textOf(local as Name)])
    } else if (statement.type.startsWith('Export')) {
      throw new Error(`${statement.type} in a chunk`)
    }
  }
  const variables = program.body.flatMap((statement) =>
    statement.type === 'VariableDeclaration' && statement.kind !== 'const' ? statement.declarations : [],
  )
  const changing = variables.flatMap(({ id, init }) =>
    id.type === 'Identifier' && !(init && isStandIn(init as unknown as Node)) && exported.some(([, local]) => local === id.name)
      ? [id.name]
      : [],
  )
  if (changing.length > 0) throw new Error(`exports of a chunk change: ${changing.join(', ')}`)
  // line by line as before, so that maps of the result lead to the lines of what it was made from
  for (const { start, end, text } of replaced.reverse()) {
    const lines = code.slice(start, end).split('\n').length - 1
    code = code.slice(0, start) + text.replaceAll('\n', ' ') + '\n'.repeat(lines) + code.slice(end)
  }
  // one by one, as Node looks for names of exports in the text
  return code + exported.map(([name, local]) => `exports.${name} = ${local};\n`).join('')
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

/** `(...args) => (name = part('x')[n])(...args)`, which does the same as what it is replaced by. */
function isStandIn(init: Node): boolean {
  const body = init.type === 'ArrowFunctionExpression' ? (init.body as Node) : null
  return body?.type === 'CallExpression' && (body.callee as Node).type === 'AssignmentExpression'
}

function rangeOf(node: unknown): { start: number; end: number } {
  return node as { start: number; end: number }
}

interface Specifier {
  readonly type: string
  readonly local: { readonly name: string }
  readonly imported?: Name
}

function importText(specifiers: readonly Specifier[], from: string): string {
  const module = `require(${JSON.stringify(from)})`
  if (specifiers.length === 0) return `${module};`
  // of a module that is CommonJS, the default is all of it
  const [whole, named] = [
    specifiers.filter(({ type }) => type !== 'ImportSpecifier'),
    specifiers.filter(({ type }) => type === 'ImportSpecifier'),
  ]
  const names = named.map(({ imported, local }) => `${textOf(imported!)}: ${local.name}`).join(', ')
  return [
    ...whole.map(({ local }) => `const ${local.name} = ${module};`),
    ...(named.length === 0 ? [] : [`const { ${names} } = ${module};`]),
  ].join('\n')
}
