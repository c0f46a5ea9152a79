import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Script } from 'node:vm'

/** A part that is loaded, and the name of the file that its code is kept in. */
export interface Compiled {
  readonly name: string
  readonly script: Script
}

/**
 * Keeps the compiled code of parts, with the functions in it that have been called so far, in `folder`; does nothing where that cannot be
 * written to.
 */
export function save(folder: string, compiled: readonly Compiled[]): void {
  try {
    mkdirSync(folder, { recursive: true })
    for (const { name, script } of compiled) {
      // a file and a rename, so that other processes find the whole of it
      const path = join(folder, name)
      const part = `${path}.${process.pid}`
      try {
        writeFileSync(part, script.createCachedData())
        renameSync(part, path)
      } catch (error) {
        rmSync(part, { force: true })
        throw error
      }
    }
  } catch {
    // read-only, or full
  }
}
