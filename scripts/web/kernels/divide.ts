import { createHash } from 'node:crypto'
import type { Bytes } from '../../../runtime/native/wasm/emit/bytes.js'
import { Division } from './division.js'
import { type LinkedModule, SECTION } from './linked-module.js'
import { section, writeFirst, writeMore } from './write-files.js'

/** What both files say of themselves: eight bytes that are those of no other pair, and in the first one a bit for each kernel that is in the other. */
export const DIVISION = 'ptlite.division'

export interface DivisionOptions {
  /** Whether a function, and what nothing else comes to, goes to the second file. */
  readonly isCut: (name: string) => boolean
  /** Kernels in the order of their numbers, and how their functions are called. */
  readonly kernels: readonly string[]
  readonly entryOf: (kernel: string) => string
  /** What a kernel of the second file returns where that is not there. */
  readonly missing: number
}

/**
 * Divides a module in two. Functions of the second one stand in the first one's table, where it finds them once it has been given the exports of the first;
 * calls that go there directly are calls of places in the table.
 */
export function divideModule(module: LinkedModule, options: DivisionOptions): { readonly first: Uint8Array; readonly more: Uint8Array } {
  const division = new Division(module, options.isCut)
  const entries = entriesOf(module, options)
  const first = writeFirst(division, options.missing, division.functions.type(entries[0]!))
  const more = writeMore(division)
  const mark = createHash('sha256').update(first.finish()).update(more.finish()).digest().subarray(0, 8)
  const bits = new Array<number>(Math.ceil(entries.length / 8)).fill(0)
  entries.forEach((index, i) => {
    if (!division.isKept(index)) bits[i >> 3]! |= 1 << (i & 7)
  })
  return { first: marked(first, mark, bits), more: marked(more, mark, []) }
}

/** Functions of the kernels, by their numbers. */
function entriesOf({ functionNames }: LinkedModule, { kernels, entryOf }: DivisionOptions): number[] {
  const indexOf = new Map([...functionNames].map(([index, name]) => [name, index]))
  return kernels.map((kernel) => {
    const index = indexOf.get(entryOf(kernel))
    if (index === undefined) throw new Error(`the module has no ${entryOf(kernel)}`)
    return index
  })
}

function marked(file: Bytes, mark: Uint8Array, bits: readonly number[]): Uint8Array {
  section(file, SECTION.custom, (to) => to.name(DIVISION).all(mark).all(bits))
  return file.finish()
}
