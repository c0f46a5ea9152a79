import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { gzipSync } from 'node:zlib'
import { findLibrary } from '../../runtime/native/library-path.js'
import type { Minified } from '../build/bundle.js'
import type { NativeLibrary } from '../build/native.js'
import { type Selection, dtypeNames } from '../selection/selection.js'
import type { Target } from '../build/target.js'
import { mappedSymbols } from './link-map.js'
import { type NativeSymbol, nativeSymbols, objectFolders } from './symbols.js'

/** Bytes of the whole library and of the selected one; null where the whole one was not built. */
export interface Size {
  readonly before: number | null
  readonly after: number
}

export interface Report {
  /** JavaScript minified, and the kernel library, stripped. */
  readonly total: Size
  readonly javascript: Size & { readonly gzipped: Size }
  readonly native: Size
  readonly dtypes: string
  readonly levels: readonly string[]
  /** Bytes of minified JavaScript by source file: the module's, by the files' shares before it is minified. */
  readonly files: Readonly<Record<string, number>>
  /** Bytes of code in the kernel library. */
  readonly kernels: Readonly<Record<string, Size>>
  readonly codeByDtype: Readonly<Record<string, Size>>
  readonly codeByLevel: Readonly<Record<string, Size>>
}

export interface ReportInput {
  readonly root: string
  readonly target: Target
  readonly selection: Selection
  readonly levels: readonly string[]
  readonly module: Minified
  readonly native: NativeLibrary
}

export async function makeReport(input: ReportInput): Promise<Report> {
  const { root, target, module, native } = input
  const { whole, wholeLibrary, after, before } = target.name === 'wasm32' ? await ofWasm(input) : await ofNative(root, native)
  const sum = (key: (s: (typeof after)[number]) => string): Record<string, Size> => sumBy(before, after, key)
  return {
    total: { before: wholeLibrary === null ? null : whole.length + wholeLibrary, after: module.code.length + native.bytes },
    javascript: {
      before: whole.length,
      after: module.code.length,
      gzipped: { before: gzipSync(whole, { level: 9 }).length, after: module.gzipped },
    },
    native: { before: wholeLibrary, after: native.bytes },
    dtypes: dtypeNames(input.selection.dtypes),
    levels: input.levels,
    files: Object.fromEntries([...module.files].filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a)),
    kernels: sum((s) => s.kernel),
    codeByDtype: sum((s) => s.dtype),
    codeByLevel: sum((s) => s.level),
  }
}

/** What a report compares. */
interface Compared {
  readonly whole: Uint8Array
  readonly wholeLibrary: number | null
  readonly after: readonly NativeSymbol[]
  readonly before: readonly NativeSymbol[]
}

async function ofNative(root: string, native: NativeLibrary): Promise<Compared> {
  return {
    whole: await wholeBundle(root),
    wholeLibrary: sizeOf(join(root, 'dist/libptlite.so')) ?? sizeOf(findLibrary()),
    after: await nativeSymbols(root, native.unstripped, objectFolders(join(native.unstripped, '..'))),
    before: await nativeSymbols(root, null, objectFolders(join(root, 'build'))),
  }
}

async function ofWasm({ root, native, levels }: ReportInput): Promise<Compared> {
  const level = levels[0]!
  const folder = join(root, 'dist/web')
  const name = level === 'RELAXED' ? 'ptlite-relaxed' : 'ptlite'
  const sizes = ['', '-more'].map((rest) => sizeOf(join(folder, `${name}${rest}.wasm`)))
  return {
    whole: existsSync(join(folder, 'runtime.js')) ? allParts(folder) : await wholeBundle(root),
    wholeLibrary: sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0),
    after: mappedSymbols(root, native.unstripped, level),
    before: mappedSymbols(root, join(root, 'build/web', level, 'ptlite.map'), level),
  }
}

/** The library for browsers, without the programs of workers. */
function allParts(folder: string): Uint8Array {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js') && !/^(thread|worker)\.js$/.test(name))
  return Buffer.concat(names.map((name) => readFileSync(join(folder, name))))
}

async function wholeBundle(root: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...{ entryPoints: [join(root, 'src/index.ts')], bundle: true, minify: true, write: false, platform: 'node', format: 'esm' },
    ...{ target: 'node20', mainFields: ['module', 'main'], logLevel: 'silent' },
  })
  return outputFiles[0]!.contents
}

interface Keyed {
  readonly bytes: number
}

function sumBy<T extends Keyed>(before: readonly T[], after: readonly T[], key: (item: T) => string): Record<string, Size> {
  const sizes = new Map<string, { before: number; after: number }>()
  const add = (items: readonly T[], which: 'before' | 'after'): void => {
    for (const item of items) {
      const name = key(item)
      const row = sizes.get(name) ?? { before: 0, after: 0 }
      row[which] += item.bytes
      sizes.set(name, row)
    }
  }
  add(before, 'before')
  add(after, 'after')
  const rows = [...sizes].sort(([, a], [, b]) => b.after - a.after || b.before - a.before)
  return Object.fromEntries(rows.map(([name, row]) => [name, { before: before.length === 0 ? null : row.before, after: row.after }]))
}

/** The report as a table for people. */
export function reportText(report: Report): string {
  const kB = (bytes: number | null): string => (bytes === null ? '-' : `${(bytes / 1000).toFixed(1)} kB`)
  const row = (name: string, { before, after }: Size): string => {
    const share = before === null || before === 0 ? '' : `${((100 * after) / before).toFixed(1)} %`
    return `  ${name.padEnd(40)} ${kB(before).padStart(12)} ${kB(after).padStart(12)} ${share.padStart(8)}\n`
  }
  const section = (title: string, sizes: Readonly<Record<string, Size>>): string => {
    const held = Object.entries(sizes).filter(([, size]) => size.after > 0)
    const gone = Object.entries(sizes).filter(([, size]) => size.after === 0)
    const dropped = gone.reduce((bytes, [, size]) => bytes + (size.before ?? 0), 0)
    if (held.length + gone.length === 0) return ''
    const rest = gone.length === 0 || dropped === 0 ? '' : row(`${gone.length} left out`, { before: dropped, after: 0 })
    return `\n${title}\n${held.map(([name, size]) => row(name, size)).join('')}${rest}`
  }
  const { total } = report
  const times = total.before === null ? '' : `  ${(total.before / total.after).toFixed(1)} times smaller\n`
  return (
    `${''.padEnd(42)} ${'whole'.padStart(12)} ${'selected'.padStart(12)}\n` +
    row('JavaScript, minified', report.javascript) +
    row('JavaScript, minified and gzipped', report.javascript.gzipped) +
    row('kernel library, stripped', report.native) +
    row('total', total) +
    times +
    `  dtypes: ${report.dtypes}; levels: ${report.levels.join(', ')}\n` +
    section('Kernels (machine code)', report.kernels) +
    section('Levels (machine code)', report.codeByLevel) +
    section('Dtypes (machine code of instances)', report.codeByDtype)
  )
}

/** Bytes of a file, or null where there is none. */
function sizeOf(path: string): number | null {
  return existsSync(path) ? statSync(path).size : null
}
