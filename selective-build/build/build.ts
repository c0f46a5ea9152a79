import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GeneratedFiles, readKernels, readOperators } from '../../codegen/generate.js'
import { type Outputs, replaceFiles } from '../../codegen/replace-files.js'
import { PtliteError } from '../../runtime/error.js'
import { makeReport, type Report, reportText, type Size } from '../report/report.js'
import { treemap } from '../report/treemap.js'
import { loadersOf, selectionOf } from '../selection/selection.js'
import { traceToYaml } from '../trace/to-yaml.js'
import type { Trace } from '../trace/trace.js'
import { type Bundle, bundle } from './bundle.js'
import { declarationsFor } from './declarations.js'
import { featuresModule, featuresOf } from './features.js'
import { generatedFiles } from './generated.js'
import { ladder, nativeFiles } from './native.js'
import type { Target } from './target.js'

export interface BuildRequest {
  /** The project's sources. */
  readonly root: string
  readonly target: Target
  readonly trace: Trace
  /** Keep all dtypes and operations of kernels that the trace names. */
  readonly allDtypes: boolean
  /** Keep the compiler. */
  readonly compiler: boolean
  /** Levels of the ladder, in any case; empty for all. */
  readonly isa: readonly string[]
  readonly out: string
  /** Folder for object files. */
  readonly cache: string
  /** The command and its inputs, for errors of the build about what it lacks. */
  readonly command: string
  readonly onProgress: (line: string) => void
}

/** Builds the runtime for what a trace names and writes the output folder. Throws PtliteError. */
export async function buildSelected(request: BuildRequest): Promise<Report> {
  const { root, target, trace, out, onProgress } = request
  const declared = readOperators(join(root, 'codegen/native_functions'), root)
  const abi = readKernels(join(root, 'codegen/kernels'), root)
  const levels = levelsFor(trace, request.isa, ladder(root, target.processor), target)
  const selection = selectionOf(trace, declared, abi, request)
  const extra = new Map([
    ['runtime/build.ts', buildModule(request.command)],
    ['runtime/features.ts', featuresModule(featuresOf(selection, declared))],
    ['runtime/native/wasm/files.ts', filesModule(levels[0]!, target)],
  ])
  const filesFor = (kernels: ReadonlySet<string> | null): GeneratedFiles =>
    new Map([...generatedFiles(selection, declared, abi, kernels), ...extra])
  const bundleOf = (files: GeneratedFiles, cache?: Bundle['cache']): Promise<Bundle> => bundle({ root, target, files, cache })

  onProgress(`${selection.operators.size} operators, levels ${levels.join(', ')}`)
  const first = await bundleOf(filesFor(selection.kernels))
  // of those that the runtime itself launches, what this build has no code for goes
  const kernels =
    selection.kernels === null
      ? first.kernels
      : new Set([...selection.kernels].filter((name) => trace.kernels?.has(name) === true || first.kernels.has(name)))
  const files = filesFor(kernels)
  const whole = await bundleOf(files, first.cache)
  const modules = await Promise.all(target.formats.map((format) => whole.minified(format)))
  const module = modules[0]!
  onProgress(`JavaScript: ${module.code.length} bytes, ${module.gzipped} gzipped; ${kernels.size} kernels`)
  const native = await target.compile({
    ...{ root, kernels, levels, onProgress, files },
    folder: join(request.cache, keyOf(nativeFiles(files), kernels, [target.name, ...levels])),
  })
  onProgress(`kernel library: ${native.bytes} bytes`)
  const report = await makeReport({ root, target, selection, levels, module, native })
  checkSmaller(report.total)
  const types = declarationsFor(root, whole.exports, target)
  await writeOutput(
    out,
    new Map<string, string | Uint8Array>([
      ...target.formats.flatMap((format, i): [string, string | Uint8Array][] => [
        [`index.${ENDINGS[format]}`, modules[i]!.code],
        [`index.d.${format === 'esm' ? 'ts' : 'cts'}`, types],
      ]),
      [target.library, readFileSync(native.path)],
      ['selected_operators.yaml', traceToYaml(trace, out)],
      ['package.json', manifest(root, target)],
      ['report.json', `${JSON.stringify(report, null, 2)}\n`],
      ['report.txt', reportText(report)],
      ['report.svg', treemap(report)],
    ]),
  )
  return report
}

const ENDINGS = { esm: 'js', cjs: 'cjs' } as const

/** All files or none; a library that is in use keeps its file. */
function writeOutput(out: string, files: Outputs): Promise<void> {
  mkdirSync(out, { recursive: true })
  return replaceFiles(new Map([...files].map(([name, content]) => [join(out, name), content])))
}

/** Levels to build: without a choice all, and for files that were compiled ahead alone theirs. Throws INVALID_ARGUMENT where one of theirs is not chosen. */
export function levelsFor({ features }: Trace, wanted: readonly string[], known: readonly string[], target?: Target): string[] {
  const named = (prefix: string): string[] => [...features].filter((f) => f.startsWith(prefix)).map((f) => f.slice(prefix.length))
  // one file of WebAssembly is of one level: the one that all engines know, without a choice
  if (target?.name === 'wasm32') return wasmLevel(wanted, known)
  const compiled = named('level:')
  const isCompiledOnly = compiled.length > 0 && named('loader:').every((name) => loadersOf('plans').includes(name))
  const levels = levelsOf(wanted.length === 0 && isCompiledOnly ? compiled : wanted, known)
  const lacking = compiled.filter((level) => !levels.includes(level))
  if (lacking.length === 0) return levels
  throw new PtliteError('INVALID_ARGUMENT', `--isa: a .ptlc file was compiled for ${lacking.join(', ').toLowerCase()}`)
}

function wasmLevel(wanted: readonly string[], known: readonly string[]): string[] {
  const levels = levelsOf(wanted.length === 0 ? [known[0]!] : wanted, known)
  if (levels.length === 1) return levels
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `--level: a file of WebAssembly is of one level; make a build for each of ${levels.join(', ').toLowerCase()}`,
  )
}

const MODULE_URL = 'import.meta.url'

/** In place of runtime/native/wasm/files.ts: the one file, beside the build. */
function filesModule(level: string, { library }: Target): string {
  return `export const FILES = { ${level}: () => new URL('./${library}', ${MODULE_URL}) }\n`
}

/** Levels as the ladder spells them, lowest first. Throws INVALID_ARGUMENT for one that it does not have. */
export function levelsOf(wanted: readonly string[], known: readonly string[]): string[] {
  const names = wanted.map((name) => name.trim().toUpperCase())
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new PtliteError('INVALID_ARGUMENT', `--isa: no level '${unknown.toLowerCase()}'; expected ${known.join(', ').toLowerCase()}`)
  }
  return names.length === 0 ? [...known] : known.filter((name) => names.includes(name))
}

/** In place of runtime/build.ts: what errors about missing things end with, and that the library stands beside the build. */
function buildModule(command: string): string {
  const values = {
    HOW_TO_EXTEND: howToExtend(command),
    LIBRARY_FOLDERS: ['.'],
    HAS_PACKAGES: false,
    HOW_TO_GET_LIBRARY: 'take it from this build',
  }
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
    .join('')
}

const howToExtend = (command: string): string =>
  `. This is a selective build; to extend it, trace what is missing ('ptlite trace MODEL --input ... -o more.trace') and run '${command} --trace more.trace'`

/** Builds whose kernels are the same share their objects, whatever else is in them. */
function keyOf(headers: GeneratedFiles, kernels: ReadonlySet<string>, levels: readonly string[]): string {
  const text = JSON.stringify([[...headers].sort(), [...kernels].sort(), levels])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The folder is a package, so that its files mean the same wherever it stands. */
function manifest(root: string, { formats }: Target): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const isBoth = formats.includes('cjs')
  const ofImport = { types: './index.d.ts', default: './index.js' }
  const types = isBoth ? { import: ofImport, require: { types: './index.d.cts', default: './index.cjs' } } : ofImport
  const fields = {
    name: 'ptlite-selected',
    version,
    private: true,
    type: 'module',
    sideEffects: false,
    main: isBoth ? './index.cjs' : './index.js',
    types: './index.d.ts',
  }
  return `${JSON.stringify({ ...fields, exports: { '.': types, './package.json': './package.json' } }, null, 2)}\n`
}

/** Throws INTERNAL where a build is larger than the whole library. */
export function checkSmaller({ before, after }: Size): void {
  if (before === null || after <= before) return
  throw new PtliteError('INTERNAL', `the selected build has ${after} bytes, more than the ${before} of the whole one`)
}
