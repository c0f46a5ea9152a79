import type { KernelExports, ThreadExports } from '../exports.js'
import { type Memory, webAssembly } from '../web-assembly.js'
import * as features from '../../../features.js'

/** Pages of 64 KiB that the kernels begin with: --initial-memory of kernels/arch/wasm/CMakeLists.txt. */
const FIRST = 32
/** All that addresses of 32 bits reach. */
const MOST = 65536
/** What is tried: hosts set addresses aside for all that shared memory can grow to, and may have fewer. */
const BOUNDS = [MOST, MOST / 2, MOST / 4, MOST / 8]

/** Memory that kernels are to have; the import of a module says whether it is shared. */
export interface KernelMemory {
  /** undefined where the module has one of its own. */
  readonly memory: Memory | undefined
  readonly isShared: boolean
}

/** Memory for threads where the host has it and it is `wanted`. */
export function newMemory(wanted: boolean): KernelMemory {
  if (!features.threads) return { memory: undefined, isShared: false }
  for (const maximum of wanted ? BOUNDS : []) {
    try {
      return { memory: new webAssembly!.Memory({ initial: FIRST, maximum, shared: true }), isShared: true }
    } catch {
      continue
    }
  }
  return { memory: new webAssembly!.Memory({ initial: FIRST, maximum: MOST }), isShared: false }
}

/** What the first instance is given, which has all code that it generates. */
export function withMemory(
  ptlite: Readonly<Record<string, unknown>>,
  { memory }: KernelMemory,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  if (!features.threads) return { ptlite }
  return { ptlite: { ...ptlite, learn: () => 1 }, env: { memory } }
}

/** The first call of the instance that sets the memory up. */
export function beginFirst(exports: KernelExports, { isShared }: KernelMemory): void {
  if (!features.threads) return
  ;(exports as ThreadExports).ptlite_thread_begin(1, Number(isShared && canWait()))
}

/** Whether this thread may sleep, as that of a page must not. */
function canWait(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1) === 'not-equal'
  } catch {
    return false
  }
}
