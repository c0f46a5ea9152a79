import { DATATYPES } from './datatypes.js'
import { fromBinary } from './elements.js'
import { invalid } from './error.js'
import type { InferRequest } from './tensor.js'
import type { InputInfo } from '../models/signature.js'

/** A request that is the bytes of one tensor: of a model with one input, whose sizes but one are known. */
export function rawRequest(inputs: readonly InputInfo[] | null, bytes: Uint8Array): InferRequest {
  const input = inputs?.[0]
  if (input === undefined || inputs!.length !== 1) throw invalid('a request without JSON is for models with one input')
  const { name, datatype, shape } = input
  const free = shape?.filter((size) => size === -1).length ?? 2
  if (datatype === null || datatype === 'BYTES' || shape === null || free > 1)
    throw invalid(`a request without JSON is for models whose input has a known type and known sizes but for one; input '${name}' has not`)
  const row = shape.reduce((n, size) => (size === -1 ? n : n * size), DATATYPES[datatype].bytes)
  const rest = row === 0 ? 0 : bytes.length / row
  const sizes = shape.map((size) => (size === -1 ? Math.floor(rest) : size))
  const count = sizes.reduce((n, size) => n * size, 1)
  const tensor = { name, datatype, shape: sizes, data: fromBinary(bytes, datatype, sizes, count, name) }
  return { id: undefined, parameters: {}, inputs: [tensor], outputs: null, binaryOutput: true }
}
