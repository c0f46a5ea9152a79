/** Requests of KServe's documentation (kserve/website) and of its Python client (kserve.protocol.infer_type). */
import { float32, pythonJson, unequal, withBytes } from './framing.mjs'

const FLOWERS = [
  [6.8, 2.8, 4.8, 1.4],
  [6.0, 3.4, 4.5, 1.6],
]
const input = { name: 'input-0', shape: [2, 4], datatype: 'FP32' }
const json = { 'content-type': 'application/json' }
const classes = ({ json: { outputs } }) =>
  unequal(
    outputs.map(({ name, datatype, shape, data }) => [name, datatype, shape, data]),
    [['predict', 'INT64', [2], [1, 1]]],
    'outputs',
  )
const PAGE = 'KServe docs, scikit-learn'

export const examples = [
  {
    section: `${PAGE}: Test the Deployed Model`,
    rule: 'curl with the file of the page, whose line breaks it keeps out',
    request: {
      method: 'POST',
      path: 'v2/models/sklearn-iris/infer',
      headers: { ...json, accept: '*/*', 'user-agent': 'curl/8.5.0' },
      body: JSON.stringify({ inputs: [{ ...input, data: FLOWERS }] }),
    },
    status: 200,
    check: classes,
  },
  {
    section: `${PAGE}: Test the Deployed Model`,
    rule: 'the Host of an ingress',
    request: {
      method: 'POST',
      path: 'v2/models/sklearn-iris/infer',
      headers: { ...json, host: 'sklearn-iris.default.example.com' },
      body: JSON.stringify({ inputs: [{ ...input, data: FLOWERS }] }),
    },
    status: 200,
    check: classes,
  },
  {
    section: `${PAGE}: Testing the gRPC Endpoint`,
    rule: 'grpcurl ServerReady',
    grpc: { method: 'ServerReady', request: {} },
    check: ({ ready }) => unequal(ready, true, 'ready'),
  },
  {
    section: `${PAGE}: Testing the gRPC Endpoint`,
    rule: 'grpcurl ModelInfer with typed contents',
    grpc: {
      method: 'ModelInfer',
      request: { model_name: 'sklearn-iris', inputs: [{ ...input, contents: { fp32_contents: FLOWERS.flat() } }] },
    },
    // what was asked in typed contents may be answered in either form
    check: ({ outputs: [output], raw_output_contents: raw }) =>
      unequal(
        raw.length > 0 ? [raw[0].readBigInt64LE(0), raw[0].readBigInt64LE(8)].map(Number) : output.contents.int64_contents.map(Number),
        [1, 1],
        'predict',
      ),
  },
  {
    section: 'KServe InferRequest.to_rest',
    rule: 'an id, the name of the model, and an input as bytes',
    request: {
      method: 'POST',
      path: 'v2/models/sklearn-iris/infer',
      ...withBytes(
        JSON.stringify({
          id: '823248cc-d770-4a51-9606-16803395569c',
          model_name: 'sklearn-iris',
          inputs: [{ ...input, parameters: { binary_data_size: 32 } }],
          parameters: { binary_data_output: false },
        }),
        [float32(FLOWERS.flat())],
        { 'content-type': 'application/octet-stream' },
      ),
    },
    status: 200,
    check: (answer) => classes(answer) ?? unequal(answer.json.id, '823248cc-d770-4a51-9606-16803395569c', 'id'),
  },
  {
    section: 'KServe InferRequest.to_rest',
    rule: 'the same as JSON',
    request: {
      method: 'POST',
      path: 'v2/models/sklearn-iris/infer',
      headers: json,
      body: pythonJson({ id: '4', model_name: 'sklearn-iris', inputs: [{ ...input, data: FLOWERS }] }),
    },
    status: 200,
    check: classes,
  },
]
