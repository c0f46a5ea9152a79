import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { emitSchemas } from '../../codegen/emit/schemas.js'
import { emitFunctions, emitTable } from '../../codegen/emit/table.js'
import type { Operator } from '../../codegen/model/operator.js'
import { backendsFrom, DEVICE_BACKENDS, everything, libraryNames } from '../../codegen/options.js'
import { packNumbers } from '../../codegen/emit/packed.js'

const FOLDER = 'runtime/operators/table/generated'
const FUNCTIONS = `${FOLDER}/functions.ts`
export const TABLE_FILE = `${FOLDER}/table.ts`
const BOXED = `${FOLDER}/boxed.ts`
/** Says what parts an operator may come to. */
export const REACH = 'runtime/operators/table/reach.ts'
/** What the table of operators consists of. */
export const LOOKUP = 'runtime/operators/table/lookup.ts'
export const TABLE: ReadonlySet<string> = new Set([
  LOOKUP,
  'runtime/operators/table/decode-schema.ts',
  REACH,
  ...['table', 'functions', 'schemas'].map((name) => `${FOLDER}/${name}.ts`),
])
/** Files whose calls of native functions name part and position, as a stand-in for each would cost more. */
export const CALLERS: ReadonlySet<string> = new Set([
  ...['common', 'other'].map((name) => `runtime/operators/generated/dispatch-${name}.ts`),
  `${FOLDER}/derived.ts`,
])
/** Files whose text the parts are made from, but not their imports. */
export const REPLACED: ReadonlySet<string> = new Set([FUNCTIONS, BOXED])
/** The part of wrappers that functions of several parts are called by. */
export const HOME = 'operators'

/** Files of functions that the table names. */
export const NAMED: Readonly<Record<string, string>> = {
  derived: 'runtime/operators/table/generated/derived.ts',
  at: 'runtime/operators/generated/dispatch.ts',
  cpu: 'runtime/operators/cpu/index.ts',
  quantized: 'runtime/operators/quantized/index.ts',
  composite: 'runtime/operators/composite/index.ts',
  builtin: 'runtime/operators/builtin/index.ts',
}

/** Where another part finds a function. */
export interface Place {
  readonly part: string
  readonly at: number
}

/** Says where the function `name` of a module is: of `cpu`, `quantized`, `composite`, `builtin`, `derived` or `at`. */
export type Find = (module: string, name: string) => Place

const ITEM = /^ {2}(\w+)\.(\w+),$/gm
const NATIVE_CALL = /\b(cpu|quantized|composite|builtin)\.(\w+)\(/g

/** Generated text by file, relative to the project. */
export type Texts = (file: string) => string

/** The generated files of the library. */
export function libraryTexts(root: string): Texts {
  return (file) => readFileSync(join(root, file), 'utf8')
}

/** The files of a table of some operators, and the packed differences between their numbers in the table of all. */
export function tableOf(operators: readonly Operator[], names: ReadonlySet<string>): { texts: Texts; steps: string; total: number } {
  const some = operators.filter(({ qualifiedName }) => names.has(qualifiedName))
  const options = { backends: backendsFrom(DEVICE_BACKENDS), selector: everything, names: libraryNames, notesCalls: true }
  const texts: Record<string, string> = {
    [TABLE_FILE]: emitTable(some, options),
    [FUNCTIONS]: emitFunctions(some, options),
    [`${FOLDER}/schemas.ts`]: emitSchemas(some),
  }
  const numbers = some.map((operator) => operators.indexOf(operator))
  return { texts: (file) => texts[file]!, steps: packNumbers(numbers.map((n, i) => n - (numbers[i - 1] ?? 0))), total: operators.length }
}

/** A module as LOOKUP: the operators of one table, and for those that it lacks another one. `isLate`: whether parts have to be waited for. */
export function joinedText(few: string, all: string, root: string, steps: string, total: number, isLate: boolean): string {
  const functions = ['nameOf', 'functionOf', 'wrapperOf', 'schemaOf', ...(isLate ? ['partsOf'] : [])]
  return `import * as few from ${JSON.stringify(few)}
import * as all from ${JSON.stringify(all)}
import { unpackNumbers } from '${root}/runtime/operators/table/packed.ts'
let sum = 0
const numbers = unpackNumbers(${JSON.stringify(steps)}).map((step) => (sum += step))
const by = (number, few, all) => {
  const at = numbers.indexOf(number)
  return at < 0 ? all(number) : few(at)
}
export const operatorTotal = () => ${total}
export const numberOf = (name) => numbers[few.numberOf(name)] ?? all.numberOf(name)
${functions.map((name) => `export const ${name} = (number) => by(number, few.${name}, all.${name})\n`).join('')}`
}

/** The boxed wrappers of each part: those that only functions of it are called by. `few` are the operators that `all` is tried after. */
export function wrappersByPart(all: Texts, few: Texts, tablePart: string, homePart: string, find: Find): Map<string, string[]> {
  const usersOf = (texts: Texts): Map<string, Set<string>> => {
    const { functions, wrappers } = readLists(texts)
    const [functionOf, wrapperOf] = ['functionOf', 'wrapperOf'].map((name) => numbersOf(texts(TABLE_FILE), name)) as [number[], number[]]
    const users = new Map<string, Set<string>>(wrappers.map(([, name]) => [name, new Set()]))
    wrapperOf.forEach((wrapper, i) => users.get(wrappers[wrapper]![1])!.add(find(...functions[functionOf[i]!]!).part))
    return users
  }
  const usual = usersOf(few)
  const byPart = new Map<string, string[]>()
  for (const [name, users] of usersOf(all)) {
    const first = usual.get(name) ?? users
    const part = first.size === 1 ? [...first][0]! : usual.has(name) ? homePart : tablePart
    byPart.set(part, [...(byPart.get(part) ?? []), name])
  }
  return byPart
}

/**
 * generated/table.ts in fewer bytes: overloads stand behind the name that they share, and a function that comes for the first time is a zero, another
 * one its distance from the next that would.
 */
export function tableText(root: string, texts: Texts): string {
  const table = texts(TABLE_FILE)
  const overloads = new Map<string, string[]>()
  for (const name of namesOf(table)) {
    const [base, overload = ''] = name.split('.') as [string, string?]
    overloads.set(base, [...(overloads.get(base) ?? []), overload])
  }
  const names = [...overloads].map(([base, list]) => (list.length === 1 && list[0] === '' ? base : [base, ...list].join('.'))).join(' ')
  let next = 0
  const steps = numbersOf(table, 'functionOf').map((number) => {
    if (number < next) return next - number
    next++
    return 0
  })
  return `import { unpackNumbers } from '${root}/runtime/operators/table/packed.ts'
const namesOf = ([base, ...overloads]) => overloads.length === 0 ? [base] : overloads.map((overload) => overload === '' ? base : base + '.' + overload)
export const names = ${JSON.stringify(names)}.split(' ').flatMap((group) => namesOf(group.split('.'))).join(' ')
let next = 0
export const functionOf = unpackNumbers(${JSON.stringify(packNumbers(steps))}).map((step) => step === 0 ? next++ : next - step)
export const wrapperOf = unpackNumbers(${JSON.stringify(packNumbers(numbersOf(table, 'wrapperOf')))})
`
}

/** Those of boxed.ts that are named. */
export function boxedText(root: string, names: readonly string[]): string {
  const text = readFileSync(join(root, BOXED), 'utf8')
  const header = text
    .slice(0, text.indexOf('export function'))
    .replace(/from '(\.[^']+)'/g, (_, path: string) => `from '${join(root, FOLDER, path)}'`)
  const functions = new Map([...text.matchAll(/^export function (\w+)\([^]*?^\}\n/gm)].map((match) => [match[1]!, match[0]]))
  return header + names.map((name) => functions.get(name)!).join('')
}

interface FunctionsOptions {
  /** What has `part`. */
  readonly partFile: string
  readonly texts: Texts
  readonly part: string
  readonly find: Find
  readonly homeOf: (module: string, name: string) => { readonly id: string; readonly name: string }
  readonly wrapperAt: (name: string) => Place
  readonly wrappersModule: string
  /** Whether parts may have to be waited for: what is in one that is not there is looked for when it is called. */
  readonly isLate: boolean
}

/** The module with the functions and wrappers of a table in `part`: a number, part * 4096 + position, for what is in another part. */
export function functionsText({ partFile, texts, part, find, homeOf, wrapperAt, wrappersModule, isLate }: FunctionsOptions): string {
  const parts: string[] = []
  const imports: string[] = []
  const item = (module: string, name: string, place: Place, at: () => { readonly id: string; readonly name: string }): string => {
    if (place.part === part) {
      const { id, name: own } = at()
      imports.push(`import { ${own} as ${module}_${name} } from ${JSON.stringify(id)}\n`)
      return `${module}_${name}`
    }
    if (!parts.includes(place.part)) parts.push(place.part)
    return String(parts.indexOf(place.part) * 4096 + place.at)
  }
  const { functions, wrappers } = readLists(texts)
  const functionItems = functions.map(([module, name]) => item(module, name, find(module, name), () => homeOf(module, name)))
  const wrapperItems = wrappers.map(([module, name]) => item(module, name, wrapperAt(name), () => ({ id: wrappersModule, name })))
  const found = 'part(parts[f >> 12])[f & 4095]'
  const resolved = isLate ? `has(parts[f >> 12]) ? ${found} : (...args) => ${found}(...args)` : found
  return `import { ${isLate ? 'has, ' : ''}part } from '${partFile}'
${imports.join('')}const functions = [${functionItems.join(', ')}]
const wrappers = [${wrapperItems.join(', ')}]
const parts = ${JSON.stringify(parts)}
const resolve = (f) => typeof f !== 'number' ? f : ${resolved}
export const functionAt = (position) => resolve(functions[position])
export const wrapperAt = (position) => resolve(wrappers[position])
`
}

/** The functions that the table and files of CALLERS name, with their modules. */
export function nativeCalls(texts: Texts): [string, string][] {
  const calls = [...CALLERS].flatMap((file) =>
    [...texts(file).matchAll(NATIVE_CALL)].map(([, module, name]): [string, string] => [module!, name!]),
  )
  return [...readLists(texts).functions, ...calls]
}

/** Code of a file of CALLERS. */
export function callerText(partFile: string, code: string, find: Find): string {
  const parts: string[] = []
  const called = code.replace(NATIVE_CALL, (_, module: string, name: string) => {
    const { part, at } = find(module, name)
    if (!parts.includes(part)) parts.push(part)
    return `(part${parts.indexOf(part)} ??= part('${part}'))[${at}](`
  })
  const variables = parts.length === 0 ? '' : `let ${parts.map((_, i) => `part${i}`).join(', ')}\n`
  return `import { part } from '${partFile}'\n${called}${variables}`
}

function readLists(texts: Texts): { functions: [string, string][]; wrappers: [string, string][] } {
  const items = [...texts(FUNCTIONS).matchAll(ITEM)].map(([, module, name]): [string, string] => [module!, name!])
  return { functions: items.filter(([module]) => module !== 'w'), wrappers: items.filter(([module]) => module === 'w') }
}

function namesOf(table: string): string[] {
  return /names: string = '(.*)'/.exec(table)![1]!.split(' ')
}

function numbersOf(table: string, name: string): number[] {
  return JSON.parse(new RegExp(`${name}: readonly number\\[\\] = (\\[.*\\])`).exec(table)![1]!) as number[]
}

/** The operators of a table, with the functions that they are, and the names of what these are called by with boxed arguments. */
export function functionsIn(
  texts: Texts,
): { readonly name: string; readonly module: string; readonly own: string; readonly wrapper: string }[] {
  const { functions, wrappers } = readLists(texts)
  const table = texts(TABLE_FILE)
  const [places, wrapperPlaces] = ['functionOf', 'wrapperOf'].map((name) => numbersOf(table, name)) as [number[], number[]]
  return namesOf(table).map((name, i) => {
    const [module, own] = functions[places[i]!]!
    return { name, module, own, wrapper: wrappers[wrapperPlaces[i]!]![1] }
  })
}
