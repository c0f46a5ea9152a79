import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readKernels, readOperators } from '../../codegen/generate.js'
import { PtliteError } from '../../runtime/error.js'
import { makeReport, type Report, reportText } from '../report/report.js'
import { treemap } from '../report/treemap.js'
import { type Selection, selectionKey, selectionOf } from '../selection/selection.js'
import { traceToYaml } from '../trace/to-yaml.js'
import type { Trace } from '../trace/trace.js'
import { bundle, type Bundle, launchedKernels } from './bundle.js'
import { declarationsFor } from './declarations.js'
import { generatedFiles } from './generated.js'
import { buildNative, ladder } from './native.js'

export interface BuildRequest {
  /** The project's sources. */
  readonly root: string
  readonly trace: Trace
  /** Keep all dtypes and operations of kernels that the trace names. */
  readonly allDtypes: boolean
  /** Levels of the ladder, in any case; empty for all. */
  readonly isa: readonly string[]
  readonly out: string
  /** Folder for object files. */
  readonly cache: string
  /** The command and its inputs, for errors of the build about what it lacks. */
  readonly command: string
  readonly onProgress: (line: string) => void
}

const LIBRARY = 'libptlite.so'
const ENTRY = 'src/selected.ts'

/** Builds the runtime for what a trace names and writes the output folder. Throws PtliteError. */
export async function buildSelected(request: BuildRequest): Promise<Report> {
  const { root, trace, out, onProgress } = request
  const declared = readOperators(join(root, 'codegen/native_functions'), root)
  const abi = readKernels(join(root, 'codegen/kernels'), root)
  const levels = levelsOf(request.isa, ladder(root))
  const selection = selectionOf(trace, declared, abi, request)
  const features = new Set([...selection.parts, ...[...selection.loaders].map((name) => `loader:${name}`)])
  const extra = new Map([['runtime/build.ts', adviceModule(request.command)]])
  const bundleOf = (kernels: ReadonlySet<string> | null, format: 'esm' | 'cjs', chosen = selection): Promise<Bundle> =>
    bundle({
      ...{ root, entry: ENTRY, features, format, minify: true },
      files: new Map([...generatedFiles(chosen, declared, abi, kernels), ...extra]),
    })

  onProgress(`${selection.operators.size} operators, levels ${levels.join(', ')}`)
  const kernels = selection.kernels ?? launchedKernels((await bundleOf(null, 'esm')).code)
  const module = await bundleOf(kernels, 'esm')
  const commonJs = await bundleOf(kernels, 'cjs')
  onProgress(`JavaScript: ${module.code.length} bytes, ${module.gzipped} gzipped; ${kernels.size} kernels`)
  const native = await buildNative({
    ...{ root, kernels, levels, onProgress },
    folder: join(request.cache, keyOf(selection, kernels, levels)),
    files: generatedFiles(selection, declared, abi, kernels),
  })

  mkdirSync(out, { recursive: true })
  write(join(out, 'index.js'), module.code)
  write(join(out, 'index.cjs'), commonJs.code)
  const types = declarationsFor(root, module.exports)
  write(join(out, 'index.d.ts'), types)
  write(join(out, 'index.d.cts'), types)
  copyFileSync(native.path, join(out, `.${LIBRARY}.new`))
  renameSync(join(out, `.${LIBRARY}.new`), join(out, LIBRARY))
  write(join(out, 'selected_operators.yaml'), traceToYaml(trace, out))
  write(join(out, 'package.json'), manifest(root))
  onProgress(`kernel library: ${native.bytes} bytes`)

  const report = await makeReport({ root, selection, kernels, levels, module, native, costOf: (less) => bundleOf(kernels, 'esm', less) })
  write(join(out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  write(join(out, 'report.txt'), reportText(report))
  write(join(out, 'report.svg'), treemap(report))
  checkSmaller(report)
  return report
}

function write(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content)
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

/** What errors about missing things end with. */
function adviceModule(command: string): string {
  const text = `. This is a selective build; to extend it, trace what is missing ('ptlite trace MODEL --input ... -o more.trace') and run '${command} --trace more.trace'`
  return `export const HOW_TO_EXTEND = ${JSON.stringify(text)}\n`
}

function keyOf(selection: Selection, kernels: ReadonlySet<string>, levels: readonly string[]): string {
  const text = JSON.stringify([selectionKey(selection), [...kernels].sort(), levels])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The folder is a package, so that its files mean the same wherever it stands. */
function manifest(root: string): string {
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  const types = { import: { types: './index.d.ts', default: './index.js' }, require: { types: './index.d.cts', default: './index.cjs' } }
  const fields = { name: 'ptlite-selected', version, private: true, type: 'module', sideEffects: false, main: './index.cjs', types: './index.d.ts' }
  return `${JSON.stringify({ ...fields, exports: { '.': types, './package.json': './package.json' }, dependencies }, null, 2)}\n`
}

function checkSmaller({ total }: Report): void {
  if (total.before === null || total.after <= total.before) return
  throw new PtliteError('INTERNAL', `the selected build has ${total.after} bytes, more than the ${total.before} of the whole one`)
}

/** Bytes of a file, or null where there is none. */
export function sizeOf(path: string): number | null {
  return existsSync(path) ? statSync(path).size : null
}
