import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { damaged } from '../../program/file-error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { mustBeNoLibrary } from './no-library.js'

/* Where the bytes of a model lie. In browsers, which have no files, web/platform/model-memory.ts stands for this. */

/** Native memory: pages of a file, at an address of this process. */
export interface Mapping {
  readonly address: number
  readonly size: number
}

export interface OpenedModel {
  readonly memory: Uint8Array | Mapping
  /** Of a file that is mapped: what has become of it since, in place of the bytes that were opened; null where nothing has. */
  readonly change?: () => string | null
}

/** The bytes that a program has in memory: where they are. */
export function heldBytes(bytes: Uint8Array): Uint8Array | Mapping {
  return bytes
}

/** A file on disk, as pages of it or, without `map`, of memory; as bytes where there is no kernel library. Throws what the system says, and INVALID_FILE. */
export function openFile(path: string, map: boolean): OpenedModel {
  // a FIFO would have it wait for a writer
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    const { size } = stats
    if (!stats.isFile()) throw damaged('not a file')
    if (size === 0) return { memory: new Uint8Array(0) }
    const memory = mapped(descriptor, size, !map)
    return memory instanceof Uint8Array || !map ? { memory } : { memory, change: () => changeOf(path, stats) }
  } finally {
    closeSync(descriptor)
  }
}

function mapped(descriptor: number, size: number, copied: boolean): Mapping | Uint8Array {
  try {
    return { address: kernels.mem_map({ descriptor, copied: Number(copied), size }), size }
  } catch (cause) {
    mustBeNoLibrary(cause)
    return readWhole(descriptor, size)
  }
}

/** The first `size` bytes of an open file. Throws INVALID_FILE where it has fewer. */
function readWhole(descriptor: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size;) {
    const count = readSync(descriptor, bytes, at, Math.min(size - at, 1 << 30), at)
    if (count === 0) throw damaged(`the file was cut off while it was read: it has ${at} of ${size} bytes`)
    at += count
  }
  return bytes
}

/** One that was replaced or removed is still there for those who have it open. */
function changeOf(path: string, then: Stats): string | null {
  const now = statsOf(path)
  const isOther = now === undefined || now.ino !== then.ino || now.dev !== then.dev
  if (isOther || (now.size === then.size && now.mtimeMs === then.mtimeMs)) return null
  return `the file was changed while it was in use (${then.size} bytes then, ${now.size} now); load it again. Replace model files by a rename, or load with { map: false }`
}

/** undefined where nothing is there that can be looked at. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
