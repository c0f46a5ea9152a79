import { EXPORT, IMPORT } from '../emit/names.js'
import type { KernelExports } from '../exports.js'
import { bufferUpTo, type Memory, webAssembly } from '../web-assembly.js'

/**
 * Generated code that threads have to know, in the kernels' memory: each has a table of its own, and compiles what it lacks before it calls it
 * (kernels/arch/wasm/primitives/shared_code.h). Words of the list, and of an entry:
 */
const LOCK = 0
const GENERATION = 1
const NEWEST = 2

const NEXT = 0
const SERIAL = 1
const SLOT = 2
const BYTES = 3
const HEAD_BYTES = 16

interface Allocation {
  aligned_alloc(alignment: number, bytes: number): number
  free(address: number): void
}

/** Runs `task` while no other thread has the list. Each holds it for the time of a copy, so that whoever waits looks again and again. */
function locked<T>(memory: Memory, list: number, task: (words: Int32Array) => T): T {
  const lock = new Int32Array(memory.buffer, list, 1)
  while (Atomics.compareExchange(lock, LOCK, 0, 1) !== 0) continue
  try {
    return task(new Int32Array(memory.buffer))
  } finally {
    Atomics.store(lock, LOCK, 0)
  }
}

/** The list, for the thread that generates code. */
export class CodeList {
  constructor(
    private readonly memory: Memory,
    private readonly heap: Allocation,
    /** What `ptlite_code_list` gives. */
    private readonly list: number,
  ) {}

  /** The function of a module stands in this place of the table from now on. Gives the address of its entry; 0 where there is no memory. */
  publish(slot: number, module: Uint8Array): number {
    const size = Math.ceil((HEAD_BYTES + module.length) / 64) * 64
    const entry = this.heap.aligned_alloc(64, size) >>> 0
    if (entry === 0) return 0
    new Uint8Array(bufferUpTo(this.memory, entry + size), entry + HEAD_BYTES, module.length).set(module)
    locked(this.memory, this.list, (words) => {
      const [at, list] = [entry / 4, this.list / 4]
      const serial = (words[list + GENERATION]! + 1) | 0
      words[at + NEXT] = words[list + NEWEST]!
      words[at + SERIAL] = serial
      words[at + SLOT] = slot
      words[at + BYTES] = module.length
      words[list + NEWEST] = entry
      Atomics.store(words, list + GENERATION, serial)
    })
    return entry
  }

  /** Nobody calls the function any more. */
  withdraw(entry: number): void {
    locked(this.memory, this.list, (words) => {
      let at = this.list / 4 + NEWEST
      while (words[at]! >>> 0 !== entry) at = (words[at]! >>> 0) / 4 + NEXT
      words[at] = words[entry / 4 + NEXT]!
    })
    this.heap.free(entry)
  }
}

/** The list, for a thread that runs what is generated elsewhere. */
export class CodeReader {
  private seen = 0
  private isLost = false

  constructor(
    private readonly memory: Memory,
    private readonly exports: KernelExports,
    private readonly list: number,
  ) {}

  /** Puts what is new into the table. 0 where a function cannot be compiled, from then on. */
  learn(): number {
    if (this.isLost) return 0
    try {
      for (const { slot, module } of this.fresh()) this.install(slot, module)
      return 1
    } catch {
      this.isLost = true
      return 0
    }
  }

  /** Oldest first: a place may have been used again. */
  private fresh(): { readonly slot: number; readonly module: Uint8Array }[] {
    // entries may lie in what other threads have added to the memory
    this.memory.grow(0)
    return locked(this.memory, this.list, (words) => {
      const found = []
      const at = this.list / 4
      for (let entry = words[at + NEWEST]! >>> 0; entry !== 0; entry = words[entry / 4 + NEXT]! >>> 0) {
        const [, serial, slot, bytes] = words.subarray(entry / 4, entry / 4 + BYTES + 1) as unknown as [number, number, number, number]
        if (serial - this.seen <= 0) break
        const module = new Uint8Array(this.memory.buffer, entry + HEAD_BYTES, bytes).slice()
        found.push({ slot, module })
      }
      this.seen = words[at + GENERATION]!
      return found.reverse()
    })
  }

  private install(slot: number, bytes: Uint8Array): void {
    const module = new webAssembly!.Module(bytes)
    const { exports } = new webAssembly!.Instance(module, { [IMPORT.module]: { [IMPORT.name]: this.memory } })
    const { __indirect_function_table: table } = this.exports
    if (slot >= table.length) table.grow(slot + 1 - table.length)
    table.set(slot, (exports as Record<string, unknown>)[EXPORT])
  }
}
