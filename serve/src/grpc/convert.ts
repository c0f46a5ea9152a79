import type { Blocks } from '../blocks.js'
import type { AnswerOutput } from '../protocol/answer.js'
import { DATATYPES, type Datatype, isDatatype, type ElementArray } from '../protocol/datatypes.js'
import { elementsOf, fromBinary, fromJson, toBinary } from '../protocol/elements.js'
import { invalid, quoted } from '../protocol/error.js'
import { classes } from '../protocol/parse.js'
import type { InferRequest, NamedTensor, Parameter, RequestedOutput } from '../protocol/tensor.js'
import type { GrpcContents, GrpcInferRequest, GrpcInferResponse, GrpcParameter, GrpcParameters } from './messages.js'

const MAX_ELEMENTS = 2 ** 31

/** Where the elements of a type are. */
const FIELDS: Readonly<Record<Datatype, keyof GrpcContents | null>> = {
  ...{ BOOL: 'bool_contents', UINT8: 'uint_contents', UINT16: 'uint_contents', UINT32: 'uint_contents', UINT64: 'uint64_contents' },
  ...{ INT8: 'int_contents', INT16: 'int_contents', INT32: 'int_contents', INT64: 'int64_contents' },
  ...{ FP16: null, BF16: null, FP32: 'fp32_contents', FP64: 'fp64_contents', BYTES: 'bytes_contents' },
}

/** A request from its message. Raw contents are copied to blocks of memory. Throws where it is not what the protocol says. */
export function fromMessage(message: GrpcInferRequest, blocks: Blocks): InferRequest {
  const { inputs, outputs, raw_input_contents: raw } = message
  const isRaw = raw.length > 0
  if (isRaw && raw.length !== inputs.length)
    throw invalid(`expected raw_input_contents of all ${inputs.length} inputs, found ${raw.length}`)
  return {
    id: message.id,
    parameters: parametersOf(message.parameters),
    inputs: inputs.map((input, i) => inputOf(input, isRaw ? raw[i]! : null, blocks)),
    outputs: outputs.length === 0 ? null : outputs.map(outputOf),
    binaryOutput: isRaw,
  }
}

function inputOf(
  { name, datatype, shape: sizes, contents }: GrpcInferRequest['inputs'][number],
  raw: Uint8Array | null,
  blocks: Blocks,
): NamedTensor {
  if (name === '') throw invalid('expected "name" of an input to be a string, found nothing')
  if (!isDatatype(datatype))
    throw invalid(`input '${name}': expected "datatype" to be one of ${Object.keys(DATATYPES).join(', ')}, found ${quoted(datatype)}`)
  const shape = sizes.map(Number)
  const count = elementsOf(shape, name, MAX_ELEMENTS)
  if (raw !== null) {
    if (contents !== null && Object.values(contents).some((list) => Array.isArray(list) && list.length > 0))
      throw invalid(`input '${name}' has both contents and raw_input_contents`)
    // grpc's buffers are parts of larger ones
    const own = new Uint8Array(blocks.take(raw.length), 0, raw.length)
    own.set(raw)
    return { name, datatype, shape, data: fromBinary(own, datatype, shape, count, name) }
  }
  const field = FIELDS[datatype]
  if (field === null) throw invalid(`input '${name}': ${datatype} is sent in raw_input_contents`)
  const elements = contents?.[field] ?? []
  if (elements.length !== count)
    throw invalid(`input '${name}': shape [${shape.join(', ')}] needs ${count} elements, found ${elements.length} in ${field}`)
  if (datatype === 'BYTES') return { name, datatype, shape, data: elements as readonly Uint8Array[] }
  if (datatype === 'INT64') return { name, datatype, shape, data: BigInt64Array.from(elements as readonly string[], BigInt) }
  return { name, datatype, shape, data: fromJson(elements, datatype, shape, count, name) }
}

function outputOf({ name, parameters }: GrpcInferRequest['outputs'][number]): RequestedOutput {
  return { name, binary: true, classification: classes(parametersOf(parameters)['classification'], name) }
}

function parametersOf(parameters: GrpcParameters): Readonly<Record<string, Parameter>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, parameterOf(name, value)]))
}

function parameterOf(name: string, value: GrpcParameter): Parameter {
  const choice = value.parameter_choice
  if (choice === undefined) throw invalid(`parameter ${quoted(name)} has no value`)
  const found = value[choice]!
  return choice === 'int64_param' || choice === 'uint64_param' ? Number(found) : found
}

/** The message of an answer: raw contents where the request had such, or where an output has no others. */
export function toMessage(
  model: string,
  version: string,
  id: string,
  outputs: readonly AnswerOutput[],
  wantsRaw: boolean,
): GrpcInferResponse {
  const isRaw = wantsRaw || outputs.some(({ datatype }) => FIELDS[datatype] === null)
  return {
    ...{ model_name: model, model_version: version, id },
    outputs: outputs.map(({ name, datatype, shape, data }) => ({
      ...{ name, datatype, shape },
      ...(isRaw ? {} : { contents: { [FIELDS[datatype]!]: listOf(datatype, data) } }),
    })),
    raw_output_contents: isRaw ? outputs.map(({ datatype, data }) => toBinary(datatype, data)) : [],
  }
}

function listOf(datatype: Datatype, data: ElementArray | readonly Uint8Array[]): readonly unknown[] {
  if (datatype === 'BYTES') return data as readonly Uint8Array[]
  if (datatype === 'BOOL') return Array.from(data as Uint8Array, (each) => each !== 0)
  if (datatype === 'INT64') return Array.from(data as BigInt64Array, String)
  return Array.from(data as Float32Array)
}
