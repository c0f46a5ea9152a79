import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../../support/node.js'

export interface Result {
  readonly dtype: string
  readonly shape: readonly number[]
  /** Float64 numbers in base64. */
  readonly numbers: string
}

export interface Report {
  readonly level: string
  /** The level that each kernel comes from. */
  readonly kernels: Readonly<Record<string, string>>
  /** Bytes of a vector of float32. */
  readonly vectorBytes: number
  readonly cases: Record<string, { readonly launched: readonly string[]; readonly rounds: readonly (readonly Result[])[] }>
}

const SCRIPT = fileURLToPath(new URL('child.ts', import.meta.url))

/** Runs all cases in a process whose level ATEN_CPU_CAPABILITY sets, between guard pages where `guard` says so. Throws where it dies. */
export function runAt(level: string, guard = ''): Report {
  const env = { ...process.env, ATEN_CPU_CAPABILITY: level, PTLITE_GUARD: guard }
  return JSON.parse(execFileSync(process.execPath, nodeArguments(SCRIPT), { env, encoding: 'utf8', maxBuffer: 1 << 28 })) as Report
}

export function numbersOf(result: Result): Float64Array {
  const bytes = Buffer.from(result.numbers, 'base64')
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
