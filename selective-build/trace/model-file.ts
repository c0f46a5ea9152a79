import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import type { ScriptModule } from '../../interpreter/script-module.js'

type Loaded = Pick<ScriptModule, 'source'>

export function fileName({ source }: Loaded): string {
  return typeof source === 'string' ? basename(source) : 'a module in memory'
}

/** SHA-256 of the file; null where that has gone since it was loaded, and in browsers, which have none that is there at once. */
export function hashOf({ source }: Loaded): string | null {
  try {
    const bytes =
      typeof source === 'string' ? readFileSync(source) : 'read' in source ? source.read(0, source.size) : new Uint8Array(source)
    return createHash('sha256').update(bytes).digest('hex')
  } catch {
    return null
  }
}

/** A path as seen from a folder. */
export function pathFrom(folder: string, path: string): string {
  return relative(folder, resolve(path))
}
