import { PtliteError } from '../../error.js'
import { KERNEL_ABI_HASH } from '../generated/kernels.js'
import { FRAME_BYTES, i32, viewFrame } from './frame-memory.js'
import { CodeTable } from './code-table.js'
import type { KernelExports } from './exports.js'
import { importsFor } from './imports.js'
import { beginFirst, type KernelMemory, newMemory, withMemory } from './threads/memory.js'
import { bufferUpTo, type CompiledModule, webAssembly } from './web-assembly.js'

const ALIGNMENT = 64

/** One instance of the kernels, with its memory, in which the frame of this thread and all tensors lie. */
export class Kernels {
  private readonly frame: number
  /** Memory that stands for JavaScript's during a launch, and its size. */
  private scratch = 0
  private scratchBytes = 0
  private buffer: ArrayBufferLike
  private bytes: Uint8Array
  private readonly reads: number
  private readonly writes: number
  /** Why no kernel can run any more. */
  private trap: PtliteError | undefined

  private constructor(
    readonly exports: KernelExports,
    /** Code that is generated for these kernels. */
    readonly code: CodeTable,
  ) {
    this.buffer = exports.memory.buffer
    this.bytes = new Uint8Array(this.buffer)
    this.frame = this.take(FRAME_BYTES)
    viewFrame(this.buffer, this.frame)
    const names = Array.from({ length: exports.ptlite_kernel_count() }, (_, id) => this.text(exports.ptlite_kernel_name(id)))
    this.reads = names.indexOf('mem_read')
    this.writes = names.indexOf('mem_write')
  }

  /** At once, which pages allow only of small modules. Throws NATIVE_LIBRARY where the module is of another version, or no module of kernels. */
  static of(module: CompiledModule, memory = newMemory(false)): Kernels {
    const made = new Making(memory)
    const { exports } = linked(() => new webAssembly!.Instance(module, made.imports))
    return Kernels.start(made, exports as KernelExports)
  }

  /** The same anywhere. */
  static async whenMade(module: CompiledModule, memory: KernelMemory): Promise<Kernels> {
    const made = new Making(memory)
    const { exports } = await webAssembly!.instantiate(module, made.imports).catch(notLinked)
    return Kernels.start(made, exports as KernelExports)
  }

  private static start(made: Making, exports: KernelExports): Kernels {
    made.exports = exports
    if (typeof exports.ptlite_abi_hash !== 'function' || exports.ptlite_abi_hash() >>> 0 !== KERNEL_ABI_HASH) throw otherVersion()
    beginFirst(exports, made.memory)
    exports._initialize()
    return new Kernels(exports, made.code)
  }

  /** Runs the kernel that the frame names. `host` is memory of JavaScript, which the kernel gets a copy of and whose changes come back. */
  launch(host: ArrayBufferView | null): number {
    if (this.trap !== undefined) throw this.trap
    const kernel = i32[0]!
    if (host === null) return this.run(0)
    const view = new Uint8Array(host.buffer, host.byteOffset, host.byteLength)
    if (kernel === this.reads || kernel === this.writes) return this.copy(kernel === this.reads, view)
    // what lies there already needs no copy
    if (view.buffer === this.buffer) return this.run(view.byteOffset)
    const at = this.scratchOf(view.length)
    this.bytes.set(view, at)
    const status = this.run(at)
    view.set(this.bytes.subarray(at, at + view.length))
    return status
  }

  /** Runs the kernel of the frame at an address. */
  launchAt(address: number): number {
    if (this.trap !== undefined) throw this.trap
    const status = this.guarded(address, 0)
    this.follow()
    return status
  }

  /** The same for another frame. */
  launchFrame(frame: Uint8Array): number {
    const at = this.take(frame.length)
    try {
      this.bytes.set(frame, at)
      const status = this.launchAt(at)
      frame.set(this.bytes.subarray(at, at + frame.length))
      return status
    } finally {
      this.give(at)
    }
  }

  /** A block at a multiple of 64. Throws OUT_OF_MEMORY. */
  take(bytes: number): number {
    if (this.trap !== undefined) throw this.trap
    const address = bytes > 0xffffffff ? 0 : this.exports.aligned_alloc(ALIGNMENT, Math.ceil((bytes || 1) / ALIGNMENT) * ALIGNMENT) >>> 0
    this.follow(address + bytes)
    if (address === 0)
      throw new PtliteError(
        'OUT_OF_MEMORY',
        `WebAssembly has no memory left for ${bytes} bytes: it holds 4 GB at most; dispose of tensors and modules that are not needed, and check the sizes that were asked for`,
      )
    return address
  }

  give(address: number): void {
    if (this.trap === undefined) this.exports.free(address)
  }

  private run(host: number): number {
    const status = this.guarded(this.frame, host)
    this.follow()
    return status
  }

  private guarded(frame: number, host: number): number {
    try {
      return this.exports.ptlite_launch(frame, host)
    } catch (cause) {
      throw this.trapped(cause)
    }
  }

  /**
   * What a trap leaves behind is not known: a kernel may have been about to change the allocator's lists. So no kernel runs any more in this instance,
   * whose tensors are lost.
   */
  private trapped(cause: unknown): PtliteError {
    return this.breakDown(cause instanceof Error ? cause.message : String(cause), i32, cause)
  }

  /** A kernel was ended by a trap, on whatever thread: what its launch is to fail with. */
  breakDown(message: string, frame: ArrayBufferView = i32, cause?: unknown): PtliteError {
    this.trap ??= new PtliteError(
      'NATIVE_LIBRARY',
      `kernels ended by a trap before (${message}), and their memory cannot be relied on; load the page, or start the worker, again`,
      { cause },
    )
    const id = new DataView(frame.buffer, frame.byteOffset).getUint32(0, true)
    const name = this.text(this.exports.ptlite_kernel_name(id))
    return new PtliteError(
      'INTERNAL',
      `kernel ${name}: ${message}; no other kernel can run in this page or worker until it is loaded again`,
      {
        cause,
      },
    )
  }

  /** Memory that has grown, as far as there at least, is another buffer. */
  private follow(end = 0): void {
    const buffer = bufferUpTo(this.exports.memory, end)
    if (buffer === this.buffer) return
    this.buffer = buffer
    this.bytes = new Uint8Array(buffer)
    viewFrame(buffer, this.frame)
  }

  /** mem_read and mem_write, whose frame has an address and a count, without a copy between. */
  private copy(isRead: boolean, view: Uint8Array): number {
    const address = i32[4]! >>> 0
    const bytes = i32[6]! >>> 0
    // a size beyond either is a mistake of the library
    if (i32[5] !== 0 || i32[7] !== 0 || bytes > view.length || address + bytes > this.bytes.length)
      throw new PtliteError('INTERNAL', `${bytes} bytes at ${address} are not in memory`)
    const there = this.bytes.subarray(address, address + bytes)
    if (isRead) view.set(there)
    else there.set(bytes === view.length ? view : view.subarray(0, bytes))
    return 0
  }

  private scratchOf(bytes: number): number {
    if (bytes > this.scratchBytes) {
      if (this.scratch !== 0) this.give(this.scratch)
      this.scratch = this.scratchBytes = 0
      this.scratch = this.take(bytes)
      this.scratchBytes = bytes
    }
    return this.scratch
  }

  private text(address: number): string {
    const bytes = new Uint8Array(this.exports.memory.buffer)
    return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)))
  }
}

/** What an instance is given before it has exports. */
class Making {
  exports: KernelExports | undefined
  readonly code = new CodeTable(() => this.exports!)
  readonly imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>

  constructor(readonly memory: KernelMemory) {
    this.imports = withMemory(
      importsFor(() => this.exports!, this.code),
      memory,
    )
  }
}

function linked<T>(link: () => T): T {
  try {
    return link()
  } catch (cause) {
    return notLinked(cause)
  }
}

/** A module that asks for something else is none of these kernels. */
function notLinked(cause: unknown): never {
  throw otherVersion(cause)
}

function otherVersion(cause?: unknown): PtliteError {
  const message = 'the file of kernels is of another version of ptlite, or none; it has to be that of the same package'
  return new PtliteError('NATIVE_LIBRARY', message, { cause })
}
