import { createRequire } from 'node:module'
import { HOW_TO_GET_LIBRARY } from '../build.js'
import { check, PtliteError } from '../error.js'
import { KERNEL_ABI_HASH } from './generated/kernels.js'
import { checkWhole } from './library-file.js'
import { chooseLibrary, findLibrary } from './library-path.js'

/** ptlite_launch of a kernel library: runs the kernel that the frame names and returns its status. */
export type Launch = (frame: Uint8Array, host: ArrayBufferView | null) => number

export interface LibraryLaunch extends Launch {
  /** The same on another native thread; both arguments must stay alive until it is done. */
  async(frame: Uint8Array, host: ArrayBufferView | null, done: (error: Error | null, status: number) => void): void
}

/** The one that package.json asks for. */
const KOFFI_VERSION = '3.3.4'

let launchFunction: LibraryLaunch | undefined

/**
 * Uses the kernel library at `path` instead of the one beside this module. Must come before the first operator call: throws NATIVE_LIBRARY
 * after it, and INVALID_ARGUMENT for what is no path.
 */
export function setNativeLibrary(path: string): void {
  check(typeof path === 'string' && path !== '', () => 'expected the path of a kernel library')
  if (launchFunction !== undefined)
    throw new PtliteError('NATIVE_LIBRARY', 'the native library is loaded already; call setNativeLibrary first')
  chooseLibrary(path)
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
  return openLibrary(findLibrary(), KERNEL_ABI_HASH, `it was built for another version of ptlite; ${HOW_TO_GET_LIBRARY}`)
}

/**
 * Loads a kernel library: one that exports ptlite_launch and ptlite_abi_hash, as the generated headers declare them.
 * Throws NATIVE_LIBRARY where it cannot be loaded, was cut off, or has another hash; `mismatch` says so.
 */
export function openLibrary(path: string, abiHash: number, mismatch: string): LibraryLaunch {
  const koffi = loadKoffi(createRequire(import.meta.url))
  try {
    checkWhole(path)
    const library = koffi.load(path)
    if (library.func('uint32_t ptlite_abi_hash()')() !== abiHash) throw new Error(mismatch)
    return library.func('int ptlite_launch(void *frame, void *host)') as LibraryLaunch
  } catch (cause) {
    throw new PtliteError('NATIVE_LIBRARY', `cannot load ${path}, which is for Linux on x86-64: ${(cause as Error).message}`, { cause })
  }
}

/** koffi's compiled part itself, which is all that is used of it: the JavaScript around it takes longer to load than the kernel library. Throws NATIVE_LIBRARY. */
function loadKoffi(require: NodeJS.Require): typeof import('koffi') {
  try {
    const koffi = require('@koromix/koffi-linux-x64/linux_x64/koffi.node') as typeof import('koffi')
    // of another version where the program has koffi itself
    if (koffi.version === KOFFI_VERSION) return koffi
  } catch {
    // not installed there
  }
  try {
    return require('koffi') as typeof import('koffi')
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n')
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `cannot load koffi, which calls the kernel library: ${reason!}; install the packages that ptlite depends on, and let Node load addons: without --no-addons, and with --allow-addons where it asks for permissions`,
      { cause },
    )
  }
}
