import type { FunctionCode } from '../../program/code.js'
import type { Program } from '../../program/program.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { ScriptObject, Value } from '../../runtime/tensor/value.js'

/** What an object is made of whose class fills it itself. */
export interface ObjectState {
  readonly state: Value
  readonly setState: FunctionCode
}

/** States of the objects that have no attributes, since their class's `__setstate__` was not run. */
export type ObjectStates = ReadonlyMap<ScriptObject, ObjectState>

/** What a writer may need to be told. */
export interface WriteOptions {
  /** Arguments of `forward`, for formats whose programs are of fixed sizes. */
  readonly args?: readonly Value[]
}

/**
 * The file of one format with a program. What objects in `states` hold is not looked at, but their state is. Throws UNSUPPORTED_FILE, naming function or
 * attribute, for values that have no form in such files.
 */
export type ProgramWriter = (program: Program, states: ObjectStates, options?: WriteOptions) => Uint8Array

/** A copy of what a storage holds. */
export function bytesOf({ address, byteLength: bytes }: Storage): Uint8Array {
  const content = new Uint8Array(bytes)
  if (bytes > 0) kernels.mem_read({ address, bytes }, content)
  return content
}
