import { readSync } from 'node:fs'
import { damaged } from '../../program/file-error.js'
import { mustBeNoLibrary } from './no-library.js'

/**
 * The first `size` bytes of an open file, where there is no kernel library that maps them: what a file holds can be looked at without one. Throws
 * `cause` where that is another error, INVALID_FILE where the file has fewer bytes or more than a buffer can hold.
 */
export function readWhole(cause: unknown, descriptor: number, size: number): Buffer {
  mustBeNoLibrary(cause)
  const bytes = Buffer.allocUnsafeSlow(size)
  for (let at = 0; at < size;) {
    const count = readSync(descriptor, bytes, at, Math.min(size - at, 1 << 30), at)
    if (count === 0) throw damaged(`the file was cut off while it was read: it has ${at} of ${size} bytes`)
    at += count
  }
  return bytes
}
