import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Bytes of the header of an ELF file of 64 bits. */
const HEADER = 64

/** Processors by what an ELF file calls them, as Node calls them. */
const PROCESSORS: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' }

/**
 * Throws where a library is for another processor, and where it ends before its contents do, as one does that was copied onto a full disk: the
 * system maps such a file, and the process dies of SIGBUS in its loader. What is no library at all that says itself.
 */
export function checkWhole(path: string): void {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER)
    const isLibrary = readSync(file, header, 0, HEADER, 0) === HEADER && header.readUInt32BE() === 0x7f454c46
    if (!isLibrary) return
    const machine = PROCESSORS[header.readUInt16LE(18)] ?? process.arch
    if (machine !== process.arch) throw new Error(`it is for ${machine}, which this Node is not`)
    // linkers put the section headers last: where they begin, how large one is and how many there are
    const end = Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60)
    const { size } = fstatSync(file)
    if (size < end) throw new Error(`the file was cut off: it has ${size} of ${end} bytes; copy or build it again`)
  } finally {
    closeSync(file)
  }
}
