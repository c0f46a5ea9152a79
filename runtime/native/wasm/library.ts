import { check, PtliteError } from '../../error.js'
import { frameBytes } from './frame-memory.js'
import type { Kernels } from './kernels.js'
import { chooseKernels, type KernelSource } from './locate.js'
import { kernelsLater, kernelsNow, launchElsewhere, threadsBegun, writeElsewhere } from './threads/loading.js'

/** Stands for runtime/native/library.ts in builds for browsers: kernels are modules of WebAssembly. */

let source: KernelSource | undefined
let kernels: Kernels | undefined
let loading: Promise<Kernels> | undefined

/**
 * Says where the kernels are, in place of the files beside the library. Must come before the first operator call and the first model: throws
 * NATIVE_LIBRARY after it.
 */
export function setKernels(from: KernelSource): void {
  check(
    (from as unknown) !== undefined && (from as unknown) !== null && from !== '',
    () => 'expected the URL or the bytes of a file of kernels',
  )
  if (kernels !== undefined || loading !== undefined)
    throw new PtliteError('NATIVE_LIBRARY', 'the kernels are loaded already; call setKernels first')
  source = from
}

/** What `setKernels` was given; undefined where it was not called. */
export const chosenKernels = (): KernelSource | undefined => source

/** The same for a single path or URL, by the name that it has in Node. */
export function setNativeLibrary(path: string): void {
  check(typeof path === 'string' && path !== '', () => 'expected the URL of a file of kernels')
  setKernels(path)
}

/** Fulfils once kernels can run, on all threads that are to be there; loadModule waits for that itself. Rejects with NATIVE_LIBRARY, and UNSUPPORTED_HOST. */
export async function kernelsReady(): Promise<void> {
  if (kernels !== undefined) return threadsBegun()
  loading ??= load()
  try {
    await loading
    await threadsBegun()
  } catch (error) {
    // the network may be there next time
    loading = undefined
    throw error
  }
}

async function load(): Promise<Kernels> {
  const made = await kernelsLater(chooseKernels(source), source)
  // someone may have come first who could not wait
  return (kernels ??= made)
}

/** The kernels, loaded at once where the host can do that: from files of Node, and from bytes. Throws NATIVE_LIBRARY where it cannot. */
export function nativeHost(): Kernels {
  return (kernels ??= loadNow())
}

function loadNow(): Kernels {
  const made = kernelsNow(chooseKernels(source), source)
  if (made !== undefined) return made
  throw new PtliteError(
    'NATIVE_LIBRARY',
    "the kernels have not been loaded yet, which browsers do while others wait: `await ready()` of 'ptlite/web' before tensors are made, or load a model first",
  )
}

/**
 * Fulfils once the code that was generated so far, for compiled calls, is in use. It is compiled while others wait, so that a loop that never waits goes on
 * without it.
 */
export async function codeReady(): Promise<void> {
  await kernels?.code.settled()
}

/** Runs the kernel that the frame of this thread names. */
export function nativeLaunch(memory: ArrayBufferView | null): number {
  return (kernels ?? withFrame()).launch(memory)
}

/** The first kernel: the frame was filled in before there was a memory for it. */
function withFrame(): Kernels {
  const before = frameBytes.slice()
  const host = nativeHost()
  frameBytes.set(before)
  return host
}

/** Runs the kernel of another frame, on another thread where there can be one. */
export function nativeLaunchAsync(frame: Uint8Array): Promise<number> {
  return launchElsewhere(nativeHost(), frame)
}

/** Sets a word of a frame that was given to `nativeLaunchAsync`, whose kernel may be running. */
export function writeFrame(frame: Uint8Array, word: number, value: number): void {
  new Int32Array(frame.buffer, frame.byteOffset)[word] = value
  writeElsewhere(frame, word, value)
}
