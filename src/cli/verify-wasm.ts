import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { highestWasmLevel } from '../../runtime/native/wasm/features.js'
import type { Trace } from '../../selective-build/trace/trace.js'
import * as full from '../index.js'
import { carry, type Runtime, runsOf, type VerifiedRun, verifyRuns } from './verify.js'

/** Files of whole libraries by level. */
const WHOLE: Readonly<Record<string, string>> = { DEFAULT: 'ptlite.wasm', RELAXED: 'ptlite-relaxed.wasm' }

/**
 * Makes the runs of a trace in the library for browsers and in the build for WebAssembly that stands in `folder`, both in this engine, and compares the results bit for bit. Throws INTERNAL
 * naming the first difference. Says on stderr why nothing is compared.
 */
export async function verifyWasm(trace: Trace, folder: string, level: string, root: string, compiled: boolean): Promise<void> {
  const reason = whyNot(trace, level, root)
  if (reason !== null) {
    console.error(`not compared with the whole runtime: ${reason}`)
    return
  }
  const whole = (await import(pathToFileURL(join(root, 'dist/web.js')).href)) as Runtime
  whole.setNativeLibrary(pathToFileURL(kernelsOf(root, level)).href)
  const runs: VerifiedRun[] = (await runsOf(trace)).map((run) => ({ ...run, args: run.args.map((arg) => carry(arg, full, whole)) }))
  await verifyRuns(whole, folder, runs, compiled, pathToFileURL(resolve(folder, 'ptlite.wasm')).href)
  console.log(`level ${level} of WebAssembly: ${runs.length} runs give the same bits as the whole runtime${compiled ? ', as plans' : ''}`)
}

const kernelsOf = (root: string, level: string): string => join(root, 'dist/web', WHOLE[level]!)

function whyNot(trace: Trace, level: string, root: string): string | null {
  if (trace.runs.length === 0) return 'the traces name no runs that can be made again'
  if (!existsSync(kernelsOf(root, level))) return `${kernelsOf(root, level)} is missing, which 'npm run build:web' makes`
  if (level === 'RELAXED' && highestWasmLevel() !== 'RELAXED') return 'this version of Node has no relaxed SIMD'
  return null
}
