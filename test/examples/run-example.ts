import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The path of a file of an example. */
export function example(name: string): string {
  return fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))
}

/** What an example prints. Throws where it fails. */
export function printed(file: string, args: readonly string[] = [], input: string | Uint8Array = ''): string {
  const flags = file.endsWith('.ts') ? ['--import', 'tsx'] : []
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, example(file), ...args], { encoding: 'utf8', input })
  if (status !== 0) throw new Error(stderr)
  return stdout
}
