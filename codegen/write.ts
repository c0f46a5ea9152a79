import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GeneratedFiles } from './generate.js'

/** Writes what changed and leaves equal files alone, so that builds see no new modification times. Returns the paths written. */
export function writeFiles(files: GeneratedFiles, folder: string): string[] {
  const written: string[] = []
  for (const [name, text] of files) {
    const path = join(folder, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    written.push(name)
  }
  return written
}
