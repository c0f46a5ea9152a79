import type { ProgramNode } from 'rollup'
import { parseAst } from 'rollup/parseAst'
import { forEachChild, type Node } from './syntax.js'

/** One of the two modules that a file becomes: the functions that usual programs run, with all that is evaluated at load, and the others. */
export interface Half {
  readonly code: string
  /** Functions that it exports, which other parts can call. */
  readonly functions: readonly string[]
  /** Names of all that it declares and exports. */
  readonly exports: readonly string[]
  /** What it exports of others, by name: the specifier and the name there. */
  readonly reexports: ReadonlyMap<string, { readonly from: string; readonly name: string }>
  /** What it exports everything of, by specifier. */
  readonly passedOn: readonly string[]
  readonly imports: readonly Import[]
}

export interface Import {
  readonly from: string
  /** null for all there are. */
  readonly names: readonly string[] | null
}

export interface Halves {
  readonly common: Half
  readonly rare: Half | null
}

export interface SplitOptions {
  /** Says whether usual programs run a function; all of them where the file is not divided. */
  readonly isCommon: (name: string) => boolean
  /** Whether an exported constant that a call makes is a function, as of `export const sin = unary(...)`. */
  readonly makesFunctions: boolean
  /** Specifiers of the halves. */
  readonly commonId: string
  readonly rareId: string
}

type Statement = ProgramNode['body'][number]
type Kind = 'function' | 'data' | 'eager'

interface Item {
  readonly kind: Kind
  readonly names: readonly string[]
  readonly exported: boolean
  /** Without `export`. */
  readonly text: string
  readonly names$: Names
  /** What a function consists of, or the call that makes it. */
  readonly function$?: Node
}

/** Names that a piece of code has, those of its own scopes among them. */
class Names {
  readonly all = new Set<string>()
  readonly assigned = new Set<string>()
  /** Called while the statement itself is evaluated, or given to such a call. */
  readonly calledAtLoad = new Set<string>()
  /** `name.member` by name; null where a name stands alone. */
  readonly members = new Map<string, Set<string> | null>()
}

interface Specifier {
  readonly local: string
  /** null for a namespace. */
  readonly imported: string | null
  readonly from: string
}

/**
 * Divides the code of a module. What is evaluated when it loads stays in the common half with all that this needs, and so do variables that
 * change and the functions that use them, where one of these is common; the halves import each other.
 */
export function split(code: string, options: SplitOptions): Halves {
  const { items, specifiers, passedOn, others, reexports } = read(code, options.makesFunctions)
  const common = commonItems(items, others.names, options.isCommon)
  const rare = items.filter((item) => !common.has(item))
  const commonItemsList = items.filter((item) => common.has(item))
  const exportsOf = (list: readonly Item[], functionsOnly: boolean): string[] =>
    list.flatMap((item) => (item.exported && (!functionsOnly || item.kind === 'function') ? item.names : []))
  const namesOf = (list: readonly Item[]): Set<string> => new Set(list.flatMap((item) => [...item.names$.all]))
  const declared = (list: readonly Item[]): Set<string> => new Set(list.flatMap(({ names }) => names))
  const [commonUses, rareUses] = [namesOf(commonItemsList), namesOf(rare)]
  for (const name of others.names.all) commonUses.add(name)
  const [inCommon, inRare] = [declared(commonItemsList), declared(rare)]
  const exported = new Set(exportsOf(items, false))
  const back = [...inCommon].filter((name) => rareUses.has(name))
  const forth = [...inRare].filter((name) => commonUses.has(name))
  const alias = (name: string): string => (exported.has(name) ? name : `${name}$${options.commonId.replace(/\W/g, '_')}`)
  const rareExports = exportsOf(rare, false)

  const commonImports = specifiers.filter(({ local }) => commonUses.has(local))
  const commonCode = [
    ...others.sideEffects,
    importText(commonImports),
    forth.length === 0 ? '' : `import { ${forth.join(', ')} } from ${quoted(options.rareId)}\n`,
    rareExports.length === 0 ? '' : `export { ${rareExports.join(', ')} } from ${quoted(options.rareId)}\n`,
    ...commonItemsList.map((item) => (item.exported ? 'export ' : '') + item.text + '\n'),
    others.text,
    back.some((name) => !exported.has(name))
      ? `export { ${back
          .filter((name) => !exported.has(name))
          .map((name) => `${name} as ${alias(name)}`)
          .join(', ')} }\n`
      : '',
  ].join('')
  const importsOf = (list: readonly Specifier[], names: readonly Names[]): Import[] =>
    list.map(({ from, imported, local }) => ({ from, names: imported === null ? membersOf(local, names) : [imported] }))
  const commonHalf: Half = {
    code: commonCode,
    functions: [...exportsOf(commonItemsList, true), ...others.exported],
    exports: [...exportsOf(commonItemsList, false), ...others.exported, ...back.filter((name) => !exported.has(name)).map(alias)],
    reexports: others.reexports,
    passedOn: rareExports.length === 0 ? passedOn : [...passedOn, options.rareId],
    imports: [
      ...importsOf(commonImports, [...commonItemsList.map((item) => item.names$), others.names]),
      ...reexports,
      ...(forth.length === 0 ? [] : [{ from: options.rareId, names: forth }]),
    ],
  }
  if (rare.length === 0) return { common: commonHalf, rare: null }
  const rareImports = specifiers.filter(({ local }) => rareUses.has(local))
  const rareNames = [...new Set([...rareExports, ...forth])]
  const rareCode = [
    importText(rareImports),
    back.length === 0
      ? ''
      : `import { ${back.map((name) => (alias(name) === name ? name : `${alias(name)} as ${name}`)).join(', ')} } from ${quoted(options.commonId)}\n`,
    ...rare.map(({ text }) => `${text}\n`),
    rareNames.length === 0 ? '' : `export { ${rareNames.join(', ')} }\n`,
  ].join('')
  const rareHalf: Half = {
    code: rareCode,
    functions: rareNames,
    exports: rareNames,
    reexports: new Map(),
    passedOn: [],
    imports: importsOf(
      rareImports,
      rare.map((item) => item.names$),
    ),
  }
  return { common: commonHalf, rare: rareHalf }
}

/** The code with a call of `__ran` at the start of each function, with the file and its name, and its first argument. */
export function noteRuns(code: string, file: string, makesFunctions: boolean): string {
  const { items } = read(code, makesFunctions)
  const insertions: [number, string][] = []
  for (const { kind, names, function$ } of items) {
    if (kind !== 'function') continue
    const first = (function$!.params as Node[] | undefined)?.[0]
    const note = `__ran(${quoted(`${file} ${names[0]!}`)}, ${first?.type === 'Identifier' ? (first.name as string) : 'undefined'})`
    const { start, end } = function$!
    const body = function$!.body as Node | undefined
    if (body?.type === 'BlockStatement') insertions.push([body.start + 1, `${note};`])
    else if (body !== undefined) insertions.push([body.start, `(${note},`], [body.end, ')'])
    else insertions.push([start, `((f) => typeof f === 'function' ? (...args) => (${note}, f(...args)) : f)(`], [end, ')'])
  }
  for (const [at, text] of insertions.sort(([a], [b]) => b - a)) code = code.slice(0, at) + text + code.slice(at)
  return code
}

/** All that has to be in the common half. */
function commonItems(items: readonly Item[], eager: Names, isCommon: (name: string) => boolean): Set<Item> {
  const byName = new Map(items.flatMap((item) => item.names.map((name) => [name, item] as const)))
  const variables = new Set(items.flatMap((item) => [...item.names$.assigned].filter((name) => byName.has(name))))
  const common = new Set<Item>()
  const runsAtLoad = new Set<Item>()
  const add = (item: Item): void => {
    if (common.has(item)) return
    common.add(item)
    follow(item.names$.all, (other) => other.kind !== 'function' && add(other))
    for (const name of item.names) if (variables.has(name)) for (const other of items) if (other.names$.all.has(name)) add(other)
    if (item.kind !== 'function' || item.names$.calledAtLoad.size > 0) follow(item.names$.calledAtLoad, addRun)
  }
  const addRun = (item: Item): void => {
    add(item)
    if (runsAtLoad.has(item)) return
    runsAtLoad.add(item)
    follow(item.names$.all, addRun)
  }
  const follow = (names: Iterable<string>, visit: (item: Item) => unknown): void => {
    for (const name of names) {
      const item = byName.get(name)
      if (item !== undefined) visit(item)
    }
  }
  follow(eager.all, (item) => item.kind !== 'function' && add(item))
  follow(eager.calledAtLoad, addRun)
  for (const item of items) if (item.kind === 'function' ? item.names.some(isCommon) : item.exported) add(item)
  return common
}

interface Contents {
  readonly items: Item[]
  readonly specifiers: Specifier[]
  readonly passedOn: string[]
  /** `export ... from`. */
  readonly reexports: Import[]
  /** Statements that are neither declarations nor imports. */
  readonly others: {
    text: string
    readonly names: Names
    readonly sideEffects: string[]
    readonly exported: string[]
    readonly reexports: Map<string, { from: string; name: string }>
  }
}

function read(code: string, makesFunctions: boolean): Contents {
  const contents: Contents = {
    items: [],
    specifiers: [],
    passedOn: [],
    reexports: [],
    others: { text: '', names: new Names(), sideEffects: [], exported: [], reexports: new Map() },
  }
  for (const statement of parseAst(code).body) addStatement(statement, code, makesFunctions, contents)
  return contents
}

function addStatement(statement: Statement, code: string, makesFunctions: boolean, contents: Contents): void {
  const { others, specifiers } = contents
  const textOf = (node: unknown): string => code.slice((node as Node).start, (node as Node).end)
  switch (statement.type) {
    case 'ImportDeclaration': {
      const from = String(statement.source.value)
      if (statement.specifiers.length === 0) others.sideEffects.push(`${textOf(statement)}\n`)
      for (const specifier of statement.specifiers) {
        const imported =
          specifier.type === 'ImportNamespaceSpecifier'
            ? null
            : specifier.type === 'ImportDefaultSpecifier'
              ? 'default'
              : nameOf(specifier.imported as never)
        specifiers.push({ local: specifier.local.name, imported, from })
      }
      return
    }
    case 'ExportAllDeclaration': {
      const from = String(statement.source.value)
      if (statement.exported === null) contents.passedOn.push(from)
      else contents.reexports.push({ from, names: null })
      others.text += `${textOf(statement)}\n`
      return
    }
    case 'ExportNamedDeclaration': {
      if (statement.declaration !== null && statement.declaration !== undefined) {
        contents.items.push(itemOf(statement.declaration as unknown as Node, true, textOf(statement.declaration), makesFunctions))
        return
      }
      const names = statement.specifiers.map(({ local }) => nameOf(local as never))
      const exported = statement.specifiers.map((specifier) => nameOf(specifier.exported as never))
      if (statement.source) {
        const from = String(statement.source.value)
        contents.reexports.push({ from, names })
        names.forEach((name, i) => others.reexports.set(exported[i]!, { from, name }))
      } else {
        others.exported.push(...exported)
        for (const name of names) others.names.all.add(name)
      }
      others.text += `${textOf(statement)}\n`
      return
    }
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'VariableDeclaration':
      contents.items.push(itemOf(statement as unknown as Node, false, textOf(statement), makesFunctions))
      return
    default:
      collect(statement as unknown as Node, others.names, true)
      others.text += `${textOf(statement)}\n`
  }
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return node.name ?? String(node.value)
}

function itemOf(node: Node, exported: boolean, text: string, makesFunctions: boolean): Item {
  const names$ = new Names()
  if (node.type === 'FunctionDeclaration') {
    collect(node, names$, false)
    return { kind: 'function', names: [(node.id as { name: string }).name], exported, text, names$, function$: node }
  }
  if (node.type === 'ClassDeclaration') {
    collectClass(node, names$, true)
    return { kind: 'data', names: [(node.id as { name: string }).name], exported, text, names$ }
  }
  const declarations = node.declarations as readonly { id: Node; init: Node | null }[]
  collect(node, names$, true)
  const names = declarations.flatMap(({ id }) => patternNames(id))
  const init =
    declarations.length === 1 && node.kind === 'const' && declarations[0]!.id.type === 'Identifier' ? declarations[0]!.init : null
  const isFunction =
    init !== null &&
    (init.type === 'ArrowFunctionExpression' ||
      init.type === 'FunctionExpression' ||
      (exported &&
        makesFunctions &&
        (init.type === 'Identifier' || (init.type === 'CallExpression' && (init.callee as Node).type === 'Identifier'))))
  return { kind: isFunction ? 'function' : 'data', names, exported, text, names$, ...(isFunction ? { function$: init } : {}) }
}

function patternNames(node: Node): string[] {
  if (node.type === 'Identifier') return [node.name as string]
  const found = new Names()
  collect(node, found, true)
  return [...found.all]
}

/** Adds the names in `node`; `atLoad` while they are evaluated with the statement. */
function collect(node: Node, names: Names, atLoad: boolean): void {
  switch (node.type) {
    case 'Identifier':
      names.all.add(node.name as string)
      names.members.set(node.name as string, null)
      return
    case 'MemberExpression': {
      const object = node.object as Node
      const property = node.property as Node
      if (object.type === 'Identifier' && node.computed !== true && property.type === 'Identifier')
        addMember(names, object.name as string, property)
      else collect(object, names, atLoad)
      if (node.computed === true) collect(property, names, atLoad)
      return
    }
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      if (node.computed === true) collect(node.key as Node, names, atLoad)
      if (node.value !== null) collect(node.value as Node, names, atLoad)
      return
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      forEachChild(node, (child) => {
        collect(child, names, false)
      })
      return
    case 'ClassDeclaration':
    case 'ClassExpression':
      collectClass(node, names, atLoad)
      return
    case 'CallExpression':
    case 'NewExpression':
      if (atLoad) {
        for (const part of [node.callee as Node, ...(node.arguments as Node[])]) {
          if (part.type === 'Identifier') names.calledAtLoad.add(part.name as string)
        }
      }
      break
    case 'AssignmentExpression':
      for (const name of patternNames(node.left as Node)) names.assigned.add(name)
      break
    case 'UpdateExpression':
      for (const name of patternNames(node.argument as Node)) names.assigned.add(name)
      break
    case 'ForInStatement':
    case 'ForOfStatement':
      if ((node.left as Node).type !== 'VariableDeclaration') for (const name of patternNames(node.left as Node)) names.assigned.add(name)
      break
  }
  forEachChild(node, (child) => {
    collect(child, names, atLoad)
  })
}

/** Methods and fields of instances run later, static members with the statement. */
function collectClass(node: Node, names: Names, atLoad: boolean): void {
  if (node.superClass !== null && node.superClass !== undefined) {
    const superClass = node.superClass as Node
    collect(superClass, names, atLoad)
    if (atLoad && superClass.type === 'Identifier') names.calledAtLoad.add(superClass.name as string)
  }
  for (const member of (node.body as unknown as { body: Node[] }).body) {
    collect(member, names, atLoad && (member.static === true || member.type === 'StaticBlock'))
  }
}

function addMember(names: Names, object: string, property: Node): void {
  names.all.add(object)
  const members = names.members.get(object)
  if (members === null) return
  if (members === undefined) names.members.set(object, new Set([property.name as string]))
  else members.add(property.name as string)
}

/** What is used of a namespace; null for all of it. */
function membersOf(local: string, names: readonly Names[]): string[] | null {
  const found = new Set<string>()
  for (const { members } of names) {
    const some = members.get(local)
    if (some === null) return null
    for (const name of some ?? []) found.add(name)
  }
  return [...found]
}

function importText(specifiers: readonly Specifier[]): string {
  return specifiers
    .map(
      ({ local, imported, from }) => `import ${imported === null ? `* as ${local}` : `{ ${imported} as ${local} }`} from ${quoted(from)}\n`,
    )
    .join('')
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
