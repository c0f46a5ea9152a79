import { CODES } from '../grpc/call.mjs'
import { CONTENTS_OF } from '../grpc/messages.mjs'
import { alike, bytesOf, outputValues, valuesOf } from '../subject.mjs'

const SPEC = 'Open Inference Protocol, gRPC'

/** A request whose tensors are typed contents. */
function typed(s, change = (input) => input) {
  const inputs = s.inputs.map(({ name, datatype, shape, values }, i) => {
    const input = { name, datatype, shape, contents: { [CONTENTS_OF[datatype]]: values } }
    return i === 0 ? change(input) : input
  })
  return { model_name: s.name, inputs }
}

/** A request whose tensors are raw. */
function raw(s, change = (bytes) => bytes) {
  const inputs = s.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape }))
  return {
    model_name: s.name,
    inputs,
    raw_input_contents: s.inputs.map(({ datatype, values }, i) =>
      i === 0 ? change(bytesOf(datatype, values)) : bytesOf(datatype, values),
    ),
  }
}

const whenTyped = (s) => !s.needsBinary

/** Values of an output, whether typed or raw. */
function valuesIn(answer, i) {
  const { datatype, contents } = answer.outputs[i]
  if (answer.raw_output_contents.length > 0) return valuesOf(datatype, answer.raw_output_contents[i])
  const values = contents?.[CONTENTS_OF[datatype]] ?? []
  return datatype === 'BYTES' ? values.map(String) : values
}

/** What differs from the same inference over HTTP. */
async function unlikeRest(s, answer) {
  if (answer.model_name !== s.name) return `model_name is ${answer.model_name}`
  const rest = await s.send(s.inferBinary())
  for (const [i, { name, shape }] of answer.outputs.entries()) {
    const wanted = rest.json.outputs.find((output) => output.name === name)
    if (wanted === undefined || String(wanted.shape) !== String(shape)) return `output ${name} is [${shape}], over HTTP [${wanted?.shape}]`
    const [a, b] = [valuesIn(answer, i), outputValues(rest, name)]
    if (a.length !== b.length || a.some((value, at) => !alike(value, b[at]))) return `output ${name} has other values than over HTTP`
  }
  return answer.outputs.length === rest.json.outputs.length ? undefined : `there are ${answer.outputs.length} outputs`
}

const rows = [
  {
    section: `${SPEC}: Server Live`,
    rule: 'a server that runs is live',
    method: 'ServerLive',
    request: () => ({}),
    check: ({ live }) => (live ? undefined : 'live is false'),
  },
  {
    section: `${SPEC}: Server Ready`,
    rule: 'and ready',
    method: 'ServerReady',
    request: () => ({}),
    check: ({ ready }) => (ready ? undefined : 'ready is false'),
  },
  {
    section: `${SPEC}: Model Ready`,
    rule: 'a model that is loaded is ready',
    method: 'ModelReady',
    request: (s) => ({ name: s.name }),
    check: ({ ready }) => (ready ? undefined : 'ready is false'),
  },
  {
    section: `${SPEC}: Model Ready`,
    rule: 'an unknown model is not ready, or is an error',
    method: 'ModelReady',
    request: () => ({ name: 'no-such-model' }),
    code: [CODES.OK, CODES.NOT_FOUND, CODES.UNAVAILABLE, CODES.INVALID_ARGUMENT],
    check: (answer) => (answer?.ready === true ? 'ready is true' : undefined),
  },
  {
    section: `${SPEC}: Server Metadata`,
    rule: 'the server says the same of itself as over HTTP',
    method: 'ServerMetadata',
    request: () => ({}),
    check: ({ name, version, extensions }, s) =>
      name === s.server.name && version === s.server.version && String(extensions) === String(s.server.extensions)
        ? undefined
        : `${name} ${version} ${extensions}`,
  },
  {
    section: `${SPEC}: Model Metadata`,
    rule: 'and of its model',
    method: 'ModelMetadata',
    request: (s) => ({ name: s.name }),
    check: ({ name, platform, versions, inputs, outputs }, s) => {
      const text = (list) => list.map((tensor) => `${tensor.name} ${tensor.datatype} [${tensor.shape}]`).join()
      const found = [name, platform, String(versions), text(inputs), text(outputs)].join('; ')
      const { metadata } = s
      const wanted = [
        metadata.name,
        metadata.platform,
        String(metadata.versions ?? []),
        text(metadata.inputs),
        text(metadata.outputs),
      ].join('; ')
      return found === wanted ? undefined : `${found}, over HTTP ${wanted}`
    },
  },
  {
    section: `${SPEC}: Model Metadata`,
    rule: 'an unknown model is an error',
    method: 'ModelMetadata',
    request: () => ({ name: 'no-such-model' }),
    code: [CODES.NOT_FOUND, CODES.INVALID_ARGUMENT],
  },
  {
    section: `${SPEC}: Tensor Data`,
    rule: 'typed contents',
    method: 'ModelInfer',
    when: whenTyped,
    request: (s) => typed(s),
    check: (answer, s) => unlikeRest(s, answer),
  },
  {
    section: `${SPEC}: Tensor Data`,
    rule: 'raw contents, which are answered as raw',
    method: 'ModelInfer',
    request: (s) => raw(s),
    check: (answer, s) =>
      answer.raw_output_contents.length === answer.outputs.length && answer.outputs.every(({ contents }) => contents === undefined)
        ? unlikeRest(s, answer)
        : `${answer.raw_output_contents.length} raw contents for ${answer.outputs.length} outputs`,
  },
  {
    section: `${SPEC}: Inference`,
    rule: 'the id of a request comes back',
    method: 'ModelInfer',
    request: (s) => ({ ...raw(s), id: '42' }),
    check: ({ id }) => (id === '42' ? undefined : `id is ${id}`),
  },
  {
    section: `${SPEC}: Inference`,
    rule: 'a version that is named is the one that answers',
    method: 'ModelInfer',
    when: (s) => s.version !== undefined,
    request: (s) => ({ ...raw(s), model_version: s.version }),
    check: ({ model_version: version }, s) => (version === s.version ? undefined : `model_version is ${version}`),
  },
  {
    section: `${SPEC}: Inference`,
    rule: 'outputs that are asked for come, and no others',
    method: 'ModelInfer',
    request: (s) => ({ ...raw(s), outputs: [{ name: s.metadata.outputs.at(-1).name }] }),
    check: ({ outputs }, s) =>
      outputs.length === 1 && outputs[0].name === s.metadata.outputs.at(-1).name
        ? undefined
        : `there are ${outputs.map(({ name }) => name)}`,
  },
  {
    section: `${SPEC}: Parameters`,
    rule: 'parameters that the server does not know are taken',
    method: 'ModelInfer',
    request: (s) => ({ ...raw(s), parameters: { mine: { string_param: 'a' }, other: { int64_param: 1 }, more: { bool_param: true } } }),
  },
  ...[
    ['Tensor Data', 'fewer raw bytes than the shape has', (s) => raw(s, (bytes) => bytes.subarray(1))],
    ['Tensor Data', 'more raw bytes', (s) => raw(s, (bytes) => Buffer.concat([bytes, bytes, Buffer.alloc(1)]))],
    ['Tensor Data', 'raw contents for fewer inputs than there are', (s) => ({ ...raw(s), raw_input_contents: [] })],
    ['Tensor Data', 'raw and typed contents at once', (s) => ({ ...typed(s), raw_input_contents: raw(s).raw_input_contents }), whenTyped],
    ['Tensor Data', 'fewer typed elements than the shape has', (s) => typed(s, (input) => ({ ...input, contents: {} })), whenTyped],
    ['Inference', 'an input that is missing', (s) => ({ model_name: s.name })],
    ['Inference', 'a size below 0', (s) => typed(s, (input) => ({ ...input, shape: input.shape.map(() => -1) })), whenTyped],
    ['Inference', 'a datatype that is none', (s) => typed(s, (input) => ({ ...input, datatype: 'FLOAT' })), whenTyped],
    ['Inference', 'an output that the model does not have', (s) => ({ ...raw(s), outputs: [{ name: 'no such output' }] })],
  ].map(([section, rule, request, when]) => ({
    section: `${SPEC}: ${section}`,
    rule: `${rule} ${/^(raw|fewer|more)/.test(rule) ? 'are' : 'is'} INVALID_ARGUMENT`,
    method: 'ModelInfer',
    ...(when !== undefined && { when }),
    request,
    code: [CODES.INVALID_ARGUMENT],
  })),
  {
    section: `${SPEC}: Inference`,
    rule: 'an unknown model is an error',
    method: 'ModelInfer',
    request: (s) => ({ ...raw(s), model_name: 'no-such-model' }),
    code: [CODES.NOT_FOUND, CODES.UNAVAILABLE, CODES.INVALID_ARGUMENT],
  },
  {
    section: `${SPEC}: GRPCInferenceService`,
    rule: 'an unknown method is UNIMPLEMENTED',
    method: 'NoSuchMethod',
    request: () => ({}),
    code: [CODES.UNIMPLEMENTED],
  },
  {
    section: `${SPEC}: GRPCInferenceService`,
    rule: 'bytes that are no message are an error, and the connection goes on',
    async run(s) {
      const { code } = await s.grpc.raw('ModelInfer', Buffer.from('000000000aff', 'hex').fill(0xff, 5))
      if (code === 0) return 'the status is OK'
      const after = await s.grpc.call('ServerLive', {})
      return after.answer?.live === true ? undefined : `a call after it has the status ${after.code}`
    },
  },
  {
    extension: 'sequence',
    section: 'Triton, Sequence Extension: GRPC',
    rule: 'a stream answers each of its requests',
    async run(s) {
      const { code, message, answers } = await s.grpc.call(
        'ModelStreamInfer',
        { ...raw(s), id: 'a' },
        { ...raw(s), id: 'b' },
        { ...raw(s), model_name: 'no-such-model' },
      )
      if (code !== 0) return `status ${code}: ${message}`
      const ids = answers.map(({ infer_response: response }) => response?.id).filter(Boolean)
      if (ids.sort().join() !== 'a,b') return `expected answers to a and b, found ${ids}`
      return answers.filter(({ error_message: error }) => error !== '').length === 1
        ? undefined
        : 'expected one answer with an error_message'
    },
  },
  {
    extension: 'statistics',
    section: 'Triton, Statistics Extension: GRPC',
    rule: 'statistics of a model',
    method: 'ModelStatistics',
    request: (s) => ({ name: s.name }),
    check: ({ model_stats: all }, s) => {
      if (all.length === 0 || all.some(({ name }) => name !== s.name)) return `expected ${s.name} alone`
      return all.some(({ inference_stats: stats }) => stats?.success?.count > 0n && stats.success.ns > 0n)
        ? undefined
        : 'no success is counted'
    },
  },
  {
    extension: 'model_repository',
    section: 'Triton, Model Repository Extension: GRPC',
    rule: 'the index names every model, with its state',
    method: 'RepositoryIndex',
    request: () => ({}),
    check: ({ models }, s) =>
      models.some(({ name, state }) => name === s.name && state === 'READY') ? undefined : `${s.name} is not READY in it`,
  },
  {
    extension: 'model_repository',
    section: 'Triton, Model Repository Extension: GRPC',
    rule: 'an unknown model cannot be loaded',
    method: 'RepositoryModelLoad',
    request: () => ({ model_name: 'no-such-model' }),
    code: [CODES.NOT_FOUND, CODES.INVALID_ARGUMENT, CODES.UNAVAILABLE],
  },
  {
    extension: 'model_repository',
    section: 'Triton, Model Repository Extension: GRPC',
    rule: 'a model is unloaded and loaded',
    changes: true,
    async run(s) {
      for (const [method, ready] of [
        ['RepositoryModelUnload', false],
        ['RepositoryModelLoad', true],
      ]) {
        const { code, message } = await s.grpc.call(method, { model_name: s.name })
        if (code !== 0) return `${method}: status ${code}: ${message}`
        // an unloaded model may still answer what it had begun
        for (let left = 50; ; left--) {
          const found = (await s.grpc.call('ModelReady', { name: s.name })).answer?.ready ?? false
          if (found === ready) break
          if (left === 0) return `${method}: ready is ${found} 5 s later`
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }
      return undefined
    },
  },
]

export const rules = rows.map((row) => ({ grpc: true, ...row }))
