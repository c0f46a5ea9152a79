import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { OriginalFile } from '../formats/ptlc/module.js'
import { PtliteError } from '../runtime/error.js'
import { openSource } from '../formats/containers/bytes.js'
import { fingerprintOf } from './fingerprint.js'
import * as features from '../runtime/features.js'

/** Where the file of a name lies beside another; undefined where that is none on disk. */
export function pathBeside(path: string | undefined, name: string): string | undefined {
  return path === undefined ? undefined : join(dirname(path), basename(name))
}

/** How a file differs from the model that plans were made from, all of which is read; null where it does not. */
export function differenceOf(path: string, { originalBytes, sha256: expected }: OriginalFile): string | null {
  if (!existsSync(path)) return `there is no ${path}`
  if (!features.interpreter) return null
  let found: string
  try {
    const { size } = statSync(path)
    if (size !== originalBytes) return otherSize(path, size, originalBytes)
    found = sha256(readFileSync(path))
  } catch (error) {
    return `${path} cannot be read (${(error as Error).message})`
  }
  return found === expected ? null : `${path} is another model (SHA-256 ${found}, expected ${expected})`
}

/** The same by size and fingerprint; null also where there is no such file. */
export function quickDifferenceOf(path: string, { originalBytes, fingerprint }: OriginalFile): string | null {
  if (!features.interpreter || !existsSync(path)) return null
  try {
    const source = openSource(path)
    try {
      if (source.size !== originalBytes) return otherSize(path, source.size, originalBytes)
      return fingerprintOf(source) === fingerprint ? null : `${path} is another model (of the same size, with other contents)`
    } finally {
      source.close()
    }
  } catch (error) {
    if (error instanceof PtliteError) return `${path} cannot be read (${error.message})`
    throw error
  }
}

function otherSize(path: string, found: number, expected: number): string {
  return `${path} is another model (${found} bytes, expected ${expected})`
}

/** Of the bytes, in hexadecimal. Loaded when it is needed, which is not when plans are used. */
export function sha256(bytes: Uint8Array): string {
  const { createHash } = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')
  return createHash('sha256').update(bytes).digest('hex')
}
