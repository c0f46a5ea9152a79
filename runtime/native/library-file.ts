import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ELF_MACHINES, PE_MACHINES } from './generated/targets.js'

/** Bytes of the start of a library, in which linkers put what says where the rest of it stands. */
const START = 4096

/**
 * Throws where a library is for another processor or system, and where it ends before its contents do, as one does that was copied onto a full disk:
 * the system maps such a file, and on Linux the process dies of SIGBUS in its loader. What is no library at all that says itself. `here`: Node's system.
 */
export function checkWhole(path: string, here: NodeJS.Platform = process.platform): void {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(START)
    const count = readSync(file, start, 0, START, 0)
    const found = describe(start.subarray(0, count))
    if (found === undefined) return
    const { processor = process.arch, system, end } = found
    if (processor !== process.arch) throw new Error(`it is for ${processor}, which this Node is not`)
    if (system !== here) throw new Error(`it is for ${system}, which this Node is not`)
    const { size } = fstatSync(file)
    if (size < end) throw new Error(`the file was cut off: it has ${size} of ${end} bytes; copy or build it again`)
  } finally {
    closeSync(file)
  }
}

function describe(start: Buffer): Described | undefined {
  if (start.length < 64) return undefined
  return start.readUInt32BE() === 0x7f454c46 ? elf(start) : start.readUInt16BE() === 0x4d5a ? portableExecutable(start) : undefined
}

/** An ELF file of 64 bits. */
function elf(start: Buffer): Described {
  // linkers put the section headers last: where they begin, how large one is and how many there are
  const end = Number(start.readBigUInt64LE(40)) + start.readUInt16LE(58) * start.readUInt16LE(60)
  return { processor: ELF_MACHINES[start.readUInt16LE(18)], system: 'linux', end }
}

/** What a library is for, and how many bytes it has at least. */
interface Described {
  /** undefined where it is for a processor that Node does not run on. */
  readonly processor: string | undefined
  readonly system: 'linux' | 'win32'
  readonly end: number
}

/** A library of Windows, whose headers come behind a program for its predecessor. */
function portableExecutable(start: Buffer): Described | undefined {
  const at = start.readUInt32LE(60)
  if (at + 24 > start.length || start.readUInt32BE(at) !== 0x50450000) return undefined
  const sections = at + 24 + start.readUInt16LE(at + 20)
  let end = 0
  for (let i = 0; i < start.readUInt16LE(at + 6); i++) {
    const section = sections + 40 * i
    if (section + 40 > start.length) break
    end = Math.max(end, start.readUInt32LE(section + 16) + start.readUInt32LE(section + 20))
  }
  return { processor: PE_MACHINES[start.readUInt16LE(at + 4)], system: 'win32', end }
}
