import type { FunctionCode } from '../interpreter/code.js'
import type { ScriptObject, Value } from '../tensor/value.js'
import type { DebugInfo } from './model.js'

/** An object whose class has a `__setstate__`, to be filled by running it. */
export interface PendingObject {
  readonly object: ScriptObject
  readonly state: Value
  readonly setState: FunctionCode
}

/** The root object, and objects to be filled in this order: inner ones first. */
export interface ModuleState {
  readonly root: ScriptObject
  readonly pending: readonly PendingObject[]
}

/** What a container reader hands to the loader. The state is read after the code, which says how to read it. */
export interface ParsedModule {
  readonly kind: 'ptl' | 'ff'
  readonly bytecodeVersion: number
  readonly operatorVersion: number
  readonly functions: readonly FunctionCode[]
  readonly extraFiles: ReadonlyMap<string, Uint8Array>
  readonly debug: DebugInfo | undefined
  readState(): ModuleState
}

const BYTECODE_VERSIONS = [4, 9] as const
const OPERATOR_VERSIONS = [1, 10] as const

/** The text of what is wrong with the versions of a file, or undefined. */
export function versionProblem(bytecode: number, operators: number): string | undefined {
  if (!(bytecode >= BYTECODE_VERSIONS[0] && bytecode <= BYTECODE_VERSIONS[1])) {
    return `expected bytecode version ${BYTECODE_VERSIONS.join(' to ')}, found ${bytecode}; export the module again with a current PyTorch`
  }
  if (!(operators >= OPERATOR_VERSIONS[0] && operators <= OPERATOR_VERSIONS[1])) {
    return `expected operator version ${OPERATOR_VERSIONS.join(' to ')}, found ${operators}; the file is newer than this runtime`
  }
  return undefined
}

/** `__torch__.Net.forward` is method `forward` of class `__torch__.Net`. */
export function splitName(name: string): { method: string; className: string } {
  const dot = name.lastIndexOf('.')
  return { method: name.slice(dot + 1), className: name.slice(0, Math.max(dot, 0)) }
}
