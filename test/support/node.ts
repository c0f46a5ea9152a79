import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The module that runs in place of a TypeScript file of this project: its bundle where there is one, else the file. */
export function runnable(path: string): string {
  const bundles = process.env['PTLITE_TEST_BUNDLES']
  if (bundles === undefined) return path
  const bundle = join(bundles, relative(ROOT, path).replace(/\.ts$/, '.js'))
  return existsSync(bundle) ? bundle : path
}

/** The arguments with which Node runs a TypeScript file of this project in a process of its own. */
export function nodeArguments(path: string): string[] {
  const file = runnable(path)
  return file === path ? ['--import=tsx', path] : [file]
}
