import t from 'tap'
import { InferenceClient } from '../../client/index.js'
import { answering, json } from './answering.js'

t.test('health', async (t) => {
  const cases: [number, string, boolean | undefined][] = [
    [200, '{"live":true,"ready":true,"name":"m"}', true],
    [200, '', true],
    [200, '{"ready":false,"live":false}', false],
    [503, '{"error":"models are loading"}', false],
    [400, '', false],
    [429, '', false],
    [401, '{"error":"no token"}', undefined],
  ]
  for (const [status, body, wanted] of cases) {
    const { url, received } = await answering(t, (_, response) => json(response, body, status))
    const client = new InferenceClient(url)
    for (const call of [() => client.live(), () => client.ready(), () => client.ready('m'), () => client.ready('m', { version: 1 })])
      if (wanted === undefined) await t.rejects(call(), { code: 'http', status, message: 'no token' })
      else t.equal(await call(), wanted, `${status} ${body}`)
    t.strictSame(
      received.map(({ method, url }) => `${method} ${url}`),
      ['GET /v2/health/live', 'GET /v2/health/ready', 'GET /v2/models/m/ready', 'GET /v2/models/m/versions/1/ready'],
    )
  }
})

t.test('health of what cannot be reached, or is no server of the protocol', async (t) => {
  const { url } = await answering(t, (_, response) => json(response, { error: 'no such model' }, 404))
  const client = new InferenceClient(url)
  t.equal(await client.ready('m'), false)
  await t.rejects(client.ready(), { code: 'http', status: 404 })
  const gone = new InferenceClient('http://127.0.0.1:1')
  t.equal(await gone.live(), false)
  t.equal(await gone.ready(), false)
})

t.test('metadata', async (t) => {
  const { url, received } = await answering(t, ({ url }, response) =>
    json(
      response,
      url === '/v2'
        ? { name: 'ptlite', version: '0.1.0', extensions: ['statistics'] }
        : {
            name: 'm',
            versions: ['1', '2'],
            platform: 'pytorch_torchscript',
            inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 3] }],
            outputs: [],
          },
    ),
  )
  const client = new InferenceClient(url, { token: 'secret', headers: { 'x-own': 'a' } })
  t.strictSame(await client.server(), { name: 'ptlite', version: '0.1.0', extensions: ['statistics'] })
  t.strictSame(await client.model('m', { version: '2' }), {
    name: 'm',
    versions: ['1', '2'],
    platform: 'pytorch_torchscript',
    inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 3] }],
    outputs: [],
  })
  t.match(received, [{ url: '/v2', headers: { authorization: 'Bearer secret', 'x-own': 'a' } }, { url: '/v2/models/m/versions/2' }])
})

t.test('the repository and statistics', async (t) => {
  const { url, received } = await answering(t, ({ url }, response) =>
    json(
      response,
      url.endsWith('/index')
        ? [{ name: 'a', version: '1', state: 'READY', reason: '' }, { name: 'b' }]
        : url.endsWith('/stats')
          ? {
              model_stats: [
                {
                  name: 'a',
                  version: '1',
                  last_inference: 5,
                  inference_count: 7,
                  execution_count: 2,
                  inference_stats: { success: { count: 7, ns: 900 } },
                  batch_stats: [{ batch_size: 4, compute_infer: { count: 1, ns: 400 } }],
                },
              ],
            }
          : '',
    ),
  )
  const client = new InferenceClient(url)
  t.strictSame(await client.index({ ready: true }), [
    { name: 'a', version: '1', state: 'READY', reason: '' },
    { name: 'b', version: undefined, state: '', reason: '' },
  ])
  await client.index()
  const [stats] = await client.stats('a', { version: 1 })
  t.strictSame(stats, {
    name: 'a',
    version: '1',
    lastInference: 5,
    inferenceCount: 7,
    executionCount: 2,
    inference: { success: { count: 7, ns: 900 } },
    batches: [{ size: 4, computeInfer: { count: 1, ns: 400 } }],
  })
  await client.stats()
  t.equal(await client.load('a b', { parameters: { config: '{}' } }), undefined)
  await client.unload('a')
  t.strictSame(
    received.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`),
    [
      'POST /v2/repository/index {"ready":true}',
      'POST /v2/repository/index {}',
      'GET /v2/models/a/versions/1/stats ',
      'GET /v2/models/stats ',
      'POST /v2/repository/models/a%20b/load {"parameters":{"config":"{}"}}',
      'POST /v2/repository/models/a/unload {"parameters":{}}',
    ],
  )
})

t.test('errors say what the server says', async (t) => {
  const cases: [number, string, string][] = [
    [400, '{"error":"input x is missing"}', 'input x is missing'],
    [413, '<h1>Too large</h1>', '<h1>Too large</h1>'],
    [500, '', '500 Internal Server Error'],
    [404, `{"error":"${'a'.repeat(5000)}"}`, 'a'.repeat(2000)],
  ]
  for (const [status, body, message] of cases) {
    const { url, received } = await answering(t, (_, response) => json(response, body, status))
    await t.rejects(new InferenceClient(url).model('m'), { name: 'InferenceError', code: 'http', status, message })
    t.equal(received.length, 1, 'it is not asked again')
  }
})
