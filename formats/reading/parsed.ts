import type { FunctionCode } from '../../program/code.js'
import type { ScriptObject, Value } from '../../runtime/tensor/value.js'
import { unsupported } from '../../program/file-error.js'
import type { Program } from '../../program/program.js'
import type { ByteSource } from '../containers/bytes.js'
import type { OpenedFile } from '../containers/opened-file.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { ReadLimits } from './read-options.js'
import type { TensorPool } from './tensor-pool.js'

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

/** What a reader is given beside the file. */
export interface Reading {
  /** The end of the names of such files. */
  readonly format: string
  /** Makes the file's tensors. */
  readonly pool: TensorPool
  /** Counts what the file's values take. */
  readonly budget: ValueBudget
  readonly limits: ReadLimits | undefined
  /** Files with data that belong to it. */
  readonly data?: readonly ByteSource[]
  /** Nothing of it is going to run: what cannot be is no error. */
  readonly onlyLooks?: boolean
}

/** Reads the program of a file of one format. Throws INVALID_FILE where it is damaged, UNSUPPORTED_FILE where it asks for what there is not. */
export type ProgramReader = (file: OpenedFile, reading: Reading) => ParsedProgram

/** What a reader gives. The state is read after the code, which says how to read it. */
export interface ParsedProgram extends Omit<Program, 'format' | 'root' | 'checkUnchanged' | 'close'> {
  readState(): ModuleState
}

const BYTECODE_VERSIONS = [4, 9] as const
const OPERATOR_VERSIONS = [1, 10] as const

/** Throws UNSUPPORTED_FILE for files of other versions than this runtime reads. */
export function checkVersions(bytecode: number, operators: number): void {
  checkVersion('bytecode', bytecode, BYTECODE_VERSIONS)
  checkVersion('operator', operators, OPERATOR_VERSIONS)
}

function checkVersion(what: string, version: number, [first, last]: readonly [number, number]): void {
  if (version >= first && version <= last) return
  throw unsupported(
    `expected ${what} version ${first} to ${last}, found ${version}; ${
      version < first ? 'export the module again with a current PyTorch' : 'the file is newer than this runtime'
    }`,
  )
}

/** `__torch__.Net.forward` is method `forward` of class `__torch__.Net`. */
export function splitName(name: string): { method: string; className: string } {
  const dot = name.lastIndexOf('.')
  return { method: name.slice(dot + 1), className: name.slice(0, Math.max(dot, 0)) }
}

/** A stored default of None means no default, unless the type has None among its values. */
export function defaultOf(type: string, value: Value): Value | undefined {
  if (value !== null) return value
  return /^(Optional\[|NoneType$|None$|Any$|Union\[.*\b(None|NoneType)\b)|\?$/.test(type) ? null : undefined
}
