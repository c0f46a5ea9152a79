import { absent } from '../../runtime/error.js'
import type { TypeNode } from '../../program/types.js'
import type { Input } from '../../src/values/convert.js'

/** Tensors alone are arguments. */
export function tuple(): never {
  throw absent('an argument that is no tensor', 'INVALID_ARGUMENT')
}

export function toTyped(_input: Input, _type: TypeNode | undefined, where: string): never {
  throw absent(`${where}: an argument that is not a tensor`, 'INVALID_ARGUMENT')
}

export function parameterType(): undefined {
  return undefined
}
