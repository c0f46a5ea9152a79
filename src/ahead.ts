import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { writeAhead } from '../compiler/ahead/write.js'
import { cpu } from '../runtime/native/cpu.js'
import { VERSION } from '../runtime/version.js'
import { loadScripted } from './load-scripted.js'
import type { LoadOptions, Module } from './module.js'
import { sha256 } from './original.js'
import type { PlannedCall } from './scripted-module.js'

/**
 * Compiles a model ahead for calls of these forms; `callsOf` gets the loaded model. Returns the bytes of a `.ptlc` file for this ISA
 * level and version of the library. Throws INVALID_ARGUMENT saying why where a call cannot be compiled to a plan.
 */
export function compileAhead(
  path: string,
  callsOf: (module: Module) => readonly PlannedCall[],
  options: Pick<LoadOptions, 'winograd'> = {},
): Uint8Array {
  const module = loadScripted(path, { ...options, onWarning: () => undefined })
  try {
    return writeAhead({
      library: VERSION,
      level: cpu.currentLevel(),
      original: basename(path),
      sha256: sha256(readFileSync(path)),
      bytecodeVersion: module.bytecodeVersion,
      operatorVersion: module.operatorVersion,
      operators: module.operators,
      ...module.planAhead(callsOf(module)),
    })
  } finally {
    module.dispose()
  }
}
