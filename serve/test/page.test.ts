import t from 'tap'
import { fixture, type Answer, repository, requireOfServe, start } from './support/server.js'

interface Operation {
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, object>>
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly security?: object
}

t.test('what the server answers is described as OpenAPI has it', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }))
  const document = (await server.get('/openapi.json')).body as Document
  t.match(document, { openapi: '3.1.0', info: { title: 'ptlite serve' } })
  const { Validator } = requireOfServe('@seriousme/openapi-schema-validator') as typeof import('@seriousme/openapi-schema-validator')
  t.match(await new Validator().validate({ ...structuredClone(document) }), { valid: true })
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { responses, requestBody }] of Object.entries(methods)) {
      const url = path.replace('{model}', 'affine').replace('{version}', '1')
      const answer: Answer = method === 'get' ? await server.get(url) : await server.post(url, '{')
      const text = JSON.stringify(answer.body)
      t.ok(String(answer.status) in responses, `${method} ${path}: ${answer.status}`)
      // what is not there says so by its path
      t.notMatch(text, /there is no (GET|POST)/, `${method} ${path}`)
      t.equal(requestBody !== undefined, method === 'post', `${method} ${path}`)
    }
})

t.test('paths that are there take some methods alone', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }))
  const wrong = async (path: string, method: string): Promise<Answer> => server.get(path, { method })
  const put = await wrong('/v2/models', 'PUT')
  t.match(put, { status: 405, body: { error: '/v2/models takes GET, HEAD, found PUT' } })
  t.equal(put.headers.get('allow'), 'GET, HEAD')
  t.equal((await wrong('/v2/models/affine/infer', 'GET')).headers.get('allow'), 'POST')
  t.equal((await wrong('/v2/models/affine/versions/1?x=y', 'DELETE')).headers.get('allow'), 'GET, HEAD')
  t.match(await wrong('/v1/completions', 'GET'), { status: 405, body: { error: { type: 'invalid_request_error' } } })
  t.equal((await wrong('/v2/model', 'GET')).status, 404)
  t.equal((await wrong('/v2/models//infer', 'GET')).status, 404)
})

t.test('the page and its files', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }), { tokens: ['secret'] })
  const page = await server.get('/')
  t.match(page, { status: 200, body: /<!doctype html>[^]*Try it/ })
  t.match(page.headers.get('content-security-policy'), /default-src 'self'/)
  // each file that one of them names is there without a token
  for (const path of String(page.body).match(/page\/[\w.]+/g) ?? []) {
    const file = await server.get(`/${path}`)
    t.match(file, { status: 200 })
    for (const [, name] of String(file.body).matchAll(/from '\.\/([\w.]+)'/g)) t.match(await server.get(`/page/${name!}`), { status: 200 })
  }
  t.match(await server.get('/openapi.json'), { status: 401 })
  const document = (await server.get('/openapi.json', { headers: { Authorization: 'Bearer secret' } })).body as Document
  t.strictSame(document.security, [{ token: [] }])
  t.ok('401' in document.paths['/v2']!['get']!.responses)
  t.notOk('401' in document.paths['/v2/health/live']!['get']!.responses)
})

t.test('models are listed with their state', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl'), 'broken.ptl': new Uint8Array(10) }))
  t.match(await server.get('/v2/models'), {
    status: 200,
    body: {
      models: [
        { name: 'affine', version: '1', state: 'READY', reason: '' },
        { name: 'broken', version: '1', state: 'UNAVAILABLE', reason: /./ },
      ],
    },
  })
})

t.test('metadata have what the first answered request has shown', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }))
  const metadata = async (): Promise<unknown> => (await server.get('/v2/models/affine')).body
  t.match(await metadata(), { inputs: [{ name: 'x', datatype: '', shape: [-1] }] })
  t.equal((await server.infer('affine', [{ name: 'x', datatype: 'BYTES', shape: [1], data: ['a'] }])).status, 400)
  t.match(await metadata(), { inputs: [{ name: 'x', datatype: '', shape: [-1] }] }, 'a failure shows nothing')
  t.equal((await server.infer('affine', [{ name: 'x', datatype: 'FP32', shape: [1, 4], data: [1, 2, 3, 4] }])).status, 200)
  const shown = { datatype: 'FP32', shape: [-1, -1] }
  t.match(await metadata(), { inputs: [{ name: 'x', ...shown }], outputs: [{ name: 'output0', ...shown }] })
})
