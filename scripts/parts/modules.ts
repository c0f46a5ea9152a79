import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { parseAst } from 'rollup/parseAst'

/** A node of the tree that rollup's parser makes (ESTree), of any kind. */
type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

/** What a source file imports and exports. */
export interface Module {
  readonly code: string
  readonly map: string
  /** Functions that it declares and exports, which other parts can call. */
  readonly functions: readonly string[]
  /** All that it declares and exports. */
  readonly own: readonly string[]
  /** What it exports of others, by name: the specifier and the name there. */
  readonly reexports: ReadonlyMap<string, { readonly from: string; readonly name: string }>
  /** What it exports everything of, by specifier. */
  readonly passedOn: readonly string[]
  /** Names by specifier, null for all there are. */
  readonly imports: readonly { readonly from: string; readonly names: readonly string[] | null }[]
}

export interface ReadOptions {
  /** Changes the TypeScript first. */
  readonly transform: (text: string) => string
  /** Whether an exported constant that a call makes is a function, as of `export const sin = unary(...)`. */
  readonly makesFunctions: boolean
}

export function readModule(path: string, { transform, makesFunctions }: ReadOptions): Module {
  const text = transform(readFileSync(path, 'utf8').replace(/^#!.*/, ''))
  const { code, map } = transformSync(text, { loader: 'ts', target: 'node20', sourcemap: 'external', sourcefile: path })
  const functions: string[] = []
  const own: string[] = []
  const reexports = new Map<string, { from: string; name: string }>()
  const passedOn: string[] = []
  const imports: { from: string; names: string[] | null }[] = []
  const program = parseAst(code)
  const members = membersOf(program as unknown as Node)
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      const from = String(statement.source.value)
      for (const specifier of statement.specifiers) {
        if (specifier.type === 'ImportSpecifier') imports.push({ from, names: [nameOf(specifier.imported)] })
        else imports.push({ from, names: members.get(specifier.local.name) ?? null })
      }
    } else if (statement.type === 'ExportAllDeclaration') {
      const from = String(statement.source.value)
      if (statement.exported === null) passedOn.push(from)
      else {
        imports.push({ from, names: null })
        own.push(nameOf(statement.exported))
      }
    } else if (statement.type === 'ExportNamedDeclaration') {
      const { declaration, source, specifiers } = statement
      for (const { local, exported } of specifiers) {
        if (source) reexports.set(nameOf(exported), { from: String(source.value), name: nameOf(local) })
        else own.push(nameOf(exported))
        if (!source) functions.push(nameOf(exported))
      }
      if (declaration)
        for (const [name, isFunction] of declared(declaration as unknown as Node, makesFunctions)) {
          own.push(name)
          if (isFunction) functions.push(name)
        }
    }
  }
  return { code, map, functions, own, reexports, passedOn, imports }
}

/** The JavaScript of TypeScript that is in no file. */
export function javascriptOf(text: string): string {
  return transformSync(text, { loader: 'ts', target: 'node20' }).code
}

/** The source file that a specifier in `importer` names. */
export function sourceOf(importer: string, specifier: string): string {
  const path = resolve(dirname(importer), specifier)
  const source = path.replace(/\.js$/, '.ts')
  return existsSync(source) ? source : path
}

function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: string; readonly value?: unknown }
  return name ?? String(value)
}

/** The names that a declaration makes, and whether each is a function. */
function declared(node: Node, makesFunctions: boolean): [string, boolean][] {
  if (node.type !== 'VariableDeclaration') return [[nameOf(node.id), node.type === 'FunctionDeclaration']]
  return (node.declarations as readonly { id: Node; init: Node | null }[]).map(({ id, init }) => {
    const isMade = init?.type === 'Identifier' || (init?.type === 'CallExpression' && (init.callee as Node).type === 'Identifier')
    const isFunction = init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression'
    return [nameOf(id), node.kind === 'const' && (isFunction || (makesFunctions && isMade))]
  })
}

/** What is used of each name that stands before a dot: of a namespace all, but where it is handed on whole. */
function membersOf(program: Node): Map<string, string[]> {
  const members = new Map<string, string[]>()
  const visit = (node: Node): void => {
    const object = node.object as Node | undefined
    if (node.type === 'MemberExpression' && node.computed !== true && object!.type === 'Identifier') {
      const name = object!.name as string
      members.set(name, [...(members.get(name) ?? []), (node.property as { name: string }).name])
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
        if (typeof child === 'object' && child !== null && typeof (child as Node).type === 'string') visit(child as Node)
    }
  }
  visit(program)
  return members
}
