import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const model = join(root, 'examples/digits/digits.ptl')

/** A folder with app.mjs in it, and with ptlite among its packages. */
export function makeApp(folder: string): string {
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/ptlite'))
  copyFileSync(join(root, 'test/deploy/app.mjs'), join(folder, 'app.mjs'))
  return join(folder, 'app.mjs')
}

/** Copies files of the package's dist folder whose names match. */
export function copyFromPackage(wanted: RegExp, folder: string): void {
  for (const name of readdirSync(join(root, 'dist'))) if (wanted.test(name)) copyFileSync(join(root, 'dist', name), join(folder, name))
}

/** What a program prints on stdout, by node with these options. */
export function outputOf(file: string, ...options: string[]): string {
  // without what tap preloads
  const cleared = ['NODE_OPTIONS=', 'NODE_V8_COVERAGE=', 'PTLITE_NATIVE_LIBRARY=']
  const { stdout, stderr } = spawnSync('env', [...cleared, process.execPath, ...options, file, model], { encoding: 'utf8' })
  return stdout === '' ? stderr : stdout
}
