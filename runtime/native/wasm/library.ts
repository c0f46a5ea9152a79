import { check, PtliteError } from '../../error.js'
import { turnOfOthers } from '../../turn.js'
import { frameBytes } from './frame-memory.js'
import { Kernels } from './kernels.js'
import { chooseKernels, compileLater, compileNow, isCompiled, type KernelFile, type KernelSource, threadFile } from './locate.js'
import { Crew, mostThreads } from './threads/crew.js'
import { type KernelMemory, newMemory } from './threads/memory.js'
import type { CompiledModule } from './web-assembly.js'

/** Stands for runtime/native/library.ts in builds for browsers: kernels are modules of WebAssembly. */

let source: KernelSource | undefined
let kernels: Kernels | undefined
let loading: Promise<Kernels> | undefined
/** Other threads, where there can be any. */
let crew: Crew | undefined
let threads = 1

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

/** The same for a single path or URL, by the name that it has in Node. */
export function setNativeLibrary(path: string): void {
  check(typeof path === 'string' && path !== '', () => 'expected the URL of a file of kernels')
  setKernels(path)
}

/** Fulfils once kernels can run, on all threads that are there to be; loadModule waits for that itself. Rejects with NATIVE_LIBRARY, and UNSUPPORTED_HOST. */
export async function kernelsReady(): Promise<void> {
  if (kernels === undefined) await loaded()
  await crew?.begun()
}

async function loaded(): Promise<void> {
  loading ??= load()
  try {
    await loading
  } catch (error) {
    // the network may be there next time
    loading = undefined
    throw error
  }
}

async function load(): Promise<Kernels> {
  const file = chooseKernels(source)
  const memory = memoryFor(file)
  const module = await compileLater(file, memory.isShared)
  const made = await Kernels.whenMade(module, memory)
  // someone may have come first who could not wait
  return kernels ?? use(made, module, memory)
}

/** Code says whether its memory is shared; that of a file is made to. */
const memoryFor = (file: KernelFile): KernelMemory => newMemory(mostThreads() > 1 && !isCompiled(file))

function use(made: Kernels, module: CompiledModule, { memory, isShared }: KernelMemory): Kernels {
  kernels = made
  if (isShared) {
    crew = new Crew(made, module, memory!, threadFile(source))
    crew.want(threads)
  }
  return made
}

/** The kernels, loaded at once where the host can do that: from files of Node, and from bytes. Throws NATIVE_LIBRARY where it cannot. */
export function nativeHost(): Kernels {
  return (kernels ??= loadNow())
}

function loadNow(): Kernels {
  const file = chooseKernels(source)
  const memory = memoryFor(file)
  const module = compileNow(file, memory.isShared)
  if (module !== undefined) return use(Kernels.of(module, memory), module, memory)
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

/** Runs the kernel of another frame, on another thread where there can be one; others have their turn first where there is none. */
export async function nativeLaunchAsync(frame: Uint8Array): Promise<number> {
  const host = nativeHost()
  if (crew !== undefined) return crew.launch(frame)
  await turnOfOthers()
  return host.launchFrame(frame)
}

/** Sets a word of a frame that was given to `nativeLaunchAsync`, whose kernel may be running. */
export function writeFrame(frame: Uint8Array, word: number, value: number): void {
  new Int32Array(frame.buffer, frame.byteOffset)[word] = value
  crew?.write(frame, word, value)
}

/** Kernels are to use so many threads from now on, or as many as there can be. */
export function useThreads(count: number): void {
  threads = Math.min(count, mostThreads())
  crew?.want(threads)
}

export const threadsInUse = (): number => (kernels === undefined || crew !== undefined ? threads : 1)
