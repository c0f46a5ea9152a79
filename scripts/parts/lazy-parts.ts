import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'rollup'
import { commonFunctions, commonOperators } from './common.js'
import {
  boxedText,
  CALLERS,
  callerText,
  functionsText,
  HOME,
  joinedText,
  libraryTexts,
  LOOKUP,
  NAMED,
  nativeCalls,
  type Place,
  REPLACED,
  TABLE,
  TABLE_FILE,
  tableOf,
  tableText,
  wrappersByPart,
} from './generated.js'
import { FIRST, PARTS } from './parts.js'
import { RARE, Sources } from './sources.js'

/** Modules that take the place of another part's where a part imports it, and the modules that parts are loaded by. */
const STANDS_FOR = '\0lazy:'
const ENTRY = '\0part:'
/** Modules with the boxed wrappers of a part. */
const WRAPPERS = '\0wrappers:'

/** Files of the table of the operators that usual programs call, and what looks there first. */
const FEW = '\0few:'
const JOINED = '\0lookup'
/** What takes the place of a module whose functions are in two parts where a third one imports it. */
const VIEW = '\0view:'
/** Place of files that are in no part. */
const WHOLE = '\0whole'
const INDEX = 'src/index.ts'
/** What stand-ins call. */
const LOADER = 'runtime/part.ts'
/** Ends the name of the part with what usual programs do not run of another. */
const REST = '-rest'

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
  const common = commonFunctions()
  /** Parts of which usual programs run something. */
  const divided = new Set([FIRST, ...[...common.keys()].map(partOf)])
  const sources = new Sources(root, (file) =>
    whole.test(file) || file === LOADER || TABLE.has(file) || !divided.has(partOf(file)) ? null : (common.get(file) ?? NONE),
  )
  const fileOf = (id: string): string => relative(root, id.replace(RARE, '').replace(FEW, ''))
  const placeOf = (id: string): string => {
    if (id.startsWith(STANDS_FOR) || id.startsWith(VIEW)) return standing(id).place
    if (id.startsWith(FEW) || id === JOINED) return HOME
    if (id.startsWith(ENTRY)) return id.slice(ENTRY.length)
    if (id.startsWith(WRAPPERS)) return id.slice(WRAPPERS.length, -'.ts'.length)
    const file = fileOf(id)
    return whole.test(file) ? WHOLE : partOf(file) + (id.startsWith(RARE) ? REST : '')
  }
  const needs = (part: string, other: string): boolean => {
    const base = part.endsWith(REST) ? part.slice(0, -REST.length) : part
    return (base !== part && base === other) || PARTS.find(({ name }) => name === base)?.needs.includes(other) === true
  }
  const isLazy = (importer: string, to: string): boolean => {
    const [from, target] = [placeOf(importer), placeOf(to)]
    if (from === target || target === WHOLE || target === FIRST) return false
    return from === WHOLE ? target.endsWith(REST) : !needs(from, target)
  }
  const chunkOf = (id: string): string | undefined => {
    const place = placeOf(id)
    return place === WHOLE || fileOf(id) === INDEX || place === 'worker' ? undefined : place
  }

  const doors = new Doors(sources, isLazy)
  for (const folder of ['src', 'engine', 'formats', 'program', 'compiler', 'runtime', 'selective-build', 'codegen']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.ts') && !REPLACED.has(`${folder}/${name}`)) doors.addImportsOf(join(root, folder, name))
    }
  }
  const homeOf = (module: string, name: string): string => {
    const path = NAMED[module]!
    const home = sources.home(join(root, path), name)
    if (home === null) throw new Error(`${path} exports no ${name}`)
    return home
  }
  const all = libraryTexts(root)
  const few = tableOf(root, commonOperators())
  for (const [module, name] of nativeCalls(all)) doors.add(homeOf(module, name), name)
  const lists = new Map<string, Door[]>()
  const listOf = (part: string): Door[] => {
    let list = lists.get(part)
    if (list === undefined) {
      const ids = doors.ids().filter((id) => placeOf(id) === part)
      lists.set(part, (list = ids.flatMap((id) => doors.namesOf(id).map((name) => ({ id, name })))))
    }
    return list
  }
  const placeAt = (id: string, name: string): Place => {
    const part = placeOf(id)
    const at = listOf(part).findIndex((item) => item.id === id && item.name === name)
    if (at < 0) throw new Error(`${fileOf(id)}: ${name} is not among what its part gives`)
    return { part, at }
  }
  const places = new Map<string, Place>()
  const find = (module: string, name: string): Place => {
    const key = `${module} ${name}`
    let place = places.get(key)
    if (place === undefined) places.set(key, (place = placeAt(homeOf(module, name), name)))
    return place
  }
  const wrappers = wrappersByPart(all, few.texts, partOf(LOOKUP), find)
  const wrappersOf = (part: string): readonly string[] => wrappers.get(part) ?? []
  const wrapperPlaces = new Map(
    [...wrappers].flatMap(([part, names]) => names.map((name, i) => [name, { part, at: listOf(part).length + i }] as const)),
  )
  const partsWithLists = [...new Set([...doors.ids().map(placeOf), ...wrappers.keys()])]

  const resolve = (specifier: string, importer: string): string | null => {
    const id = sources.resolve(
      importer.startsWith(STANDS_FOR) || importer.startsWith(VIEW) ? standing(importer).id : importer.replace(FEW, ''),
      specifier,
    )
    if (!specifier.startsWith(RARE) && !existsSync(id)) return null
    if (importer.startsWith(FEW) && TABLE.has(fileOf(id))) return FEW + id
    const place = placeOf(importer)
    if (fileOf(id) === LOOKUP && importer !== JOINED && place !== partOf(LOOKUP)) return JOINED
    if (isLazy(importer, id)) return `${STANDS_FOR}${place}:${id}`
    const isOwn = place === placeOf(id) || (importer.startsWith(VIEW) && standing(importer).id === id)
    return isOwn || !sources.isDivided(id) ? id : `${VIEW}${place}:${id}`
  }
  const plugin: Plugin = {
    name: 'parts',
    buildStart() {
      for (const part of partsWithLists) {
        this.emitFile({ type: 'chunk', id: `${ENTRY}${part}`, name: part, preserveSignature: 'allow-extension' })
      }
    },
    resolveId(specifier, importer) {
      if (importer === undefined || (specifier.startsWith('\0') && !specifier.startsWith(RARE))) return specifier
      if (!specifier.startsWith('.') && !specifier.startsWith('/') && !specifier.startsWith(RARE)) return null
      if (importer.startsWith(ENTRY)) return specifier
      return resolve(specifier, importer)
    },
    load(id) {
      if (id.startsWith(ENTRY)) return entryModule(placeOf(id), listOf(placeOf(id)), wrappersOf(placeOf(id)))
      if (id.startsWith(WRAPPERS)) return boxedText(root, wrappersOf(placeOf(id)))
      if (id.startsWith(VIEW)) return viewText(standing(id).id, sources)
      if (id === JOINED) return joinedText(FEW + join(root, LOOKUP), join(root, LOOKUP), root, few.steps, few.total)
      if (id.startsWith(STANDS_FOR)) {
        const target = standing(id).id
        const names = doors.namesOf(target)
        const others = othersText(target, sources, new Set(names))
        return standIn(
          root,
          placeOf(target),
          names,
          names.map((name) => placeAt(target, name).at),
          others,
        )
      }
      const file = fileOf(id)
      if (!id.endsWith('.ts') || file.startsWith('node_modules')) return null
      if (file.endsWith('operators/generated/functions.ts')) {
        const [texts, part] = id.startsWith(FEW) ? [few.texts, HOME] : [all, placeOf(id)]
        return functionsText(root, texts, part, find, homeOf, (name) => wrapperPlaces.get(name)!, `${WRAPPERS}${part}.ts`)
      }
      if (file === TABLE_FILE) return tableText(root, id.startsWith(FEW) ? few.texts : all)
      if (id.startsWith(FEW) && file.includes('/generated/')) return few.texts(file)
      const { code } = sources.half(id.replace(FEW, ''))
      return CALLERS.has(file) ? callerText(root, code, find) : code
    },
  }
  return { plugin, chunkOf }
}

const NONE: ReadonlySet<string> = new Set()

/** The part that a stand-in or a view is in, and the module that it stands for. */
function standing(id: string): { place: string; id: string } {
  const start = id.indexOf(':') + 1
  const end = id.indexOf(':', start)
  return { place: id.slice(start, end), id: id.slice(end + 1) }
}

/** A function that others than its part call. */
interface Door {
  readonly id: string
  readonly name: string
}

/** The functions of each module that others than its part import. */
class Doors {
  private readonly names = new Map<string, Set<string>>()

  constructor(
    private readonly sources: Sources,
    private readonly isLazy: (importer: string, id: string) => boolean,
  ) {}

  ids(): string[] {
    return [...this.names.keys()].sort()
  }

  namesOf(id: string): string[] {
    return [...(this.names.get(id) ?? [])].sort()
  }

  add(id: string, name: string): void {
    const names = this.names.get(id)
    if (names === undefined) this.names.set(id, new Set([name]))
    else names.add(name)
  }

  addImportsOf(path: string): void {
    this.addImports(path)
    if (this.sources.of(path).rare !== null) this.addImports(RARE + path)
  }

  private addImports(importer: string): void {
    for (const { from, names } of this.sources.half(importer).imports) {
      if (!from.startsWith('.') && !from.startsWith(RARE) && !from.startsWith('/')) continue
      const target = this.sources.resolve(importer, from)
      for (const name of names ?? this.sources.namesOf(target)) this.request(importer, target, name)
    }
  }

  private request(importer: string, target: string, name: string): void {
    if (this.isLazy(importer, target)) {
      const home = this.sources.home(target, name)
      if (home !== null) this.add(home, name)
      return
    }
    const { functions, passedOn, reexports } = this.sources.half(target)
    if (functions.includes(name)) return
    const other = reexports.get(name)
    if (other !== undefined) {
      this.request(importer, this.sources.resolve(target, other.from), other.name)
      return
    }
    for (const from of passedOn) {
      const id = this.sources.resolve(target, from)
      if (this.sources.home(id, name) !== null) this.request(importer, id, name)
    }
  }
}

/** The list of a part: what others call, by position, and the wrappers that are the part's own. */
function entryModule(part: string, list: readonly Door[], wrappers: readonly string[]): string {
  const ids = [...new Set(list.map(({ id }) => id))]
  const imports = ids.map((id, i) => `import * as m${i} from ${JSON.stringify(id)}\n`).join('')
  const items = [...list.map(({ id, name }) => `m${ids.indexOf(id)}.${name}`), ...wrappers.map((name) => `w.${name}`)]
  const own = wrappers.length === 0 ? '' : `import * as w from '${WRAPPERS}${part}.ts'\n`
  return `${imports}${own}export default [${items.join(', ')}]\n`
}

/** What a module exports, each function from the half that it is in. */
function viewText(id: string, sources: Sources): string {
  const { exports } = sources.half(id)
  const own = exports.length === 0 ? '' : `export { ${exports.join(', ')} } from ${JSON.stringify(id)}\n`
  return own + othersText(id, sources, new Set())
}

/** What a module exports of other ones, but for some names. */
function othersText(id: string, sources: Sources, without: ReadonlySet<string>): string {
  const { passedOn, reexports } = sources.half(id)
  const named = [...reexports].filter(([name]) => !without.has(name))
  return [
    ...named.map(([name, other]) => `export { ${other.name} as ${name} } from ${JSON.stringify(other.from)}\n`),
    ...passedOn.map((from) => `export * from ${JSON.stringify(from)}\n`),
  ].join('')
}

/** Each function replaces itself when it is first called. */
function standIn(root: string, part: string, names: readonly string[], numbers: readonly number[], others: string): string {
  const functions = names.map((name, i) => `export let ${name} = (...args) => (${name} = part('${part}')[${numbers[i]!}])(...args)\n`)
  return `import { part } from '${root}/runtime/part.ts'\n${functions.join('')}${others}`
}
