/**
 * Requests as tritonclient.http and tritonclient.grpc (Python) send them when its documented examples are run (triton-inference-server/client,
 * src/python/examples). Its socket library sends no content type, and json.dumps the spaces.
 */
import { bytesOfOutput, compressed, int32, pythonJson, unequal, withBytes } from './framing.mjs'

const FIRST = Array.from({ length: 16 }, (_, i) => i)
const SECOND = Array.from({ length: 16 }, () => 1)
const SUMS = FIRST.map((value, i) => value + SECOND[i])
const DIFFERENCES = FIRST.map((value, i) => value - SECOND[i])

const jsonInput = { name: 'INPUT0', shape: [1, 16], datatype: 'INT32', data: FIRST }
const binaryInput = { name: 'INPUT1', shape: [1, 16], datatype: 'INT32', parameters: { binary_data_size: 64 } }
const outputs = [
  { name: 'OUTPUT0', parameters: { binary_data: true } },
  { name: 'OUTPUT1', parameters: { binary_data: false } },
]
const infer = (request, headers) => ({
  method: 'POST',
  path: 'v2/models/simple/infer?test_1=1&test_2=2',
  ...withBytes(pythonJson(request), [int32(SECOND)], headers),
})

/** OUTPUT0 as bytes, OUTPUT1 as JSON. */
function mixed(answer) {
  const [sums, differences] = ['OUTPUT0', 'OUTPUT1'].map((name) => answer.json.outputs.find((output) => output.name === name))
  return (
    unequal(
      [sums?.shape, differences?.shape],
      [
        [1, 16],
        [1, 16],
      ],
      'shapes',
    ) ??
    unequal(bytesOfOutput(answer, 'OUTPUT0').toString('hex'), int32(SUMS).toString('hex'), 'OUTPUT0') ??
    unequal(differences.data.flat(Infinity), DIFFERENCES, 'OUTPUT1')
  )
}

/** A step of simple_http_sequence_sync_infer_client.py. */
const step = (id, value, start, end) => {
  const request = {
    inputs: [{ name: 'INPUT', shape: [1, 1], datatype: 'INT32', parameters: { binary_data_size: 4 } }],
    outputs: [{ name: 'OUTPUT', parameters: { binary_data: true } }],
    parameters: { sequence_id: id, sequence_start: start, sequence_end: end },
  }
  return { method: 'POST', path: 'v2/models/simple_sequence/infer', ...withBytes(pythonJson(request), [int32([value])]) }
}

const control = (path, body) => ({ method: 'POST', path, body: body === undefined ? '' : pythonJson(body) })
const HTTP = 'tritonclient simple_http_'
const GRPC = 'tritonclient simple_grpc_'

export const examples = [
  { section: `${HTTP}health_metadata.py`, rule: 'is_server_live', request: { method: 'GET', path: 'v2/health/live' }, status: 200 },
  { section: `${HTTP}health_metadata.py`, rule: 'is_server_ready', request: { method: 'GET', path: 'v2/health/ready' }, status: 200 },
  { section: `${HTTP}health_metadata.py`, rule: 'is_model_ready', request: { method: 'GET', path: 'v2/models/simple/ready' }, status: 200 },
  {
    section: `${HTTP}health_metadata.py`,
    rule: 'get_model_metadata',
    request: { method: 'GET', path: 'v2/models/simple' },
    status: 200,
    check: ({ json }) => unequal([json.name, json.inputs.length, json.outputs.length], ['simple', 2, 2], 'name and tensors'),
  },
  {
    section: `${HTTP}health_metadata.py`,
    rule: 'get_model_metadata of an unknown model',
    request: { method: 'GET', path: 'v2/models/wrong_model_name' },
    status: '4xx',
    // its _raise_if_error reads this field
    check: ({ json }) => (typeof json.error === 'string' ? undefined : 'there is no error'),
  },
  {
    section: `${HTTP}infer_client.py`,
    rule: 'one input as JSON, one as bytes, outputs likewise, and a query',
    request: infer({ inputs: [jsonInput, binaryInput], outputs }),
    status: 200,
    check: mixed,
  },
  {
    section: `${HTTP}infer_client.py`,
    rule: 'no outputs named: all as bytes',
    request: infer({ inputs: [jsonInput, binaryInput], parameters: { binary_data_output: true } }),
    status: 200,
    check: (answer) =>
      unequal(bytesOfOutput(answer, 'OUTPUT0').toString('hex'), int32(SUMS).toString('hex'), 'OUTPUT0') ??
      unequal(bytesOfOutput(answer, 'OUTPUT1').toString('hex'), int32(DIFFERENCES).toString('hex'), 'OUTPUT1'),
  },
  ...['gzip', 'deflate'].map((encoding) => ({
    section: `${HTTP}infer_client.py`,
    rule: `--request-compression-algorithm ${encoding}`,
    request: (({ method, path, ...rest }) => ({ method, path, ...compressed(rest, encoding) }))(
      infer({ inputs: [jsonInput, binaryInput], outputs }),
    ),
    status: 200,
    check: mixed,
  })),
  {
    section: `${HTTP}infer_client.py`,
    rule: '-H with a header of its own',
    request: infer({ inputs: [jsonInput, binaryInput], outputs }, { 'my-header': 'a' }),
    status: 200,
    check: mixed,
  },
  {
    section: `${HTTP}sequence_sync_infer_client.py`,
    rule: 'two sequences side by side, numbers and strings as ids',
    async run({ send }) {
      const totals = { 1000: 0, second: 0 }
      const values = [11, 7, 5, 3, 2, 0, 1]
      for (const [i, value] of values.entries())
        for (const [id, sign] of [
          [1000, 1],
          ['second', -1],
        ]) {
          totals[id] += sign * value
          const answer = await send(step(id, sign * value, i === 0, i === values.length - 1))
          if (answer.status !== 200) return `status ${answer.status}: ${answer.body}`
          const wrong = unequal(bytesOfOutput(answer, 'OUTPUT').readInt32LE(), totals[id], `step ${i} of ${id}`)
          if (wrong !== undefined) return wrong
        }
      return undefined
    },
  },
  {
    section: `${HTTP}model_control.py`,
    rule: 'get_model_repository_index, with an empty body',
    request: control('v2/repository/index'),
    status: 200,
    check: ({ json }) => (json.some(({ name }) => name === 'simple') ? undefined : 'simple is not in it'),
  },
  {
    section: `${HTTP}model_control.py`,
    rule: 'unload_model, then load_model',
    async run({ send }) {
      const ready = async () => (await send({ method: 'GET', path: 'v2/models/simple/ready' })).status === 200
      const unloaded = await send(control('v2/repository/models/simple/unload', { parameters: { unload_dependents: false } }))
      if (unloaded.status !== 200) return `unload: status ${unloaded.status}: ${unloaded.body}`
      if (await ready()) return 'is_model_ready is true after unload_model'
      const loaded = await send(control('v2/repository/models/simple/load', {}))
      if (loaded.status !== 200) return `load: status ${loaded.status}: ${loaded.body}`
      return (await ready()) ? undefined : 'is_model_ready is false after load_model'
    },
  },
  {
    section: `${HTTP}model_control.py`,
    rule: 'load_model of an unknown model',
    request: control('v2/repository/models/wrong_model_name/load', {}),
    status: '4xx',
    check: ({ json }) => (typeof json.error === 'string' ? undefined : 'there is no error'),
  },
  {
    section: 'tritonclient get_inference_statistics',
    rule: 'of all models, and of one',
    async run({ send }) {
      for (const path of ['v2/models/stats', 'v2/models/simple/stats']) {
        const { status, json } = await send({ method: 'GET', path })
        if (status !== 200 || !json.model_stats.some(({ name }) => name === 'simple')) return `${path}: status ${status}`
      }
      return undefined
    },
  },
  {
    section: `${GRPC}infer_client.py`,
    rule: 'raw inputs, outputs by name',
    grpc: {
      method: 'ModelInfer',
      request: {
        model_name: 'simple',
        inputs: ['INPUT0', 'INPUT1'].map((name) => ({ name, datatype: 'INT32', shape: [1, 16] })),
        outputs: [{ name: 'OUTPUT0' }, { name: 'OUTPUT1' }],
        raw_input_contents: [int32(FIRST), int32(SECOND)],
      },
    },
    check: ({ raw_output_contents: raw }) =>
      unequal(
        raw.map((bytes) => bytes.toString('hex')),
        [int32(SUMS).toString('hex'), int32(DIFFERENCES).toString('hex')],
        'raw_output_contents',
      ),
  },
]
