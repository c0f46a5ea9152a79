import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 'runtime/operators/generated'
export const FUNCTIONS = `${FOLDER}/functions.ts`
const BOXED = `${FOLDER}/boxed.ts`
/** Files whose calls of native functions name part and position, as a stand-in for each would cost more. */
export const CALLERS: ReadonlySet<string> = new Set(['runtime/backends/generated/dispatch.ts', `${FOLDER}/derived.ts`])
/** The part of what is called by way of its dispatch. */
const HOME = 'operators'

/** Where another part finds a function. */
export interface Place {
  readonly part: string
  readonly at: number
}

/** Says where the function `name` of a module is: of `cpu`, `quantized`, `composite`, `builtin` or `derived`; null for others. */
export type Find = (module: string, name: string) => Promise<Place | null>

const ITEM = /^ {2}(\w+)\.(\w+),$/gm
const NATIVE_CALL = /\b(cpu|quantized|composite|builtin)\.(\w+)\(/g

/** The boxed wrappers of each part: those that only its functions are called by. */
export async function wrappersByPart(root: string, find: Find): Promise<Map<string, string[]>> {
  const { functions, wrappers } = readLists(root)
  const table = readFileSync(join(root, FOLDER, 'table.ts'), 'utf8')
  const [functionOf, wrapperOf] = ['functionOf', 'wrapperOf'].map((name) => numbersOf(table, name)) as [number[], number[]]
  const partOf = await Promise.all(functions.map(async ([module, name]) => (await find(module, name))?.part ?? HOME))
  const users = wrappers.map(() => new Set<string>())
  wrapperOf.forEach((wrapper, i) => users[wrapper]!.add(partOf[functionOf[i]!]!))
  const byPart = new Map<string, string[]>()
  wrappers.forEach(([, name], i) => {
    const part = users[i]!.size === 1 ? [...users[i]!][0]! : HOME
    byPart.set(part, [...(byPart.get(part) ?? []), name])
  })
  return byPart
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

/** functions.ts with a number, part * 4096 + position, for what is in another part; `wrapperAt` says it for wrappers, the others are in `ownWrappers`. */
export async function functionsText(
  root: string,
  find: Find,
  wrapperAt: (name: string) => Place | null,
  ownWrappers: string,
): Promise<string> {
  const parts: string[] = []
  const item = (module: string, name: string, place: Place | null): string => {
    if (place === null) return `${module}.${name}`
    if (!parts.includes(place.part)) parts.push(place.part)
    return String(parts.indexOf(place.part) * 4096 + place.at)
  }
  const { functions, wrappers } = readLists(root)
  const places = await Promise.all(functions.map(([module, name]) => find(module, name)))
  const functionItems = functions.map(([module, name], i) => item(module, name, places[i]!))
  const wrapperItems = wrappers.map(([module, name]) => item(module, name, wrapperAt(name)))
  return `import { part } from '${root}/runtime/part.ts'
import * as at from '${root}/runtime/backends/generated/dispatch.ts'
import * as w from '${ownWrappers}'
const functions = [${functionItems.join(', ')}]
const wrappers = [${wrapperItems.join(', ')}]
const parts = ${JSON.stringify(parts)}
const resolve = (f) => typeof f === 'number' ? part(parts[f >> 12])[f & 4095] : f
export const functionAt = (position) => resolve(functions[position])
export const wrapperAt = (position) => resolve(wrappers[position])
`
}

/** A file of CALLERS. */
export async function callerText(root: string, file: string, find: Find): Promise<string> {
  const text = readFileSync(join(root, file), 'utf8')
  const calls = [...text.matchAll(NATIVE_CALL)]
  const places = new Map(await Promise.all(calls.map(async ([call, module, name]) => [call, (await find(module!, name!))!] as const)))
  const parts = [...new Set([...places.values()].map(({ part }) => part))]
  const called = text.replace(NATIVE_CALL, (call) => {
    const { part, at } = places.get(call)!
    return `(part${parts.indexOf(part)} ??= part('${part}'))[${at}](`
  })
  return `import { part } from '${root}/runtime/part.ts'\n${called}let ${parts.map((_, i) => `part${i}`).join(', ')}\n`
}

function readLists(root: string): { functions: [string, string][]; wrappers: [string, string][] } {
  const items = [...readFileSync(join(root, FUNCTIONS), 'utf8').matchAll(ITEM)].map(([, module, name]): [string, string] => [
    module!,
    name!,
  ])
  return { functions: items.filter(([module]) => module !== 'w'), wrappers: items.filter(([module]) => module === 'w') }
}

function numbersOf(table: string, name: string): number[] {
  return JSON.parse(new RegExp(`${name}: readonly number\\[\\] = (\\[.*\\])`).exec(table)![1]!) as number[]
}
