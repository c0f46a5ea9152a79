import { SIZES } from '../shape.mjs'
import { bytesOf, countOf, differing, withParameters } from '../subject.mjs'

const SPEC = 'Triton, Binary Tensor Data Extension'
const REQUEST = `${SPEC}: Binary Tensor Request`
const RAW = `${SPEC}: Raw Binary Request`

/** What is wrong with the bytes of an answer in which the outputs of `wanted` are binary. */
function misplaced({ json, headers, raw }, wanted) {
  let size = 0
  for (const { name, datatype, shape, parameters, data } of json.outputs) {
    const bytes = parameters?.binary_data_size
    if (!wanted(name)) {
      if (bytes !== undefined || data === undefined) return `output ${name} is not in the JSON`
      continue
    }
    if (!Number.isSafeInteger(bytes)) return `output ${name} has the binary_data_size ${bytes}`
    if (data !== undefined) return `output ${name} has data, too`
    if (datatype !== 'BYTES' && bytes !== countOf(shape) * SIZES[datatype])
      return `output ${name} has ${bytes} bytes for [${shape}] of ${datatype}`
    size += bytes
  }
  if (size > 0 && headers['inference-header-content-length'] === undefined) return 'there is no Inference-Header-Content-Length'
  if (size > 0 && !/^application\/octet-stream/.test(headers['content-type'] ?? '')) return `its content type is ${headers['content-type']}`
  return raw.length === size ? undefined : `there are ${raw.length} bytes behind the JSON, and the outputs have ${size}`
}

const all = () => true
const none = () => false
/** Whether a model may be asked without any JSON, as the extension says. */
const isRaw = (s) => {
  const { inputs } = s.metadata
  return inputs.length === 1 && inputs[0].datatype !== 'BYTES' && inputs[0].shape.filter((size) => size === -1).length <= 1
}

const rows = [
  {
    section: SPEC,
    rule: 'the server says that it has the extension',
    request: (s) => s.get('v2'),
    status: 200,
    check: ({ json }) => (json.extensions.includes('binary_tensor_data') ? undefined : `extensions ${json.extensions}`),
  },
  {
    section: REQUEST,
    rule: 'inputs may be bytes, outputs are JSON where nothing else is said',
    when: (s) => !s.outputsNeedBinary,
    request: (s) => s.inferBinary(),
    status: 200,
    answer: 'INFERENCE',
    check: (answer) => misplaced(answer, none),
  },
  {
    section: REQUEST,
    rule: 'bytes and JSON are two forms of the same values',
    when: (s) => !s.needsBinary,
    async run(s) {
      const [json, binary] = [await s.send(s.infer()), await s.send(s.inferBinary(withParameters({ binary_data_output: true })))]
      if (json.status !== 200 || binary.status !== 200) return `statuses ${json.status} and ${binary.status}: ${binary.body}`
      return differing(json, binary)
    },
  },
  {
    section: REQUEST,
    rule: 'binary_data has an output returned as bytes',
    request: (s) =>
      s.inferBinary((request) => ({
        ...request,
        outputs: s.metadata.outputs.map(({ name }) => ({ name, parameters: { binary_data: true } })),
      })),
    status: 200,
    answer: 'INFERENCE',
    check: (answer) => misplaced(answer, all),
  },
  {
    section: REQUEST,
    rule: 'binary_data_output has all outputs returned as bytes',
    request: (s) => s.inferBinary(withParameters({ binary_data_output: true })),
    status: 200,
    answer: 'INFERENCE',
    check: (answer) => misplaced(answer, all),
  },
  {
    section: REQUEST,
    rule: 'binary_data of an output goes before binary_data_output',
    when: (s) => !s.outputsNeedBinary,
    request: (s) =>
      s.inferBinary((request) => ({
        parameters: { binary_data_output: true },
        ...request,
        outputs: s.metadata.outputs.map(({ name }, i) => (i === 0 ? { name, parameters: { binary_data: false } } : { name })),
      })),
    status: 200,
    answer: 'INFERENCE',
    check: (answer, s) => misplaced(answer, (name) => name !== s.metadata.outputs[0].name),
  },
  {
    section: REQUEST,
    rule: 'outputs may be bytes where inputs are JSON',
    when: (s) => !s.needsBinary,
    request: (s) => s.infer(withParameters({ binary_data_output: true })),
    status: 200,
    answer: 'INFERENCE',
    check: (answer) => misplaced(answer, all),
  },
  {
    section: REQUEST,
    rule: 'one input may be bytes, another JSON',
    when: (s) => s.inputs.length > 1 && !s.needsBinary,
    async run(s) {
      const [first, ...others] = s.inputs
      const raw = bytesOf(first.datatype, first.values)
      const json = Buffer.from(
        JSON.stringify({
          inputs: [
            { name: first.name, shape: first.shape, datatype: first.datatype, parameters: { binary_data_size: raw.length } },
            ...others.map(({ name, shape, datatype, values }) => ({ name, shape, datatype, data: values })),
          ],
        }),
      )
      const headers = { ...s.headers, 'inference-header-content-length': String(json.length) }
      const mixed = await s.send({ method: 'POST', path: `${s.path}/infer`, headers, body: Buffer.concat([json, raw]) })
      if (mixed.status !== 200) return `status ${mixed.status}: ${mixed.body}`
      return differing(await s.send(s.infer()), mixed)
    },
  },
  {
    section: `${SPEC}: Binary Tensor Request (JSON object of any length)`,
    rule: 'bytes need not be aligned',
    async run(s) {
      const wanted = await s.send(s.inferBinary())
      for (let i = 0; i < 8; i++) {
        const answer = await s.send(s.inferBinary((request) => ({ id: 'a'.repeat(i), ...request })))
        if (answer.status !== 200) return `status ${answer.status} with an id of ${i} letters: ${answer.body}`
        const found = differing(wanted, answer)
        if (found !== undefined) return found
      }
      return undefined
    },
  },
  ...[
    ['bytes that the shape does not have', [{ more: [Buffer.alloc(8)] }]],
    ['fewer bytes than were announced', [{ cut: 1 }]],
    ['a JSON length past the body', [{ headers: { 'inference-header-content-length': '1000000000' } }]],
    ['a JSON length that is no number', [{ headers: { 'inference-header-content-length': 'many' } }]],
    ['a JSON length below 0', [{ headers: { 'inference-header-content-length': '-1' } }]],
    ['a JSON length within the JSON', [{ headers: { 'inference-header-content-length': '10' } }]],
    ['bytes without a JSON length', [{ without: ['inference-header-content-length'] }]],
  ].map(([rule, [alter]]) => ({
    section: REQUEST,
    rule: `${rule} ${/^(bytes|fewer)/.test(rule) ? 'are' : 'is'} an error`,
    request: (s) => s.inferBinary(undefined, alter),
    status: '4xx',
    answer: 'ERROR',
  })),
  ...[
    ['a binary_data_size that the shape does not have', 1],
    ['a binary_data_size below 0', -4],
    ['a binary_data_size that is no integer', 0.5],
    ['a binary_data_size that is a string', '4'],
  ].map(([rule, size]) => ({
    section: REQUEST,
    rule: `${rule} is an error`,
    request: (s) =>
      s.inferBinary((request) => ({ inputs: request.inputs.map((input) => ({ ...input, parameters: { binary_data_size: size } })) })),
    status: '4xx',
    answer: 'ERROR',
  })),
  {
    section: RAW,
    rule: 'a body of nothing but one tensor runs a model whose shape follows from it, and answers in bytes',
    when: isRaw,
    request: (s) => ({
      method: 'POST',
      path: `${s.path}/infer`,
      headers: { ...s.headers, 'content-type': 'application/octet-stream', 'inference-header-content-length': '0' },
      body: bytesOf(s.inputs[0].datatype, s.inputs[0].values),
    }),
    status: 200,
    answer: 'INFERENCE',
    check: (answer) => misplaced(answer, all),
  },
  {
    section: RAW,
    rule: 'bytes that make no shape are an error',
    when: (s) => isRaw(s) && SIZES[s.inputs[0].datatype] > 1,
    request: (s) => ({
      method: 'POST',
      path: `${s.path}/infer`,
      headers: { ...s.headers, 'inference-header-content-length': '0' },
      body: bytesOf(s.inputs[0].datatype, s.inputs[0].values).subarray(1),
    }),
    status: '4xx',
    answer: 'ERROR',
  },
]

export const rules = rows.map((row) => ({ extension: 'binary_tensor_data', ...row }))
