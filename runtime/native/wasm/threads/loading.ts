import { yieldToEventLoop } from '../../../event-loop.js'
import { Kernels } from '../kernels.js'
import { bytesNow, compileLater, compileNow, isAddress, isCompiled, type KernelFile, type KernelSource, threadsFile } from '../locate.js'
import type { CompiledModule } from '../web-assembly.js'
import { Crew } from './crew.js'
import { type KernelMemory, newMemory } from './memory.js'
import { sharedOnTheWay, withSharedMemory } from './shared-import.js'
import { mostThreads } from './start.js'
import * as features from '../../../features.js'

/** Kernels, and other threads for them where the host has memory that threads share. Selective builds have kernels alone. */

/** Those of the first kernels that were loaded, which are in use from then on. */
let crew: Crew | undefined
let isLoaded = false
/** Made for kernels that had to be waited for. */
let spare: KernelMemory | undefined
let threads = 1

/** Kernels at once; undefined where they have to be waited for. Throws NATIVE_LIBRARY. */
export function kernelsNow(file: KernelFile, source: KernelSource | undefined): Kernels | undefined {
  const memory = memoryFor(file)
  const module = compileNow(file, features.threads && memory.isShared ? sharedNow : undefined)
  if (module !== undefined) return use(Kernels.of(module, memory), module, memory, source)
  if (memory.isShared) spare = memory
  return undefined
}

/** The same anywhere. Rejects with NATIVE_LIBRARY. */
export async function kernelsLater(file: KernelFile, source: KernelSource | undefined): Promise<Kernels> {
  const memory = memoryFor(file)
  const module = await compileLater(file, features.threads && memory.isShared ? sharedLater : undefined)
  return use(await Kernels.whenMade(module, memory), module, memory, source)
}

/** Code says whether its memory is shared; that of a file is made to. */
function memoryFor(file: KernelFile): KernelMemory {
  if (isCompiled(file)) return newMemory(false)
  const memory = spare ?? newMemory(mostThreads() > 1)
  spare = undefined
  return memory
}

/** The file for memory that is shared, where it is there. */
function sharedNow(file: KernelFile): KernelFile {
  const bytes = bytesNow(file)
  return bytes === undefined ? file : withSharedMemory(bytes)
}

/** The same, and what has yet to come. */
function sharedLater(file: KernelFile): KernelFile {
  const now = sharedNow(file)
  if (now !== file) return now
  return Promise.resolve(isAddress(file) ? fetch(file) : (file as Response | Promise<Response>)).then(sharedOnTheWay)
}

function use(kernels: Kernels, module: CompiledModule, { memory, isShared }: KernelMemory, source: KernelSource | undefined): Kernels {
  if (!features.threads) return kernels
  // others that could not wait may have come first
  if (isShared && !isLoaded) {
    crew = new Crew(kernels, module, memory!, threadsFile(source))
    crew.want(threads)
  }
  isLoaded = true
  return kernels
}

/** Fulfils once all threads that are wanted have begun, or been refused. */
export async function threadsBegun(): Promise<void> {
  if (features.threads) await crew?.begun()
}

/** Kernels are to use so many threads from now on, or as many as there can be. */
export function useThreads(count: number): void {
  threads = Math.min(count, mostThreads())
  crew?.want(threads)
}

export const threadsInUse = (): number => (isLoaded && crew === undefined ? 1 : threads)

/** Runs the kernel of a frame on another thread where there can be one; others have their turn first where there is none. */
export async function launchElsewhere(kernels: Kernels, frame: Uint8Array): Promise<number> {
  if (features.threads && crew !== undefined) return crew.launch(frame)
  await yieldToEventLoop()
  return kernels.launchFrame(frame)
}

/** Sets a word of a frame that was given to `launchElsewhere`, whose kernel may be running. */
export function writeElsewhere(frame: Uint8Array, word: number, value: number): void {
  if (features.threads) crew?.write(frame, word, value)
}
