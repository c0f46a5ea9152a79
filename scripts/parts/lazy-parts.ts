import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin, PluginContext, ProgramNode } from 'rollup'
import { boxedText, CALLERS, callerText, type Find, FUNCTIONS, functionsText, type Place, wrappersByPart } from './generated.js'
import { FIRST, PARTS } from './parts.js'

/** Modules that take the place of a file where another part imports it, and the modules that parts are loaded by. */
const STANDS_FOR = '\0lazy:'
const ENTRY = '\0part:'

const DERIVED = 'runtime/operators/generated/derived.ts'
/** Place of files that are in no part. */
const WHOLE = '\0whole'
const INDEX = 'src/index.ts'
/** Modules with the boxed wrappers of a part. */
const WRAPPERS = '\0wrappers:'

const PATTERNS = PARTS.map(({ name, files }) => ({
  name,
  patterns: files.map((text) => new RegExp(`^${text.replace(/[.]/g, '\\.').replaceAll('*', '.*')}$`)),
}))

/** The part of a source file, given relative to the project. */
export function partOf(file: string): string {
  return PATTERNS.find(({ patterns }) => patterns.some((pattern) => pattern.test(file)))?.name ?? FIRST
}

export interface Division {
  readonly plugin: Plugin
  /** The part that a module goes to; undefined for modules of the entries. */
  readonly chunkOf: (id: string) => string | undefined
}

/**
 * Divides the sources under `root` into parts: an import of a function from another part becomes one of a function that loads the part when
 * it is called, and is replaced by the one that it stands for from then on. Files that `whole` matches import all parts as they are.
 */
export function divide(root: string, whole: RegExp): Division {
  const fileOf = (id: string): string => relative(root, id.replace(STANDS_FOR, ''))
  const placeOf = (id: string): string => {
    if (id.startsWith(ENTRY)) return id.slice(ENTRY.length)
    if (id.startsWith(WRAPPERS)) return id.slice(WRAPPERS.length, -'.ts'.length)
    const file = fileOf(id)
    return whole.test(file) ? WHOLE : partOf(file)
  }
  const needs = (part: string, other: string): boolean => PARTS.find(({ name }) => name === part)?.needs.includes(other) === true
  // with the operators, which native functions load, or at the start
  const homeOf = (id: string): string =>
    !id.startsWith(STANDS_FOR) ? placeOf(id) : fileOf(id).startsWith('runtime/backends/') ? 'operators' : FIRST
  const isLazy = (from: string, to: string): boolean => {
    const importer = homeOf(from)
    const target = placeOf(to)
    return importer !== target && importer !== WHOLE && target !== WHOLE && target !== FIRST && !needs(importer, target)
  }
  const chunkOf = (id: string): string | undefined => {
    const home = homeOf(id)
    return home === WHOLE || fileOf(id) === INDEX || home === 'worker' ? undefined : home
  }
  const modules = new Exports()
  const doors = doorsOf(root, isLazy)
  const listOf = async (context: PluginContext, part: string): Promise<Door[]> => {
    const files = [...doors].filter((file) => placeOf(file) === part).sort()
    const names = await Promise.all(files.map((file) => modules.of(context, file)))
    return files.flatMap((file, i) => names[i]!.names.map((name) => ({ file, name })))
  }
  const numberOf = async (context: PluginContext, file: string, name: string): Promise<number> => {
    const at = (await listOf(context, placeOf(file))).findIndex((item) => item.file === file && item.name === name)
    if (at < 0) context.error(`${fileOf(file)}: ${name} is not among what its part gives`)
    return at
  }

  const findIn =
    (context: PluginContext): Find =>
    async (module, name) => {
      const path = module === 'derived' ? DERIVED : FOLDERS[module] === undefined ? null : `runtime/backends/${FOLDERS[module]}/index.ts`
      if (path === null) return null
      const file = await modules.home(context, join(root, path), name)
      if (file === null) return context.error(`${path} exports no ${name}`)
      return { part: placeOf(file), at: await numberOf(context, file, name) }
    }
  let wrappers: Promise<Map<string, string[]>> | undefined
  const wrappersOf = (context: PluginContext): Promise<Map<string, string[]>> => (wrappers ??= wrappersByPart(root, findIn(context)))

  const plugin: Plugin = {
    name: 'parts',
    buildStart() {
      for (const part of new Set([...doors].map(placeOf))) {
        this.emitFile({ type: 'chunk', id: `${ENTRY}${part}`, name: part, preserveSignature: 'allow-extension' })
      }
    },
    resolveId(specifier, importer) {
      if (specifier.startsWith('\0') || importer === undefined) return specifier
      if (!specifier.startsWith('.') && !specifier.startsWith('/')) return null
      const path = sourceOf(importer.replace(STANDS_FOR, ''), specifier)
      return existsSync(path) && isLazy(importer, path) ? `${STANDS_FOR}${path}` : path
    },
    async load(id) {
      if (id.startsWith(ENTRY))
        return entryModule(placeOf(id), await listOf(this, placeOf(id)), (await wrappersOf(this)).get(placeOf(id)) ?? [])
      if (id.startsWith(STANDS_FOR)) {
        const path = id.slice(STANDS_FOR.length)
        const { names, passedOn } = await modules.of(this, path)
        const numbers = await Promise.all(names.map((name) => numberOf(this, path, name)))
        return standIn(root, placeOf(path), names, numbers, passedOn)
      }
      const find = findIn(this)
      const file = fileOf(id)
      if (CALLERS.has(file)) return callerText(root, file, find)
      if (id.startsWith(WRAPPERS)) return boxedText(root, (await wrappersOf(this)).get(placeOf(id))!)
      if (file !== FUNCTIONS) return null
      const places = new Map<string, Place>()
      for (const [part, names] of await wrappersOf(this)) {
        const { length } = await listOf(this, part)
        if (part !== placeOf(id)) names.forEach((name, i) => places.set(name, { part, at: length + i }))
      }
      return functionsText(root, find, (name) => places.get(name) ?? null, `${WRAPPERS}${placeOf(id)}.ts`)
    },
  }
  return { plugin, chunkOf }
}

/** A function that others than its part call. */
interface Door {
  readonly file: string
  readonly name: string
}

interface Module {
  /** What it exports itself. */
  readonly names: readonly string[]
  /** Files of which it exports everything. */
  readonly passedOn: readonly string[]
}

/** What files export. */
class Exports {
  private readonly found = new Map<string, Promise<Module>>()
  private readonly homes = new Map<string, Promise<Map<string, string>>>()

  of(context: PluginContext, path: string): Promise<Module> {
    let module = this.found.get(path)
    if (module === undefined) this.found.set(path, (module = read(context, path)))
    return module
  }

  /** The file behind `export *` that has a name. */
  async home(context: PluginContext, path: string, name: string): Promise<string | null> {
    let all = this.homes.get(path)
    if (all === undefined) this.homes.set(path, (all = this.allOf(context, path)))
    return (await all).get(name) ?? null
  }

  private async allOf(context: PluginContext, path: string): Promise<Map<string, string>> {
    const { names, passedOn } = await this.of(context, path)
    const others = await Promise.all(passedOn.map((file) => this.allOf(context, file)))
    return new Map([...others.flatMap((map) => [...map]), ...names.map((name) => [name, path] as const)])
  }
}

async function read(context: PluginContext, path: string): Promise<Module> {
  const { ast, exportedBindings } = await context.load({ id: path })
  const entries = Object.entries(exportedBindings ?? {})
  const values = new Set(ast!.body.flatMap(valuesOf))
  return {
    // a class or a constant cannot be reached by a call: where another part wants it, the bundler says that it is not exported
    names: entries.flatMap(([, names]) => names.filter((name) => name !== '*' && !values.has(name))).sort(),
    passedOn: entries.flatMap(([from, names]) => (names.includes('*') ? [sourceOf(path, from)] : [])),
  }
}

/** Classes and constants that a statement declares; what a call makes is a function, as of `export const sin = unary(...)`. */
function valuesOf(statement: ProgramNode['body'][number]): string[] {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declared?.type === 'ClassDeclaration') return [declared.id.name]
  if (declared?.type !== 'VariableDeclaration') return []
  return declared.declarations.flatMap(({ id, init }) => {
    const isFunction =
      init?.type === 'ArrowFunctionExpression' ||
      init?.type === 'FunctionExpression' ||
      init?.type === 'Identifier' ||
      (init?.type === 'CallExpression' && init.callee.type === 'Identifier')
    return id.type === 'Identifier' && !isFunction ? [id.name] : []
  })
}

function sourceOf(importer: string, specifier: string): string {
  const path = resolve(dirname(importer), specifier)
  const source = path.replace(/\.js$/, '.ts')
  return existsSync(source) ? source : path
}

/** All files that are imported lazily, with those that they pass on. */
function doorsOf(root: string, isLazy: (from: string, to: string) => boolean): Set<string> {
  const doors = new Set<string>()
  const add = (path: string): void => {
    if (doors.has(path)) return
    doors.add(path)
    for (const [, from] of readFileSync(path, 'utf8').matchAll(/^export \* from '(\.[^']+)'/gm)) add(sourceOf(path, from!))
  }
  for (const folder of ['src', 'compiler', 'runtime', 'selective-build/trace']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const path = join(root, folder, name)
      if (!name.endsWith('.ts')) continue
      for (const [, from] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^'"]*?from '(\.[^']+)'/gm)) {
        const target = sourceOf(path, from!)
        if (isLazy(path, target)) add(target)
      }
    }
  }
  return doors
}

/** The list of a part: what others call, by position, and the wrappers that are the part's own. */
function entryModule(part: string, list: readonly Door[], wrappers: readonly string[]): string {
  const files = [...new Set(list.map(({ file }) => file))]
  const imports = files.map((file, i) => `import * as m${i} from '${file}'\n`).join('')
  const items = [...list.map(({ file, name }) => `m${files.indexOf(file)}.${name}`), ...wrappers.map((name) => `w.${name}`)]
  const own = wrappers.length === 0 ? '' : `import * as w from '${WRAPPERS}${part}.ts'\n`
  return `${imports}${own}export default [${items.join(', ')}]\n`
}

/** Each function replaces itself when it is first called. */
function standIn(root: string, part: string, names: readonly string[], numbers: readonly number[], passedOn: readonly string[]): string {
  const functions = names.map((name, i) => `export let ${name} = (...args) => (${name} = part('${part}')[${numbers[i]!}])(...args)\n`)
  return `import { part } from '${root}/runtime/part.ts'\n${functions.join('')}${passedOn.map((file) => `export * from '${file}'\n`).join('')}`
}

const FOLDERS: Readonly<Record<string, string>> = { cpu: 'cpu', quantized: 'quantized-cpu', composite: 'composite', builtin: 'builtin' }
