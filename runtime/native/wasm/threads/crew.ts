import type { ThreadExports } from '../exports.js'
import type { Kernels } from '../kernels.js'
import type { CompiledModule, Memory } from '../web-assembly.js'
import { CodeList } from './code-list.js'
import { Helpers } from './helpers.js'
import { Launchers } from './launchers.js'

/** Threads besides the one that loaded the kernels. */
export class Crew {
  private readonly exports: ThreadExports
  private readonly code: CodeList
  private readonly helpers: Helpers
  private readonly launchers: Launchers
  private isRefused = false

  constructor(
    kernels: Kernels,
    module: CompiledModule,
    memory: Memory,
    /** The program of threads, where it is not beside the library. */
    file: string | URL | undefined,
  ) {
    this.exports = kernels.exports as ThreadExports
    this.code = new CodeList(memory, this.exports, this.exports.ptlite_code_list())
    kernels.code.shared = this.code
    const shared = { kernels, module, memory, file }
    this.helpers = new Helpers(shared, (reason, hasBegun) => {
      if (hasBegun) kernels.breakDown(reason)
      else this.refuse(reason)
    })
    this.launchers = new Launchers(
      shared,
      (reason, frame) => kernels.breakDown(reason, frame),
      (reason) => {
        this.refuse(reason)
      },
    )
  }

  /** Kernels are to use so many threads, the one that calls them included. */
  want(threads: number): void {
    if (!this.isRefused) this.helpers.want(threads - 1)
    this.exports.ptlite_use_threads(threads)
  }

  /** Fulfils once all threads that are wanted have begun, or been refused. */
  begun(): Promise<void> {
    return this.helpers.begun()
  }

  /** Runs the kernel of a frame on another thread, or on this one where there is none; fulfils with its status. */
  launch(frame: Uint8Array): Promise<number> {
    return this.launchers.launch(frame)
  }

  /** Sets a word of a frame whose kernel may be running. */
  write(frame: Uint8Array, word: number, value: number): void {
    this.launchers.write(frame, word, value)
  }

  /** Kernels do without helpers that do not come. */
  private refuse(reason: string): void {
    if (this.isRefused) return
    this.isRefused = true
    console.warn(`ptlite: no thread can be started for kernels, which go on with those that there are: ${reason}`)
  }
}
