import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { GeneratedFiles } from '../../codegen/generate.js'
import { writeFiles } from '../../codegen/write.js'
import { PtliteError } from '../../runtime/error.js'
import { PROCESSOR, sourcesOfKernels } from './sources.js'

export interface NativeInput {
  readonly root: string
  /** Where object files are kept from build to build. */
  readonly folder: string
  readonly files: GeneratedFiles
  /** null for all. */
  readonly kernels: ReadonlySet<string> | null
  /** Levels of the ladder that files of ops/ are compiled for, but *.once.cpp. */
  readonly levels: readonly string[]
  readonly onProgress: (line: string) => void
}

export interface NativeLibrary {
  /** Stripped. */
  readonly path: string
  readonly bytes: number
  /** For the report: the library with symbols, or the linker's map of a module of WebAssembly. */
  readonly unstripped: string
}

/** Compiles the kernel library of a selective build. Throws NATIVE_LIBRARY with what the compiler says. */
export async function buildNative(input: NativeInput): Promise<NativeLibrary> {
  const { root, folder } = input
  mkdirSync(folder, { recursive: true })
  // files that are the same are left alone, so that objects stay valid
  await writeFiles(new Map([...nativeFiles(input.files)].map(([path, text]) => [path.slice('kernels/'.length), text])), folder)
  const sources = input.kernels === null ? [] : sourcesOfKernels(root, input.kernels)
  const configure = [
    ...['-S', join(root, 'kernels'), '-B', folder, '-DCMAKE_BUILD_TYPE=Release'],
    ...[
      `-DPTLITE_GENERATED=${join(folder, 'generated')}`,
      `-DPTLITE_SOURCES=${sources.join(';')}`,
      `-DPTLITE_ISA=${input.levels.join(';')}`,
    ],
    '-DPTLITE_STRIP=OFF',
    ...(existsSync(join(folder, 'CMakeCache.txt')) ? [] : await generator()),
  ]
  await run('cmake', configure, () => undefined)
  await run('cmake', ['--build', folder, '--parallel', String(cpus().length)], (line) => {
    if (/^\[/.test(line)) input.onProgress(line.replace(/CMakeFiles\/(?:ptlite_)?(\w+)\.dir\//, '$1 '))
  })
  const unstripped = join(folder, 'libptlite.so')
  const path = join(folder, 'libptlite.stripped.so')
  copyFileSync(unstripped, `${path}.new`)
  await run('strip', ['--strip-all', '--remove-section=.comment', `${path}.new`], () => undefined)
  renameSync(`${path}.new`, path)
  return { path, bytes: statSync(path).size, unstripped }
}

/** Those that the kernel library is compiled from. */
export function nativeFiles(files: GeneratedFiles): GeneratedFiles {
  return new Map([...files].filter(([path]) => path.startsWith('kernels/generated/')))
}

export async function generator(): Promise<string[]> {
  try {
    await run('ninja', ['--version'], () => undefined)
    return ['-G', 'Ninja']
  } catch {
    return []
  }
}

/** Names of the ladder's levels, lowest first. */
export function ladder(root: string, processor: string = PROCESSOR): string[] {
  const lines = readFileSync(join(root, 'kernels/arch', processor, 'isa/ladder.txt'), 'utf8').split('\n')
  return lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split('|')[0]!.trim())
}

/** Runs a tool and hands on its lines. Throws NATIVE_LIBRARY where it is missing or fails. */
export function run(
  tool: string,
  args: readonly string[],
  onLine: (line: string) => void,
  needs = 'a selective build needs g++, cmake and binutils',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const take = (chunk: Buffer): void => {
      output += chunk.toString()
      for (const line of chunk.toString().split('\n')) if (line !== '') onLine(line)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', (cause) => {
      reject(new PtliteError('NATIVE_LIBRARY', `cannot run ${tool}: ${cause.message}; ${needs}`, { cause }))
    })
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new PtliteError('NATIVE_LIBRARY', `${tool} failed:\n${output.split('\n').slice(-40).join('\n')}`))
    })
  })
}
