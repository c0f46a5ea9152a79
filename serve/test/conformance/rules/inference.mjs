import { SIZES } from '../shape.mjs'
import { countOf, differing, nested } from '../subject.mjs'

const SPEC = 'Open Inference Protocol, REST'
const REQUEST = `${SPEC}: Inference Request JSON Object`
const INPUT = `${SPEC}: Request Input`
const DATA = `${SPEC}: Tensor Data`
const FAULT = `${SPEC}: Inference Response JSON Error Object`

const whenJson = (s) => !s.needsBinary
/** Alters the first input. */
const first = (change) => (request) => ({
  ...request,
  inputs: request.inputs.map((input, i) => (i === 0 ? { ...input, ...change(input) } : input)),
})

const faults = [
  [INPUT, 'an input that is missing', (request) => ({ ...request, inputs: request.inputs.slice(1) })],
  [INPUT, 'an input without a name', first(() => ({ name: undefined }))],
  [INPUT, 'an input that the model does not have', first(() => ({ name: 'no such input' }))],
  [INPUT, 'an input without a shape', first(() => ({ shape: undefined }))],
  [INPUT, 'a size below 0', first(({ shape }) => ({ shape: [-1, ...shape] }))],
  [INPUT, 'a size that is no integer', first(({ shape }) => ({ shape: [...shape, 0.5] }))],
  [INPUT, 'a shape that is no list', first(() => ({ shape: 4 }))],
  [INPUT, 'sizes whose product is past any memory', first(() => ({ shape: [2 ** 31, 2 ** 31, 2 ** 31] }))],
  [INPUT, 'a datatype that is none of the table', first(() => ({ datatype: 'FLOAT' }))],
  [
    INPUT,
    'a datatype that is not that of the model',
    first(({ datatype, data }) =>
      datatype === 'BYTES' ? { datatype: 'INT32', data: data.map(() => 1) } : { datatype: 'BYTES', data: data.map(() => 'a') },
    ),
  ],
  [INPUT, 'no data at all', first(() => ({ data: undefined }))],
  [DATA, 'an element less than the shape has', first(({ data }) => ({ data: data.slice(1) }))],
  [DATA, 'an element more', first(({ data }) => ({ data: [...data, data[0]] }))],
  [DATA, 'an element that is an object', first(({ data }) => ({ data: [{}, ...data.slice(1)] }))],
  [DATA, 'an element that is null', first(({ data }) => ({ data: [null, ...data.slice(1)] }))],
  [DATA, 'data that are no list', first(() => ({ data: 'abc' }))],
  [REQUEST, 'no inputs', () => ({})],
  [REQUEST, 'inputs that are no list', () => ({ inputs: 3 })],
  [REQUEST, 'an id that is no string', (request) => ({ ...request, id: { a: 1 } })],
  [
    `${SPEC}: Request Output`,
    'an output that the model does not have',
    (request) => ({ ...request, outputs: [{ name: 'no such output' }] }),
  ],
  [`${SPEC}: Parameters`, 'a parameter that is an object', (request) => ({ ...request, parameters: { mine: { a: 1 } } })],
]

export const rules = [
  {
    section: `${SPEC}: Inference Response JSON Object`,
    rule: 'an inference answers with the name of the model and its outputs',
    when: whenJson,
    request: (s) => s.infer(),
    status: 200,
    answer: 'INFERENCE',
    check: ({ json, headers }, s) => {
      if (json.model_name !== s.name) return `model_name is ${json.model_name}`
      if (!/^application\/json/.test(headers['content-type'] ?? '')) return `its content type is ${headers['content-type']}`
      const [found, wanted] = [json.outputs, s.metadata.outputs].map((list) =>
        list
          .map(({ name }) => name)
          .sort()
          .join(),
      )
      return found === wanted ? undefined : `expected all outputs, ${wanted}; found ${found}`
    },
  },
  {
    section: `${SPEC}: Response Output`,
    rule: 'an output has the datatype and the fixed sizes of the metadata, and as many elements as its shape',
    when: whenJson,
    request: (s) => s.infer(),
    status: 200,
    check: ({ json }, s) => {
      for (const { name, datatype, shape, data } of json.outputs) {
        const declared = s.metadata.outputs.find((output) => output.name === name)
        if (declared.datatype !== datatype) return `output ${name} is ${datatype}, in the metadata ${declared.datatype}`
        if (declared.shape.length !== shape.length || declared.shape.some((size, i) => size !== -1 && size !== shape[i]))
          return `output ${name} is [${shape}], in the metadata [${declared.shape}]`
        if (data.flat(Infinity).length !== countOf(shape)) return `output ${name} has ${data.flat(Infinity).length} elements for [${shape}]`
      }
      return undefined
    },
  },
  {
    section: REQUEST,
    rule: 'the id of a request comes back',
    when: whenJson,
    request: (s) => s.infer((request) => ({ id: '42', ...request })),
    status: 200,
    answer: 'INFERENCE',
    check: ({ json }) => (json.id === '42' ? undefined : `id is ${json.id}`),
  },
  {
    section: `${SPEC}: Inference Response JSON Object`,
    rule: 'without an id there is none',
    when: whenJson,
    request: (s) => s.infer(),
    status: 200,
    check: ({ json }) => (json.id === undefined || json.id === '' ? undefined : `id is ${json.id}`),
  },
  {
    section: `${SPEC}: HTTP/REST (paths)`,
    rule: 'a version that is named is the one that answers',
    when: (s) => whenJson(s) && s.version !== undefined,
    request: (s) => s.infer(undefined, `${s.path}/versions/${s.version}/infer`),
    status: 200,
    answer: 'INFERENCE',
    check: ({ json }, s) => (json.model_version === s.version ? undefined : `model_version is ${json.model_version}`),
  },
  {
    section: REQUEST,
    rule: 'outputs that are asked for come, and no others',
    when: whenJson,
    request: (s) => s.infer((request) => ({ ...request, outputs: [{ name: s.metadata.outputs.at(-1).name }] })),
    status: 200,
    answer: 'INFERENCE',
    check: ({ json }, s) =>
      json.outputs.length === 1 && json.outputs[0].name === s.metadata.outputs.at(-1).name
        ? undefined
        : `there are ${json.outputs.map(({ name }) => name)}`,
  },
  {
    section: DATA,
    rule: 'elements may stand in rows as well as in one list',
    when: (s) => whenJson(s) && s.inputs.some(({ shape }) => shape.length > 1),
    async run(s) {
      const flat = await s.send(s.infer())
      const rows = await s.send(
        s.infer((request) => ({ inputs: request.inputs.map((input) => ({ ...input, data: nested(input.data, input.shape) })) })),
      )
      if (flat.status !== 200 || rows.status !== 200) return `statuses ${flat.status} and ${rows.status}: ${rows.body}`
      return differing(flat, rows)
    },
  },
  {
    section: `${SPEC}: Parameters`,
    rule: 'parameters that the server does not know are taken',
    when: whenJson,
    request: (s) =>
      s.infer((request) => ({
        parameters: { mine: 'a', other: 1, more: true },
        ...first(() => ({ parameters: { content_type: 'np' } }))(request),
      })),
    status: 200,
    answer: 'INFERENCE',
  },
  {
    section: `${SPEC}: Inference Request JSON Object`,
    rule: 'fields that the specification does not have are passed over',
    when: whenJson,
    request: (s) => s.infer((request) => ({ model_name: s.name, ...request })),
    status: 200,
    answer: 'INFERENCE',
  },
  {
    section: `${SPEC}: Tensor Data Types`,
    rule: 'the datatypes of the metadata are those of the table',
    request: (s) => s.get(s.path),
    status: 200,
    check: ({ json }) =>
      [...json.inputs, ...json.outputs].map(({ datatype }) => datatype).find((datatype) => !Object.hasOwn(SIZES, datatype)),
  },
  ...faults.map(([section, rule, change]) => ({
    section,
    rule: `${rule} is an error`,
    when: whenJson,
    request: (s) => s.infer(change),
    status: '4xx',
    answer: 'ERROR',
  })),
  ...[
    ['a body that is no JSON', '{"inputs":'],
    ['a body that is no object', '[]'],
    ['an empty body', ''],
    ['a body of many brackets', '['.repeat(100_000)],
  ].map(([rule, body]) => ({
    section: FAULT,
    rule: `${rule} is an error`,
    request: (s) => s.post(`${s.path}/infer`, body),
    status: '4xx',
    answer: 'ERROR',
  })),
  {
    section: FAULT,
    rule: 'an unknown model has an error object',
    request: (s) => s.infer(undefined, 'v2/models/no-such-model/infer'),
    status: '4xx',
    answer: 'ERROR',
  },
  {
    section: FAULT,
    rule: 'an unknown version has one, too',
    request: (s) => s.infer(undefined, `${s.path}/versions/987654/infer`),
    status: '4xx',
    answer: 'ERROR',
  },
  {
    section: `${SPEC}: Inference`,
    rule: 'an inference is a POST',
    request: (s) => s.get(`${s.path}/infer`),
    status: '4xx',
  },
  {
    section: `${SPEC}: HTTP/REST (paths)`,
    rule: 'a path out of the repository leads nowhere',
    request: (s) => s.get('v2/models/..%2f..%2fetc%2fpasswd'),
    status: '4xx',
  },
]
