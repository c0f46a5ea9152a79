import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GeneratedFiles } from './generate.js'
import { replaceFiles } from './replace-files.js'

/** Writes what changed and leaves equal files alone, so that builds see no new modification times. Returns the paths written. */
export async function writeFiles(files: GeneratedFiles, folder: string): Promise<string[]> {
  const changed = new Map<string, string>()
  const isEqual = (path: string, text: string): boolean => existsSync(path) && readFileSync(path, 'utf8') === text
  for (const [name, text] of files) if (!isEqual(join(folder, name), text)) changed.set(name, text)
  for (const name of changed.keys()) mkdirSync(dirname(join(folder, name)), { recursive: true })
  await replaceFiles(new Map([...changed].map(([name, text]) => [join(folder, name), text])))
  return [...changed.keys()]
}
