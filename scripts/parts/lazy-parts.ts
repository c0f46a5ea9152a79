import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'rollup'
import { readKernels, readOperators } from '../../codegen/generate.js'
import { readCommonOperators } from '../../codegen/common-operators.js'
import { constantFields, rewriteConstants } from './numbers.js'
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
  type Texts,
  wrappersByPart,
} from './generated.js'
import { javascriptOf, type Module, readModule, sourceOf as plainSourceOf } from './modules.js'
import { FIRST, PARTS } from './parts.js'

/** A module as another part sees it: functions of parts that are not loaded yet load them. */
const VIEW = '\0view:'
/** Modules that parts are loaded by. */
const ENTRY = '\0part:'
/** Modules with the boxed wrappers of a part. */
const WRAPPERS = '\0wrappers:'
/** Files of the table of the operators that usual programs call, and what looks there first. */
const FEW = '\0few:'
const JOINED = '\0lookup'
/** Place of files that are in no part. */
const WHOLE = '\0whole'
const WHOLE_NEEDS = ['model', 'compiled-files', 'files', 'operators', 'tracing']
const INDICES: ReadonlySet<string> = new Set(['src/index.ts', 'web/index.ts'])

const FOLDERS = ['src', 'media', 'compiler', 'formats', 'interpreter', 'program', 'engine', 'runtime', 'selective-build', 'codegen']
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

/** A function that others than its part call. */
interface Door {
  readonly id: string
  readonly name: string
}

export type Written = (texts: Texts, wrapperPart: (name: string) => string) => string

export interface DivisionOptions {
  /** Files that are in no part. */
  readonly whole: RegExp
  /** Files that others stand for, all relative to the project. */
  readonly replaced?: Readonly<Record<string, string>>
  /** Folders whose imports count. */
  readonly folders?: readonly string[]
  readonly isLeftOut?: (file: string) => boolean
  /** Changes the TypeScript of a file. */
  readonly transform?: (text: string, file: string) => string
  /** The part of a file. */
  readonly partOf?: (file: string) => string
  /** The part that another one goes into. */
  readonly within?: (part: string) => string
  /** How a part comes to be known, where it is not by what it exports: code for the list of what others call. */
  readonly define?: (part: string, list: string) => string
  /** Operators whose entries stand with those of codegen/common_operators.yaml. */
  readonly alsoCommon?: readonly string[]
  /** Text of files, which it is written from the tables of operators for, and from the parts of boxed wrappers by their names. */
  readonly written?: Readonly<Record<string, Written>>
  /** Whether a function of a part that is not there yet is looked for when it is called. */
  readonly isLate?: boolean
}

/**
 * Divides the sources under `root` into parts: an import of a function from another part becomes one of a function that loads the part when
 * it is called, and is replaced by the one that it stands for from then on.
 */
export function divide(root: string, options: DivisionOptions): Division {
  const { whole, replaced = {}, folders = FOLDERS, transform: change = (text) => text, written = {}, within = (part) => part } = options
  const placed = options.partOf ?? partOf
  const homePart = within(HOME)
  const sourceOf = (importer: string, specifier: string): string => {
    const found = plainSourceOf(importer, specifier)
    const other = replaced[relative(root, found)]
    return other === undefined ? found : join(root, other)
  }
  const declared = readOperators(join(root, 'codegen/native_functions'), root)
  const constants = constantFields(readKernels(join(root, 'codegen/kernels'), root))
  const modules = new Map<string, Module>()
  const moduleOf = (path: string): Module => {
    let found = modules.get(path)
    if (found === undefined) {
      const file = relative(root, path)
      const transform = (text: string): string => (whole.test(file) ? text : change(rewriteConstants(text, constants), file))
      modules.set(path, (found = readModule(path, { transform, makesFunctions: file.startsWith('runtime/operators/') })))
    }
    return found
  }
  const fileOf = (id: string): string => relative(root, id.replace(FEW, ''))
  const placeOf = (id: string): string => {
    if (id.startsWith(VIEW)) return viewed(id).place
    if (id.startsWith(FEW) || id === JOINED) return homePart
    if (id.startsWith(ENTRY)) return id.slice(ENTRY.length)
    if (id.startsWith(WRAPPERS)) return id.slice(WRAPPERS.length, -'.ts'.length)
    const file = fileOf(id)
    return whole.test(file) ? WHOLE : placed(file)
  }
  const needed = new Map<string, Set<string>>([[WHOLE, new Set([FIRST, ...WHOLE_NEEDS])]])
  for (const { name, needs } of PARTS) {
    const into = within(name)
    needed.set(into, new Set([...(needed.get(into) ?? []), into, FIRST, ...needs.map(within)]))
  }
  const isLazy = (from: string, to: string): boolean => to !== WHOLE && to !== FIRST && needed.get(from)?.has(to) !== true
  const chunkOf = (id: string): string | undefined => {
    const place = placeOf(id)
    return place === WHOLE || INDICES.has(fileOf(id)) || place === 'worker' ? undefined : place
  }

  // the functions of each module that others than its part import
  const doors = new Map<string, Set<string>>()
  const request = (place: string, target: string, name: string): boolean => {
    if (!target.endsWith('.ts')) return false
    const { functions, own, passedOn, reexports } = moduleOf(target)
    if (own.includes(name)) {
      if (isLazy(place, placeOf(target)) && functions.includes(name)) doors.set(target, (doors.get(target) ?? new Set()).add(name))
      return true
    }
    const other = reexports.get(name)
    if (other !== undefined) return request(place, sourceOf(target, other.from), other.name)
    return passedOn.some((from) => request(place, sourceOf(target, from), name))
  }
  const namesOf = (target: string): string[] => {
    const { own, passedOn, reexports } = moduleOf(target)
    return [...own, ...reexports.keys(), ...passedOn.flatMap((from) => namesOf(sourceOf(target, from)))]
  }
  const home = (target: string, name: string): Door | null => {
    const { own, passedOn, reexports } = moduleOf(target)
    if (own.includes(name)) return { id: target, name }
    const other = reexports.get(name)
    if (other !== undefined) return home(sourceOf(target, other.from), other.name)
    for (const from of passedOn) {
      const found = home(sourceOf(target, from), name)
      if (found !== null) return found
    }
    return null
  }
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const path = join(root, folder, name)
      const file = `${folder}/${name}`
      if (!name.endsWith('.ts') || REPLACED.has(file) || file in replaced || options.isLeftOut?.(file) === true) continue
      const { imports, reexports } = moduleOf(path)
      const named = [...reexports.values()].map(({ from, name }) => ({ from, names: [name] }))
      for (const { from, names } of [...imports, ...named]) {
        const target = sourceOf(path, from)
        if (!from.startsWith('.') || !target.endsWith('.ts')) continue
        for (const each of names ?? namesOf(target)) request(placeOf(path), target, each)
      }
    }
  }
  const homeOf = (module: string, name: string): Door => {
    const found = home(join(root, NAMED[module]!), name)
    if (found === null) throw new Error(`${NAMED[module]!} exports no ${name}`)
    return found
  }
  const all = libraryTexts(root)
  const common = readCommonOperators(join(root, 'codegen/common_operators.yaml'), declared)
  const few = tableOf(declared, new Set([...common, ...(options.alsoCommon ?? [])]))
  for (const [module, name] of nativeCalls(all)) {
    const { id, name: own } = homeOf(module, name)
    doors.set(id, (doors.get(id) ?? new Set()).add(own))
  }
  const lists = new Map<string, Door[]>()
  for (const id of [...doors.keys()].sort()) {
    const part = placeOf(id)
    lists.set(part, [...(lists.get(part) ?? []), ...[...doors.get(id)!].sort().map((name) => ({ id, name }))])
  }
  const listOf = (part: string): readonly Door[] => lists.get(part) ?? []
  const positions = new Map([...lists.values()].flatMap((list) => list.map(({ id, name }, i) => [`${id} ${name}`, i] as const)))
  const placeAt = (id: string, name: string): Place => ({ part: placeOf(id), at: positions.get(`${id} ${name}`)! })
  const find = (module: string, name: string): Place => {
    const { id, name: own } = homeOf(module, name)
    return placeAt(id, own)
  }
  const wrappers = wrappersByPart(all, few.texts, placed(LOOKUP), homePart, find)
  const wrappersOf = (part: string): readonly string[] => wrappers.get(part) ?? []
  const wrapperPlaces = new Map(
    [...wrappers].flatMap(([part, names]) => names.map((name, i) => [name, { part, at: listOf(part).length + i }] as const)),
  )
  const partFile = sourceOf(join(root, 'runtime/error.ts'), './part.js')
  const partsWithLists = [...new Set([...lists.keys(), ...wrappers.keys()])]

  const resolve = (specifier: string, importer: string): string | null => {
    const id = sourceOf(importer.startsWith(VIEW) ? viewed(importer).id : importer.replace(FEW, ''), specifier)
    if (!existsSync(id)) return null
    if (importer.startsWith(FEW) && TABLE.has(fileOf(id))) return FEW + id
    const place = placeOf(importer)
    if (fileOf(id) === LOOKUP && importer !== JOINED && place !== placed(LOOKUP)) return JOINED
    const there = placeOf(id)
    if (place === there || !id.endsWith('.ts') || fileOf(id).startsWith('node_modules/')) return id
    if (importer.startsWith(VIEW) && viewed(importer).id === id) return id
    const { passedOn, reexports } = moduleOf(id)
    return isLazy(place, there) || passedOn.length > 0 || reexports.size > 0 ? `${VIEW}${place}:${id}` : id
  }
  /** What a module exports as `place` sees it. */
  const viewText = (place: string, id: string): string => {
    const { own, passedOn, reexports } = moduleOf(id)
    const there = placeOf(id)
    const text = [...reexports].map(([name, other]) => `export { ${other.name} as ${name} } from ${JSON.stringify(other.from)}\n`)
    text.push(...passedOn.map((from) => `export * from ${JSON.stringify(from)}\n`))
    if (!isLazy(place, there))
      return text.concat(own.length === 0 ? '' : `export { ${own.join(', ')} } from ${JSON.stringify(id)}\n`).join('')
    const names = [...(doors.get(id) ?? [])]
    // each function replaces itself when it is first called
    const standIns = names.map((name) => {
      return `export let ${name} = (...args) => (${name} = part('${there}')[${placeAt(id, name).at}])(...args)\n`
    })
    return `import { part } from '${partFile}'\n${standIns.join('')}${text.join('')}`
  }
  const plugin: Plugin = {
    name: 'parts',
    buildStart() {
      for (const part of partsWithLists) {
        this.emitFile({ type: 'chunk', id: `${ENTRY}${part}`, name: part, preserveSignature: 'allow-extension' })
      }
    },
    resolveId(specifier, importer) {
      if (importer === undefined || specifier.startsWith('\0')) return specifier
      if (!specifier.startsWith('.') && !specifier.startsWith('/')) return null
      return importer.startsWith(ENTRY) ? specifier : resolve(specifier, importer)
    },
    load(id) {
      if (id.startsWith(ENTRY)) return entryModule(placeOf(id), listOf(placeOf(id)), wrappersOf(placeOf(id)), options.define)
      if (id.startsWith(WRAPPERS)) return javascriptOf(boxedText(root, wrappersOf(placeOf(id))))
      if (id === JOINED)
        return joinedText(FEW + join(root, LOOKUP), join(root, LOOKUP), root, few.steps, few.total, options.isLate === true)
      if (id.startsWith(VIEW)) return viewText(placeOf(id), viewed(id).id)
      const file = fileOf(id)
      if (!id.endsWith('.ts') || file.startsWith('node_modules')) return null
      if (file.endsWith('operators/generated/functions.ts')) {
        const [texts, part] = id.startsWith(FEW) ? [few.texts, homePart] : [all, placeOf(id)]
        const wrapperAt = (name: string): Place => wrapperPlaces.get(name)!
        return functionsText({
          partFile,
          texts,
          part,
          find,
          homeOf,
          wrapperAt,
          wrappersModule: `${WRAPPERS}${part}.ts`,
          isLate: options.isLate === true,
        })
      }
      if (file in written)
        return javascriptOf(written[file]!(id.startsWith(FEW) ? few.texts : all, (name) => wrapperPlaces.get(name)!.part))
      if (file === TABLE_FILE) return tableText(root, id.startsWith(FEW) ? few.texts : all)
      if (id.startsWith(FEW) && file.includes('/generated/')) return javascriptOf(few.texts(file))
      const { code, map } = moduleOf(id.replace(FEW, ''))
      return CALLERS.has(file) ? callerText(partFile, code, find) : { code, map }
    },
  }
  return { plugin, chunkOf }
}

/** The part that a view is in, and the module that is seen. */
function viewed(id: string): { place: string; id: string } {
  const end = id.indexOf(':', VIEW.length)
  return { place: id.slice(VIEW.length, end), id: id.slice(end + 1) }
}

/** The list of a part: what others call, by position, and the wrappers that are the part's own. */
function entryModule(part: string, list: readonly Door[], wrappers: readonly string[], define?: DivisionOptions['define']): string {
  const ids = [...new Set(list.map(({ id }) => id))]
  const imports = ids.map((id, i) => `import * as m${i} from ${JSON.stringify(id)}\n`).join('')
  const items = [...list.map(({ id, name }) => `m${ids.indexOf(id)}.${name}`), ...wrappers.map((name) => `w.${name}`)]
  const own = wrappers.length === 0 ? '' : `import * as w from '${WRAPPERS}${part}.ts'\n`
  const all = `[${items.join(', ')}]`
  return `${imports}${own}${define?.(part, all) ?? `export default ${all}\n`}`
}
