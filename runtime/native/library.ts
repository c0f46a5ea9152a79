import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HOW_TO_GET_LIBRARY, LIBRARY_FOLDERS } from '../build.js'
import { PtliteError } from '../error.js'
import { KERNEL_ABI_HASH } from './generated/kernels.js'

/** ptlite_launch of a kernel library: runs the kernel that the frame names and returns its status. */
export type Launch = (frame: Uint8Array, host: ArrayBufferView | null) => number

export interface LibraryLaunch extends Launch {
  /** The same on another native thread; both arguments must stay alive until it is done. */
  async(frame: Uint8Array, host: ArrayBufferView | null, done: (error: Error | null, status: number) => void): void
}

const FILE_NAME = 'libptlite.so'
/** Environment variable with the path of the kernel library. */
export const LIBRARY_VARIABLE = 'PTLITE_NATIVE_LIBRARY'

let explicitPath: string | undefined
let launchFunction: LibraryLaunch | undefined

/** Uses the kernel library at `path` instead of the one beside this module. Must come before the first operator call. */
export function setNativeLibrary(path: string): void {
  if (launchFunction !== undefined)
    throw new PtliteError('NATIVE_LIBRARY', 'the native library is loaded already; call setNativeLibrary first')
  explicitPath = path
}

/** What setNativeLibrary was given, for other threads of the process. */
export function nativeLibrary(): string | undefined {
  return explicitPath
}

/** Calls ptlite_launch; loads the library at the first call, so that importing the package costs nothing. */
export function nativeLaunch(frame: Uint8Array, host: ArrayBufferView | null): number {
  return (launchFunction ??= load())(frame, host)
}

/** ptlite_launch on another native thread; fulfils with the status. */
export function nativeLaunchAsync(frame: Uint8Array): Promise<number> {
  const launch = (launchFunction ??= load())
  return new Promise((resolve, reject) => {
    launch.async(frame, null, (error, status) => {
      if (error !== null) reject(error)
      else resolve(status)
    })
  })
}

function load(): LibraryLaunch {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new PtliteError('NATIVE_LIBRARY', `the kernels need Linux on x86-64, found ${process.platform} on ${process.arch}`)
  }
  return openLibrary(findLibrary(), KERNEL_ABI_HASH, `was built for another version of ptlite; ${HOW_TO_GET_LIBRARY}`)
}

/**
 * Loads a kernel library: one that exports ptlite_launch and ptlite_abi_hash, as the generated headers declare them.
 * Throws NATIVE_LIBRARY where it cannot be loaded, or has another hash; `mismatch` says so.
 */
export function openLibrary(path: string, abiHash: number, mismatch: string): LibraryLaunch {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  try {
    const library = koffi.load(path)
    const found = library.func('uint32_t ptlite_abi_hash()') as () => number
    if (found() !== abiHash) throw new Error(`it ${mismatch}`)
    return library.func('int ptlite_launch(void *frame, void *host)') as LibraryLaunch
  } catch (cause) {
    throw new PtliteError('NATIVE_LIBRARY', `cannot load ${path}: ${(cause as Error).message}`, { cause })
  }
}

function findLibrary(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const chosen = explicitPath ?? process.env[LIBRARY_VARIABLE]
  const tried = chosen !== undefined && chosen !== '' ? [chosen] : LIBRARY_FOLDERS.map((folder) => join(here, folder, FILE_NAME))
  const found = tried.find((path) => existsSync(path))
  if (found === undefined) {
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `no kernel library at ${tried.join(' or ')}; ${HOW_TO_GET_LIBRARY} or set ${LIBRARY_VARIABLE} to its path`,
    )
  }
  return found
}
