import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { kernelsBySource } from '../build/sources.js'

/** A function or a table in the kernel library. */
export interface NativeSymbol {
  readonly bytes: number
  /** The kernels of its source file; `shared` for files without kernels. */
  readonly kernel: string
  readonly level: string
  readonly dtype: string
}

export interface ObjectFolder {
  /** `DEFAULT` for what is compiled once. */
  readonly level: string
  readonly path: string
}

/** Object files of a build folder of CMake, by level. */
export function objectFolders(build: string): ObjectFolder[] {
  const root = join(build, 'CMakeFiles')
  if (!existsSync(root)) return []
  return readdirSync(root).flatMap((name) => {
    const match = /^ptlite_(\w+)\.dir$/.exec(name)
    return match === null ? [] : [{ level: match[1] === 'base' ? 'DEFAULT' : match[1]!, path: join(root, name) }]
  })
}

interface Line {
  readonly bytes: number
  readonly name: string
}

/**
 * What is in a library, by where it comes from: the symbols of the object files that the linker kept. Without a library, all symbols of
 * the object files.
 */
export async function nativeSymbols(root: string, library: string | null, folders: readonly ObjectFolder[]): Promise<NativeSymbol[]> {
  const kept = library === null ? null : countBy((await symbolsIn([library])).get(library)!)
  const sources = kernelsBySource(root)
  const objects = folders.flatMap(({ level, path }) =>
    readdirSync(path, { encoding: 'utf8', recursive: true })
      .filter((file) => file.endsWith('.o'))
      .map((file) => ({ level, path, file })),
  )
  const found = await symbolsIn(objects.map(({ path, file }) => join(path, file)))
  const symbols: NativeSymbol[] = []
  for (const { level, path, file } of objects) {
    const kernels = sources.get(file.replace(/\.o$/, '')) ?? []
    for (const { bytes, name } of found.get(join(path, file))!) {
      if (kept !== null && !take(kept, `${bytes} ${name}`)) continue
      symbols.push({ bytes, level, kernel: kernels.join(', ') || 'shared', dtype: dtypeOf(name) })
    }
  }
  return symbols
}

/** Sizes and demangled names of the code and constants of object files, by path. */
async function symbolsIn(files: readonly string[]): Promise<Map<string, Line[]>> {
  const found = new Map<string, Line[]>(files.map((file) => [file, []]))
  if (files.length === 0) return found
  const { stdout } = await promisify(execFile)('nm', ['-A', '-S', '-C', '--defined-only', ...files], { maxBuffer: 1 << 28 })
  for (const line of stdout.split('\n')) {
    const match = /^(.+?):[0-9a-f]+ ([0-9a-f]+) ([tTrRdDbBwWvVuV]) (.*)$/.exec(line)
    // memory that is zero at first takes no bytes in the file
    if (match !== null && !/[bB]/.test(match[3]!)) found.get(match[1]!)?.push({ bytes: parseInt(match[2]!, 16), name: match[4]! })
  }
  return found
}

function countBy(lines: readonly Line[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { bytes, name } of lines) counts.set(`${bytes} ${name}`, (counts.get(`${bytes} ${name}`) ?? 0) + 1)
  return counts
}

function take(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count > 0) counts.set(key, count - 1)
  return count > 0
}

const CPP_TYPES: readonly (readonly [RegExp, string])[] = [
  [/[<, ]float[>, &*]/, 'float32'],
  [/[<, ]double[>, &*]/, 'float64'],
  [/[<, ](?:unsigned )?long[>, &*]/, 'int64'],
  [/[<, ](?:unsigned )?int[>, &*]/, 'int32'],
  [/[<, ](?:unsigned )?short[>, &*]/, 'int16'],
  [/[<, ]unsigned char[>, &*]/, 'uint8'],
  [/[<, ]signed char[>, &*]/, 'int8'],
  [/float16|_Float16/, 'float16'],
  [/bfloat16|bf16/, 'bfloat16'],
  [/boolean/, 'bool'],
]

/** The dtype that an instance of a template is for, by its first argument that is one. */
export function dtypeOf(name: string): string {
  const open = name.indexOf('<')
  if (open < 0) return 'any'
  const found = CPP_TYPES.map(([pattern, dtype]) => ({ dtype, at: name.slice(open).search(pattern) })).filter(({ at }) => at >= 0)
  found.sort((a, b) => a.at - b.at)
  return found[0]?.dtype ?? 'any'
}
