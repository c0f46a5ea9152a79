import { PE_MACHINES } from './generated/targets.js'

/** What a library is for, and how many bytes it has at least. */
export interface Described {
  /** undefined where it is for a processor that Node does not run on. */
  readonly processor: string | undefined
  readonly system: 'linux' | 'win32'
  readonly end: number
}

/** A library of Windows, whose headers come behind a program for its predecessor. */
export function portableExecutable(start: Buffer): Described | undefined {
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
