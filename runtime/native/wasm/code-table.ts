import { codeOf } from './emit/descriptions.js'
import { moduleOf } from './emit/module.js'
import { EXPORT, IMPORT } from './emit/names.js'
import type { KernelExports } from './exports.js'
import { bufferUpTo, type CompiledModule, webAssembly } from './web-assembly.js'
import * as features from '../../features.js'

/** A generated function, shared by all whose description is the same. */
interface Entry {
  readonly key: string
  readonly bytes: number
  /** Addresses of the words that are to hold its number in the table: `start` of handles (kernels/jit/handle.h). */
  readonly users: Set<number>
  /** Its number in the table; 0 while it is being compiled, and where that failed. */
  slot: number
  /** Where other threads find it; 0 where there are none. */
  published: number
}

/** Where other threads find functions (threads/code-list.ts). */
export interface SharedCode {
  publish(slot: number, module: Uint8Array): number
  withdraw(entry: number): void
}

/** What pages compile at once, whatever their browser. */
const MAX_AT_ONCE = 4096
/** Places that the table grows by. */
const MORE_SLOTS = 16
const SPARSE = 1

/**
 * Generated code: small modules on the kernels' memory, whose functions stand in the kernels' table, so that kernels call them as their own. They are
 * compiled while the program goes on. Handles hold null until then, and compiled kernels do the work.
 */
export class CodeTable {
  private readonly entries = new Map<string, Entry>()
  private readonly byUser = new Map<number, Entry>()
  private readonly unused: number[] = []
  private readonly pending = new Set<Promise<void>>()

  /** Of memory that other threads share. */
  shared: SharedCode | undefined

  constructor(private readonly exports: () => Pick<KernelExports, 'memory' | '__indirect_function_table'>) {}

  /** `PTLITE_JIT=0` in the environment of Node generates nothing. */
  private readonly isOn = environment()['PTLITE_JIT'] !== '0'

  /** Bytes of the function's code, 0 where there will be none; `user` becomes its number in the table. */
  generate(kind: number, words: number, count: number, user: number): number {
    if (!features.compiler || !this.isOn) return 0
    const { buffer } = this.exports().memory
    const description = new Uint8Array(buffer, words, 4 * count).slice()
    const key = `${kind},${new Uint32Array(description.buffer).join()}`
    const entry = this.entries.get(key) ?? this.make(key, kind, description)
    if (entry === undefined) return 0
    entry.users.add(user)
    this.byUser.set(user, entry)
    this.write(user, entry.slot)
    return entry.bytes
  }

  /** The function goes with its last user, and another one takes its place in the table. */
  discard(user: number): void {
    const entry = this.byUser.get(user)
    if (entry === undefined) return
    this.byUser.delete(user)
    entry.users.delete(user)
    if (entry.users.size > 0) return
    this.entries.delete(entry.key)
    if (entry.slot === 0) return
    this.exports().__indirect_function_table.set(entry.slot, null)
    if (entry.published !== 0) this.shared!.withdraw(entry.published)
    this.unused.push(entry.slot)
  }

  totals(): { readonly isOn: boolean; readonly functions: number; readonly bytes: number } {
    let bytes = 0
    for (const entry of this.entries.values()) bytes += entry.bytes
    return { isOn: this.isOn, functions: this.entries.size, bytes }
  }

  /** Fulfils once all code that was asked for is in use, or could not be compiled. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending)
  }

  private make(key: string, kind: number, description: Uint8Array): Entry | undefined {
    if (!features.compiler) return undefined
    const code = codeOf(kind, description)
    if (code === null) return undefined
    const bytes = moduleOf(code, this.shared !== undefined)
    const entry: Entry = { key, bytes: bytes.length, users: new Set(), slot: 0, published: 0 }
    this.entries.set(key, entry)
    // what a product costs is measured before it is chosen
    if (kind === SPARSE && bytes.length <= MAX_AT_ONCE && this.compileNow(entry, bytes)) return entry
    const compiled = this.compile(entry, bytes).finally(() => this.pending.delete(compiled))
    this.pending.add(compiled)
    return entry
  }

  private compileNow(entry: Entry, bytes: Uint8Array): boolean {
    if (!features.compiler) return false
    try {
      return this.install(entry, bytes, new webAssembly!.Instance(new webAssembly!.Module(bytes), this.imports()).exports)
    } catch {
      return false
    }
  }

  /** Where the engine has no memory for code, or a policy forbids it meanwhile, things stay as they are. */
  private async compile(entry: Entry, bytes: Uint8Array): Promise<void> {
    try {
      const module: CompiledModule = await webAssembly!.compile(bytes)
      const { exports } = await webAssembly!.instantiate(module, this.imports())
      if (this.entries.get(entry.key) === entry) this.install(entry, bytes, exports)
    } catch {
      return
    }
  }

  private imports(): Record<string, Record<string, unknown>> {
    return { [IMPORT.module]: { [IMPORT.name]: this.exports().memory } }
  }

  /** False where other threads cannot have it, for want of memory. */
  private install(entry: Entry, bytes: Uint8Array, exports: unknown): boolean {
    const table = this.exports().__indirect_function_table
    if (this.unused.length === 0) {
      const first = table.grow(MORE_SLOTS)
      for (let i = MORE_SLOTS - 1; i >= 0; i--) this.unused.push(first + i)
    }
    const slot = this.unused.pop()!
    if (this.shared !== undefined) {
      entry.published = this.shared.publish(slot, bytes)
      if (entry.published === 0) {
        this.unused.push(slot)
        return false
      }
    }
    table.set(slot, (exports as Record<string, unknown>)[EXPORT])
    entry.slot = slot
    for (const user of entry.users) this.write(user, slot)
    return true
  }

  private write(user: number, slot: number): void {
    // threads that see the number find the function in the list
    Atomics.store(new Int32Array(bufferUpTo(this.exports().memory, user + 4)), user / 4, slot)
  }
}

/** Variables of Node; pages have none. */
function environment(): Readonly<Record<string, string | undefined>> {
  return (globalThis as unknown as { readonly process?: { readonly env?: Record<string, string | undefined> } }).process?.env ?? {}
}
