import { PtliteError } from '../../error.js'
import { moreImports } from './imports.js'
import type { Kernels, OtherKernels } from './kernels.js'
import { answerFor, bytesNow, compileLater, isCompiled, type KernelFile } from './locate.js'
import { notLoaded } from './not-loaded.js'
import { withSharedMemory } from './threads/shared-import.js'
import { type CompiledModule, webAssembly } from './web-assembly.js'

/** As parts of the library are called. */
export const MORE_KERNELS = 'more-kernels'

/** The section by which the two files know each other: eight bytes, and in the first file a bit for each kernel that is in the second. */
const DIVISION = 'ptlite.division'
const MARK_BYTES = 8

/** Gives what other threads find a module by. Throws OUT_OF_MEMORY. */
type Share = (module: Uint8Array) => void

/** The second file of kernels (scripts/web/kernels/divide.ts), which comes when something needs it. Its functions stand in the table of the first one. */
export class MoreKernels implements OtherKernels {
  private loading: Promise<void> | undefined

  private constructor(
    private readonly kernels: Kernels,
    private readonly mark: string,
    /** A bit for each kernel that is in the file; undefined once they are there. */
    private apart: Uint8Array | undefined,
    private readonly file: KernelFile | undefined,
    /** Where memory is shared with threads. */
    private readonly share: Share | undefined,
  ) {}

  /** What is apart from a module of kernels; undefined where it has them all. */
  static of(kernels: Kernels, module: CompiledModule, file: KernelFile | undefined, share: Share | undefined): MoreKernels | undefined {
    const division = divisionOf(module)
    return division && new MoreKernels(kernels, markOf(division), division.subarray(MARK_BYTES), file, share)
  }

  lacks(kernel: number): boolean {
    return this.apart !== undefined && (this.apart[kernel >> 3]! & (1 << (kernel & 7))) !== 0
  }

  now(): void {
    const { file } = this
    if (file !== undefined && isCompiled(file)) {
      this.add(file)
      return
    }
    const bytes = file === undefined ? undefined : bytesNow(file)
    if (bytes !== undefined) this.addBytes(bytes)
    else if (file === undefined) throw nowhere()
    else throw notLoaded(MORE_KERNELS, 'its second file of kernels')
  }

  async later(): Promise<void> {
    if (this.apart === undefined) return
    this.loading ??= this.load()
    try {
      await this.loading
    } catch (error) {
      // the network may be there next time
      this.loading = undefined
      throw error
    }
  }

  private async load(): Promise<void> {
    const { file, share } = this
    if (file === undefined) throw nowhere()
    if (share === undefined || isCompiled(file)) {
      const module = await compileLater(file)
      if (this.apart !== undefined) await this.addLater(module)
      return
    }
    const bytes = await bytesLater(file)
    const shared = withSharedMemory(bytes)
    const module = await compileLater(shared)
    if (this.apart !== undefined) await this.addLater(module, shared)
  }

  private addBytes(bytes: Uint8Array): void {
    const own = this.share === undefined ? bytes : withSharedMemory(bytes)
    this.add(
      compiled(() => new webAssembly!.Module(own)),
      own,
    )
  }

  private add(module: CompiledModule, shared?: Uint8Array): void {
    this.check(module)
    if (shared !== undefined) this.share?.(shared)
    compiled(() => new webAssembly!.Instance(module, moreImports(this.kernels.exports)))
    this.apart = undefined
  }

  private async addLater(module: CompiledModule, shared?: Uint8Array): Promise<void> {
    this.check(module)
    if (shared !== undefined) this.share?.(shared)
    await webAssembly!.instantiate(module, moreImports(this.kernels.exports)).catch(otherFile)
    this.apart = undefined
  }

  private check(module: CompiledModule): void {
    const division = divisionOf(module)
    if (division === undefined || markOf(division) !== this.mark) otherFile()
  }
}

function divisionOf(module: CompiledModule): Uint8Array | undefined {
  const [section] = webAssembly!.Module.customSections(module, DIVISION)
  return section && new Uint8Array(section)
}

const markOf = (division: Uint8Array): string => division.subarray(0, MARK_BYTES).join()

function compiled<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    return otherFile(cause)
  }
}

async function bytesLater(file: Exclude<KernelFile, CompiledModule>): Promise<Uint8Array> {
  const now = bytesNow(file)
  if (now !== undefined) return now
  try {
    return new Uint8Array(await (await answerFor(file)).arrayBuffer())
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `cannot load the second file of kernels: ${message}; serve dist/web/*.wasm of the package beside the program`,
      {
        cause,
      },
    )
  }
}

function otherFile(cause?: unknown): never {
  const message = 'the second file of kernels does not belong to the first one; both have to be of the same package'
  throw new PtliteError('NATIVE_LIBRARY', message, { cause })
}

function nowhere(): PtliteError {
  return new PtliteError(
    'NATIVE_LIBRARY',
    'this needs the second file of kernels, and setKernels was given the first one alone: give it DEFAULT_MORE or RELAXED_MORE, too',
  )
}
