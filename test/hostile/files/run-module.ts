import { unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadModule, type Module, PtliteError } from '../../../src/index.js'
import { ptlite } from '../../cli/in-process.js'
import type { Base } from '../harness/target.js'
import { type Call, callsOf, disposeAll } from './calls.js'

/** Loops of mutants are given up soon: whether they end is of no interest. */
export const MAX_ITERATIONS = 300
/** Of a call: an operator may be asked for any number of elements. */
export const MAX_MILLISECONDS = 1000
/** Methods of one mutant that are called. */
export const MAX_CALLS = 2

/** Where a mutant lies that is loaded by path. */
const path = join(tmpdir(), `ptlite-fuzz-${process.pid}.bin`)
process.once('exit', () => {
  try {
    unlinkSync(path)
  } catch {
    // there was none
  }
})

/** Writes a mutant there. */
export function inFile(bytes: Buffer): string {
  writeFileSync(path, bytes)
  return path
}

/** What a PtliteError is counted as. */
export function codeOf(error: unknown): string {
  if (error instanceof PtliteError && error.code !== 'INTERNAL') return error.code
  throw error
}

/** Asks a module what can be asked of it. */
function look(module: Module, choice: number): void {
  module.parameters()
  void [module.operators, module.extraFiles, module.plans()]
  try {
    for (const name of ['training', 'weight', 'state', 'items', 'x', 'names']) module.getAttribute(name)
  } catch (error) {
    codeOf(error)
  }
  if ((choice & 0x7000) !== 0) return
  try {
    module.call(module.methods[0] ?? '', [])
  } catch (error) {
    codeOf(error)
  }
}

/**
 * Loads a file, by path or as bytes, calls its methods, once interpreted or until they are compiled, and shows it as `inspect` does. `known` are calls
 * that the file takes as it was, where they need not be looked for.
 */
export async function runModule(bytes: Buffer, base: Base, choice: number, known?: readonly Call[]): Promise<string> {
  const calls = known ?? (await callsOf(base))
  const byPath = (choice & 15) === 0
  if (byPath) inFile(bytes)
  if (byPath && (choice & 0x30) === 0) {
    const { status, stderr } = await ptlite('inspect', path, '--code')
    if (status !== 0 && !/^ptlite: (?!.*INTERNAL)/.test(stderr)) throw new Error(`inspect ends with ${status}: ${stderr}`)
  }
  // compilation takes longer than all else
  const isCompiled = (choice & 0x700) === 0
  let outcome = 'ran'
  try {
    const module = await loadModule(byPath ? path : bytes, {
      compile: isCompiled ? 'eager' : 'off',
      maxIterations: MAX_ITERATIONS,
      limits: { milliseconds: MAX_MILLISECONDS },
      onWarning: () => undefined,
    })
    try {
      const methods = module.methods
      look(module, choice)
      for (const { method, args } of calls.filter((call) => methods.includes(call.method)).slice(0, MAX_CALLS)) {
        for (let call = isCompiled ? 2 : 1; call > 0; call--) {
          const values = args()
          try {
            disposeAll(module.call(method, values))
          } catch (error) {
            outcome = codeOf(error)
          } finally {
            disposeAll(values)
          }
        }
      }
    } finally {
      module.dispose()
    }
  } catch (error) {
    outcome = codeOf(error)
  }
  return outcome
}
