import { writeFileSync } from 'node:fs'
import { PtliteError } from '../../runtime/error.js'

/** Throws PtliteError naming the file. */
export function writeFile(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes)
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
}

export function writeText(file: string, text: string): void {
  writeFile(file, new TextEncoder().encode(text))
}
