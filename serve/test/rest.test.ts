import t from 'tap'
import { type Body, fixture, input, repository, start, type Started } from './support/server.js'

const X = { name: 'x', datatype: 'FP32', shape: [-1, 4] }
let server: Started

t.before(async () => {
  const folder = repository(t, {
    'affine/1/model.ptl': fixture('affine.ptl'),
    'affine/2/model.ptl': fixture('affine.ptl'),
    'affine/config.json': { inputs: [X], outputs: [{ ...X, name: 'y' }], labels: ['a', 'b', 'c'] },
    'named.ptl': fixture('named.ptl'),
    'words.ptl': fixture('words.ptl'),
    'steps.ptl': fixture('steps.ptl'),
    'broken/1/model.ptl': { not: 'a model' },
    'notes.txt': { not: 'a model' },
  })
  server = await start(t, folder)
})

/** A body with binary data, as the extension has it. */
function binary(json: object, ...parts: readonly Uint8Array[]): { body: Uint8Array; headers: Record<string, string> } {
  const header = Buffer.from(JSON.stringify(json))
  return { body: Buffer.concat([header, ...parts]), headers: { 'Inference-Header-Content-Length': String(header.length) } }
}

function bytesOf(data: Float32Array | BigInt64Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

t.test('server and models tell what they are', async (t) => {
  const about = (await server.get('/v2')).body as { name: string; version: string; extensions: string[] }
  t.equal(about.name, 'ptlite')
  t.ok(about.extensions.includes('binary_tensor_data'))
  t.equal((await server.get('/v2/health/live')).status, 200)
  t.equal((await server.get('/v2/health/ready')).status, 503, 'one model cannot be served')
  t.match(await server.get('/v2/models/affine'), {
    status: 200,
    body: { name: 'affine', versions: ['1', '2'], inputs: [X], outputs: [{ name: 'y', datatype: 'FP32', shape: [-1, 4] }] },
  })
  t.match(await server.get('/v2/models/affine/versions/1/ready'), { status: 200, body: { name: 'affine', ready: true } })
  t.equal((await server.get('/v2/models/affine/versions/3/ready')).status, 503)
  t.match(await server.get('/v2/models/none'), { status: 404, body: { error: "there is no model 'none'" } })
  t.match(await server.get('/v2/models/broken'), { status: 404, body: { error: /is not served: / } })
  t.match(await server.get('/v3'), { status: 404, body: { error: 'there is no GET /v3' } })
})

t.test('inference in JSON', async (t) => {
  const answer = await server.infer('affine', [input('x', 'FP32', [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])], { id: 'one' })
  t.strictSame(answer.body, {
    ...{ model_name: 'affine', model_version: '2', id: 'one' },
    outputs: [{ name: 'y', datatype: 'FP32', shape: [2, 4], data: [3, 5, 7, 9, 11, 13, 15, 17] }],
  })
  t.equal(answer.status, 200)
  const nested = { ...input('x', 'FP32', [1, 4], [[1, 2, 3, 4]]), parameters: { anything: 1 } }
  const older = await server.post('/v2/models/affine/versions/1/infer', {
    inputs: [nested],
    outputs: [{ name: 'y' }],
    parameters: { other: true },
  })
  t.match(older.body, { model_version: '1', outputs: [{ data: [3, 5, 7, 9] }] })
  t.notHas(older.body, { id: /./ })
})

t.test('binary tensors in and out', async (t) => {
  const x = new Float32Array([1, 2, 3, 4])
  const declared = { name: 'x', datatype: 'FP32', shape: [1, 4], parameters: { binary_data_size: 16 } }
  for (const id of ['a', 'ab', 'abc', 'abcd']) {
    // wherever the numbers begin
    const { body, headers } = binary({ id, inputs: [declared] }, bytesOf(x))
    t.match((await server.post('/v2/models/affine/infer', body, { headers })).body, { id, outputs: [{ data: [3, 5, 7, 9] }] })
  }
  const { body, headers } = binary({ inputs: [declared], parameters: { binary_data_output: true } }, bytesOf(x))
  const answer = await fetch(`${server.url}/v2/models/affine/infer`, { method: 'POST', body: body as Body, headers })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const length = Number(answer.headers.get('inference-header-content-length'))
  t.match(JSON.parse(bytes.subarray(0, length).toString()), {
    outputs: [{ name: 'y', shape: [1, 4], parameters: { binary_data_size: 16 } }],
  })
  t.strictSame([...new Float32Array(Uint8Array.from(bytes.subarray(length)).buffer)], [3, 5, 7, 9])
  const raw = await fetch(`${server.url}/v2/models/affine/infer`, {
    ...{ method: 'POST', body: bytesOf(x) as Body, headers: { 'Inference-Header-Content-Length': '0' } },
  })
  t.equal(raw.status, 200, 'the tensor alone')
  t.strictSame([...new Float32Array((await raw.arrayBuffer()).slice(-16))], [3, 5, 7, 9])
})

t.test('results of several types', async (t) => {
  const x = input('x', 'FP32', [3], [1.5, -2, 0])
  const all = ['double', 'whole', 'positive'].map((name) => ({ name }))
  t.match((await server.infer('named', [x], { outputs: all })).body, {
    outputs: [
      { name: 'double', datatype: 'FP32', data: [3, -4, 0] },
      { name: 'whole', datatype: 'INT64', data: [1, -2, 0] },
      { name: 'positive', datatype: 'BOOL', data: [true, false, false] },
    ],
  })
  t.match(await server.infer('named', [x]), { status: 400, body: { error: /FP16 has no form in JSON/ } })
  const half = await server.infer('named', [x], { outputs: [{ name: 'half', parameters: { binary_data: true } }] })
  t.match(half.body, /"binary_data_size":6/)
  const infinite = await server.infer('named', [input('x', 'FP32', [1], [1e38])], { outputs: [{ name: 'double' }] })
  t.equal(infinite.status, 200)
  t.match(await server.infer('named', [input('x', 'FP32', [1], [3e38])], { outputs: [{ name: 'double' }] }), {
    status: 400,
    body: { error: /Infinity/ },
  })
})

t.test('strings, numbers and what may be left out', async (t) => {
  const words = input('words', 'BYTES', [2], ['a', 'ü'])
  const times = input('times', 'INT64', [1], [2])
  t.match((await server.infer('words', [times, words])).body, {
    outputs: [
      { name: 'output0', datatype: 'BYTES', shape: [2], data: ['aa', 'üü'] },
      { name: 'output1', datatype: 'INT64', shape: [1], data: [2] },
    ],
  })
  t.match((await server.infer('words', [words, times, input('suffix', 'BYTES', [1], ['!'])])).body, {
    outputs: [{ data: ['aa!', 'üü!'] }, {}],
  })
  const two = Buffer.from([1, 0, 0, 0, 97, 2, 0, 0, 0, 0xc3, 0xbc])
  const { body, headers } = binary(
    { inputs: [{ name: 'words', datatype: 'BYTES', shape: [2], parameters: { binary_data_size: two.length } }, times] },
    two,
  )
  t.match((await server.post('/v2/models/words/infer', body, { headers })).body, { outputs: [{ data: ['aa', 'üü'] }, {}] })
  t.match(await server.infer('affine', [input('x', 'BYTES', [1], ['a'])]), {
    status: 400,
    body: { error: "input 'x': expected FP32, found BYTES" },
  })
  t.match(await server.infer('named', [input('x', 'BYTES', [1], ['a'])]), { status: 400, body: { error: /takes no strings/ } })
})

t.test('classes', async (t) => {
  const x = input('x', 'FP32', [2, 4], [1, 4, 3, 2, 8, 5, 6, 7])
  const answer = await server.infer('affine', [x], { outputs: [{ name: 'y', parameters: { classification: 2 } }] })
  t.match(answer.body, { outputs: [{ name: 'y', datatype: 'BYTES', shape: [2, 2], data: ['9:1:b', '7:2:c', '17:0:a', '15:3'] }] })
})

t.test('what makes no sense is refused, and says what was expected', async (t) => {
  const good = input('x', 'FP32', [1, 4], [1, 2, 3, 4])
  const refused: readonly (readonly [unknown, RegExp])[] = [
    ['{', /no JSON/],
    ['', /no JSON/],
    [[], /expected the request to be an object/],
    [{}, /expected "inputs" to be a list/],
    [{ inputs: [] }, /'x' is missing/],
    [{ inputs: [good, good] }, /'x' is given twice/],
    [{ inputs: [good, { ...good, name: 'z' }] }, /no input 'z'/],
    [{ inputs: [{ ...good, datatype: 'FP8' }] }, /expected "datatype"/],
    [{ inputs: [{ ...good, datatype: '__proto__' }] }, /expected "datatype"/],
    [{ inputs: [{ ...good, datatype: 'FP64' }] }, /expected FP32, found FP64/],
    [{ inputs: [{ ...good, shape: [4] }] }, /expected shape \[-1, 4\], found \[4\]/],
    [{ inputs: [{ ...good, shape: [1, 4.5] }] }, /whole numbers/],
    [{ inputs: [{ ...good, shape: [-1, 4] }] }, /whole numbers/],
    [{ inputs: [{ ...good, shape: [2 ** 40, 4] }] }, /more than the/],
    [{ inputs: [{ ...good, shape: [2, 4] }] }, /needs 8 elements, found 4/],
    [{ inputs: [{ ...good, data: [1, 2, 3, 'four'] }] }, /'four' is no FP32/],
    [
      {
        inputs: [
          {
            ...good,
            data: [
              [1, 2],
              [3, 4],
            ],
          },
        ],
      },
      /nested otherwise/,
    ],
    [{ inputs: [{ ...good, data: { length: 4 } }] }, /expected "data" to be an array/],
    [{ inputs: [{ ...good, data: undefined, parameters: { binary_data_size: 16 } }] }, /Inference-Header-Content-Length/],
    [{ inputs: [good], outputs: [{ name: 'z' }] }, /no output 'z'/],
    [{ inputs: [good], outputs: [{ name: 'y' }, { name: 'y' }] }, /asked for twice/],
    [{ inputs: [good], id: 1 }, /expected "id"/],
    [{ inputs: [good], parameters: { a: [] } }, /parameter 'a'/],
    [{ inputs: [good], parameters: { timeout: -1 } }, /"timeout"/],
    [{ inputs: [good], parameters: { priority: 11 } }, /"priority"/],
    [{ inputs: [good], parameters: { sequence_id: 1 } }, /has no state/],
    [{ inputs: [good], parameters: { binary_data_output: 'yes' } }, /binary_data_output/],
  ]
  for (const [body, message] of refused) {
    const answer = await server.post('/v2/models/affine/infer', body)
    t.equal(answer.status, 400, String(message))
    t.match((answer.body as { error: string }).error, message)
    t.strictSame(Object.keys(answer.body as object), ['error'])
  }
  const whole = input('x', 'INT64', [1], [1.5])
  t.match(await server.infer('named', [whole]), { status: 400, body: { error: /1.5 is no INT64/ } })
  t.match(await server.infer('named', [input('x', 'INT8', [1], [200])]), { status: 400, body: { error: /200 is no INT8/ } })
  t.match(await server.infer('named', [input('x', 'FP16', [1], [1])]), { status: 400, body: { error: /send it as binary data/ } })
  t.match(await server.infer('named', [input('x', 'UINT64', [1], [1])]), { status: 400, body: { error: /no model here takes UINT64/ } })
  const headers = { 'Inference-Header-Content-Length': '1000' }
  t.equal((await server.post('/v2/models/affine/infer', '{}', { headers })).status, 400)
  t.equal((await server.post('/v2/models/affine/infer', '{}', { headers: { 'Content-Encoding': 'br' } })).status, 415)
  t.equal((await server.infer('affine', [good])).status, 200, 'and goes on')
})

t.test('statistics and metrics count', async (t) => {
  const { model_stats: all } = (await server.get('/v2/models/stats')).body as { model_stats: { name: string }[] }
  t.strictSame(all.map(({ name }) => name).sort(), ['affine', 'affine', 'named', 'steps', 'words'])
  const before = (await server.get('/v2/models/steps/stats')).body as { model_stats: [{ inference_count: number }] }
  t.equal(before.model_stats[0].inference_count, 0)
  t.equal((await server.infer('steps', [input('x', 'FP32', [3], [1, 2, 3]), input('n', 'INT64', [1], [2])])).status, 200)
  t.match(await server.get('/v2/models/steps/versions/1/stats'), {
    body: {
      model_stats: [{ name: 'steps', version: '1', execution_count: 1, inference_stats: { success: { count: 1 }, fail: { count: 0 } } }],
    },
  })
  t.equal((await server.get('/v2/models/none/stats')).status, 404)
  const text = String((await server.get('/metrics')).body)
  t.match(text, /ptlite_serve_requests_total\{model="steps",version="1",status="200"\} 1/)
  t.match(text, /ptlite_serve_request_seconds_bucket\{le="0.1",model="affine"/)
  t.match(text, /ptlite_serve_queue_depth\{model="affine",version="1"\} 0/)
  t.match(text, /ptlite_serve_body_bytes 0/)
})
