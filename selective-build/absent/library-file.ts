import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Throws where a library ends before its contents do: the process would die of it. A build's library is of its platform. */
export function checkWhole(path: string): void {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(64)
    readSync(file, start)
    // linkers put the section headers last: where they begin, how large one is and how many there are
    const end = Number(start.readBigUInt64LE(40)) + start.readUInt16LE(58) * start.readUInt16LE(60)
    if (start.readUInt32BE() === 0x7f454c46 && fstatSync(file).size < end) throw new Error('it was cut off')
  } finally {
    closeSync(file)
  }
}
