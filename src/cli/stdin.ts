import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './usage-error.js'

/** Options whose value is a file that is written: `-` is no input there. */
const OUTPUTS = new Set(['-o', '--output', '--out'])

/**
 * The arguments with the path of a file in place of `-`, which holds what stdin had: models are mapped from files. It is gone when the process ends. Throws
 * UsageError where stdin is a terminal, or is named twice.
 */
export function withStdin(args: readonly string[]): string[] {
  const places = args.flatMap((arg, i) => (arg === '-' && !OUTPUTS.has(args[i - 1] ?? '') ? [i] : []))
  if (places.length === 0) return [...args]
  if (places.length > 1) throw new UsageError('- stands for stdin, which is one file')
  if (process.stdin.isTTY) throw new UsageError('- stands for stdin, and nothing is piped to it')
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'stdin')
  writeFileSync(file, readFileSync(0), { mode: 0o600 })
  return args.map((arg, i) => (i === places[0] ? file : arg))
}
