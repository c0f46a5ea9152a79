import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PtliteError } from '../../runtime/error.js'
import type { ErrorCode } from '../../runtime/error.js'
import { loadModelFile } from '../../formats/read.js'
import type { Program } from '../../program/program.js'
import { readTensor } from '../../runtime/tensor/data.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { tensor, type Tensor as ApiTensor } from '../../src/index.js'
import type { ScriptObject, Value } from '../../runtime/tensor/value.js'

const FOLDER = fileURLToPath(new URL('../fixtures/', import.meta.url))

export function fixturePath(name: string): string {
  return join(FOLDER, name)
}

/** A fresh copy of a fixture's bytes. */
export function fixtureBytes(name: string): Uint8Array {
  return new Uint8Array(readFileSync(fixturePath(name)))
}

export function load(name: string): Program {
  return loadModelFile(fixturePath(name))
}

/** An attribute of an object. */
export function attribute(object: ScriptObject, name: string): Value {
  const index = object.names.indexOf(name)
  if (index < 0) throw new Error(`no attribute ${name} among ${object.names.join(', ')}`)
  return object.slots[index]!
}

export function tensorAttribute(object: ScriptObject, name: string): Tensor {
  const value = attribute(object, name)
  if (!(value instanceof Tensor)) throw new Error(`${name} is not a tensor`)
  return value
}

/** Elements of a tensor as plain numbers, row by row. */
export function numbers(tensor: Tensor): number[] {
  return Array.from(readTensor(tensor), Number)
}

/** The PtliteError that `action` ends in. Any other outcome fails the test. */
export function errorOf(action: () => unknown): { code: ErrorCode; message: string } {
  try {
    action()
  } catch (error) {
    if (error instanceof PtliteError) return error
    throw error
  }
  throw new Error('expected a PtliteError, but nothing was thrown')
}

/** A tensor in the JSON of a golden. */
export interface Described {
  readonly dtype: 'float32' | 'int64'
  readonly shape: readonly number[]
  /** Base64 of the elements, row by row. */
  readonly data: string
}

export interface Golden {
  readonly inputs: readonly Described[]
  readonly outputs: Readonly<Record<string, readonly Described[]>>
}

export function elementsOf({ dtype, data }: Described): Float32Array | BigInt64Array {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return dtype === 'int64' ? new BigInt64Array(bytes.buffer) : new Float32Array(bytes.buffer)
}

/** An input of a golden as the API takes it. */
export function inputOf(input: Described): ApiTensor {
  return tensor(elementsOf(input), [...input.shape], input.dtype)
}
