// Writes scripts/parts/common-functions.txt and common-operators.txt: what the programs of usual-programs.mjs run, which is what the first half
// of each part holds. Needs dist/libptlite.so.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rollup } from 'rollup'
import { COMMON, COMMON_OPERATORS } from './common.js'
import { functionsOf, libraryTexts, NAMED } from './generated.js'
import { readSource, sourceOf, Sources } from './sources.js'
import { noteRuns } from './split.js'

interface Notes {
  __ran?: (place: string, argument: unknown) => void
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const folder = `${root}/build/parts-profile`

/** What operators are looked up by; models need those that upgraders use too. */
const LOOKED_UP = 'runtime/operators/registry.ts findOperator'

/** Each function says its file and name when it runs. */
const noting: Plugin = {
  name: 'noting',
  resolveId(specifier, importer) {
    if (importer === undefined) return specifier
    return specifier.startsWith('.') ? sourceOf(importer, specifier) : null
  },
  load(id) {
    if (!id.endsWith('.ts')) return null
    const file = relative(root, id)
    return noteRuns(readSource(id), file, file.startsWith('runtime/backends/'))
  },
}

const bundle = await rollup({
  input: `${root}/src/index.ts`,
  external: [/^node:/, 'flatbuffers'],
  plugins: [noting],
  onLog(level, log) {
    if (level === 'warn' && log.code !== 'CIRCULAR_DEPENDENCY') console.error(log.message)
  },
})
mkdirSync(folder, { recursive: true })
await bundle.write({ file: `${folder}/library.mjs`, format: 'es' })

// a file that is compiled ahead, by a library that notes nothing
const [input, compiled] = [`${folder}/input.json`, `${folder}/usual.ptlc`]
const zeros = (size: number, ...others: number[]): unknown =>
  Array<unknown>(size).fill(others.length === 0 ? 0 : zeros(...(others as [number])))
writeFileSync(input, JSON.stringify(zeros(1, 3, 384, 384)))
const model = `${root}/test/fixtures/models/mobilenet_v2.ptl`
process.env.PTLITE_NATIVE_LIBRARY ??= `${root}/dist/libptlite.so`
execFileSync(process.execPath, ['--import', 'tsx', `${root}/src/cli/main.ts`, 'compile', model, '--input', input, '-o', compiled])

const ran = new Map<string, Set<string>>()
const operators = new Set<string>()
function note(place: string, argument?: unknown): void {
  if (place === LOOKED_UP) operators.add(argument as string)
  const [file, name] = place.split(' ') as [string, string]
  ran.set(file, (ran.get(file) ?? new Set()).add(name))
}
;(globalThis as Notes).__ran = note
const { runUsualPrograms } = (await import(new URL('usual-programs.mjs', import.meta.url).href)) as {
  runUsualPrograms: (library: unknown, compiled: string) => Promise<void>
}
await runUsualPrograms(await import(pathToFileURL(`${folder}/library.mjs`).href), compiled)
// a model that names an operator needs its function
const sources = new Sources(root, () => null)
for (const [module, name] of functionsOf(libraryTexts(root), operators)) {
  note(`${relative(root, sources.home(`${root}/${NAMED[module]!}`, name)!)} ${name}`)
}
writeFileSync(
  COMMON_OPERATORS,
  [...operators]
    .sort()
    .map((name) => `${name}\n`)
    .join(''),
)
const lines = [...ran].map(([file, names]) => `${[file, ...[...names].sort()].join(' ')}\n`)
writeFileSync(COMMON, lines.sort().join(''))
console.log(`${lines.length} files, ${[...ran.values()].reduce((sum, { size }) => sum + size, 0)} functions, ${operators.size} operators`)
