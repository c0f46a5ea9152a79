import { DATATYPES, isDatatype } from './datatypes.js'
import { elementsOf, fromBinary, fromJson } from './elements.js'
import { invalid, quoted } from './error.js'
import type { InferRequest, NamedTensor, Parameter, RequestedOutput } from './tensor.js'

/** Elements of one input: as many bytes as a request may have in the smallest of types. */
const MAX_ELEMENTS = 2 ** 31

const NO_PARAMETERS: Readonly<Record<string, Parameter>> = {}

type Fields = Readonly<Record<string, unknown>>

/** A request from its JSON, and the binary data behind that. Throws where it is not what the protocol says. */
export function parseInferRequest(body: unknown, binary: Uint8Array | null): InferRequest {
  const request = object(body, 'the request')
  const { id } = request
  if (id !== undefined && typeof id !== 'string') throw invalid(`expected "id" to be a string, found ${quoted(id)}`)
  const parameters = parametersOf(request['parameters'], 'the request')
  const binaryOutput = boolean(parameters['binary_data_output'], 'binary_data_output') ?? false
  if (!Array.isArray(request['inputs'])) throw invalid(`expected "inputs" to be a list, found ${quoted(request['inputs'])}`)
  const reader = { binary, at: 0 }
  const inputs = (request['inputs'] as unknown[]).map((each) => inputOf(each, reader))
  if (binary !== null && reader.at !== binary.length)
    throw invalid(`the inputs' "binary_data_size" add up to ${reader.at} bytes, found ${binary.length} behind the JSON`)
  return { id, parameters, inputs, outputs: outputsOf(request['outputs'], binaryOutput), binaryOutput }
}

function inputOf(value: unknown, reader: { readonly binary: Uint8Array | null; at: number }): NamedTensor {
  const input = object(value, 'an input')
  const name = nameOf(input, 'an input')
  const { datatype, shape } = input
  if (!isDatatype(datatype))
    throw invalid(`input '${name}': expected "datatype" to be one of ${Object.keys(DATATYPES).join(', ')}, found ${quoted(datatype)}`)
  const count = elementsOf(shape, name, MAX_ELEMENTS)
  const sizes = shape as number[]
  const size = parametersOf(input['parameters'], `input '${name}'`)['binary_data_size']
  if (size === undefined) return { name, datatype, shape: sizes, data: fromJson(input['data'], datatype, sizes, count, name) }
  if (input['data'] !== undefined) throw invalid(`input '${name}' has both "data" and "binary_data_size"`)
  if (!Number.isSafeInteger(size) || (size as number) < 0)
    throw invalid(`input '${name}': expected "binary_data_size" to be a number of bytes, found ${quoted(size)}`)
  const { binary, at } = reader
  if (binary === null || (size as number) > binary.length - at)
    throw invalid(
      `input '${name}': ${binary === null ? 'no Inference-Header-Content-Length says where binary data begin' : `"binary_data_size" is ${size}, found ${binary.length - at} bytes`}`,
    )
  reader.at += size as number
  return { name, datatype, shape: sizes, data: fromBinary(binary.subarray(at, reader.at), datatype, sizes, count, name) }
}

function outputsOf(value: unknown, binaryOutput: boolean): RequestedOutput[] | null {
  if (value === undefined) return null
  if (!Array.isArray(value)) throw invalid(`expected "outputs" to be a list, found ${quoted(value)}`)
  if (value.length === 0) return null
  const names = new Set<string>()
  return value.map((each: unknown) => {
    const output = object(each, 'an output')
    const name = nameOf(output, 'an output')
    if (names.has(name)) throw invalid(`output '${name}' is asked for twice`)
    names.add(name)
    const parameters = parametersOf(output['parameters'], `output '${name}'`)
    return {
      name,
      binary: boolean(parameters['binary_data'], 'binary_data') ?? binaryOutput,
      classification: classes(parameters['classification'], name),
    }
  })
}

/** How many classes are asked for; 0 where none. */
export function classes(value: unknown, name: string): number {
  if (value === undefined) return 0
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw invalid(`output '${name}': expected "classification" to be a number of classes, found ${quoted(value)}`)
  return value as number
}

function parametersOf(value: unknown, where: string): Readonly<Record<string, Parameter>> {
  if (value === undefined) return NO_PARAMETERS
  const parameters = object(value, `"parameters" of ${where}`)
  for (const [name, each] of Object.entries(parameters)) {
    if (typeof each !== 'string' && typeof each !== 'number' && typeof each !== 'boolean')
      throw invalid(`parameter ${quoted(name)} of ${where}: expected a string, number or boolean, found ${quoted(each)}`)
  }
  return parameters as Readonly<Record<string, Parameter>>
}

function boolean(value: unknown, name: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw invalid(`expected "${name}" to be true or false, found ${quoted(value)}`)
}

function nameOf(fields: Fields, what: string): string {
  const { name } = fields
  if (typeof name !== 'string' || name === '') throw invalid(`expected "name" of ${what} to be a string, found ${quoted(name)}`)
  return name
}

function object(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`expected ${what} to be an object, found ${quoted(value)}`)
  return value as Fields
}
