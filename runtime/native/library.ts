import { HOW_TO_GET_LIBRARY } from '../build.js'
import { check, PtliteError } from '../error.js'
import { frameBytes } from './frame-memory.js'
import { KERNEL_ABI_HASH } from './generated/kernels.js'
import { type Host, type Launch, launchElsewhere, loadHost } from './host.js'
import { chooseLibrary, findLibrary } from './library-path.js'

let host: Host | undefined
let launchFunction: Launch | undefined

/**
 * Uses the kernel library at `path` instead of the one beside this module. Must come before the first operator call: throws NATIVE_LIBRARY
 * after it, and INVALID_ARGUMENT for what is no path.
 */
export function setNativeLibrary(path: string): void {
  check(typeof path === 'string' && path !== '', () => 'expected the path of a kernel library')
  if (host !== undefined) throw new PtliteError('NATIVE_LIBRARY', 'the native library is loaded already; call setNativeLibrary first')
  chooseLibrary(path)
}

/** Runs the kernel that the frame of this thread names; loads the library at the first call, so that importing the package costs nothing. */
export function nativeLaunch(memory: ArrayBufferView | null): number {
  return (launchFunction ??= nativeHost().launch)(memory)
}

/** Runs the kernel of another frame on another native thread; fulfils with the status. */
export function nativeLaunchAsync(frame: Uint8Array): Promise<number> {
  return launchElsewhere(nativeHost(), frame)
}

/** Sets a word of a frame that was given to `nativeLaunchAsync`, whose kernel may be running. */
export function writeFrame(frame: Uint8Array, word: number, value: number): void {
  new Int32Array(frame.buffer, frame.byteOffset)[word] = value
}

/** The kernel library in use. Throws NATIVE_LIBRARY where it cannot be loaded, was cut off, or is of another version. */
export function nativeHost(): Host {
  return (host ??= load())
}

function load(): Host {
  return loadHost(findLibrary(), frameBytes, KERNEL_ABI_HASH, () => `it was built for another version of ptlite; ${HOW_TO_GET_LIBRARY}`)
}
