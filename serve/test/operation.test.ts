import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { getPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fixture, input, put, repository, start, type Answer, type Started } from './support/server.js'

const ONES = input(
  'x',
  'FP32',
  [1000],
  Array.from({ length: 1000 }, () => 1),
)
const AFFINE = { inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 4] }], outputs: [{ name: 'y', datatype: 'FP32', shape: [-1, 4] }] }

function steps(server: Started, n: number, parameters: object = {}): Promise<Answer> {
  return server.infer('steps', [ONES, input('n', 'INT64', [1], [n])], { parameters })
}

/** A run that lasts until its client goes. */
function endless(server: Started): { readonly answer: Promise<Answer>; end(): Promise<void> } {
  const client = new AbortController()
  const answer = server.post('/v2/models/steps/infer', { inputs: [ONES, input('n', 'INT64', [1], [1e9])] }, { signal: client.signal })
  answer.catch(() => undefined)
  return {
    answer,
    async end() {
      client.abort()
      await answer.catch(() => undefined)
    },
  }
}

function row(i: number): object {
  return input('x', 'FP32', [1, 4], [i, i, i, i])
}

/** Waits until something holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000
  while (performance.now() < end) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('it did not come to that within a minute')
}

async function inFlight(server: Started): Promise<number> {
  return Number(/ptlite_serve_in_flight\{model="steps",version="1"\} (\d+)/.exec(String((await server.get('/metrics')).body))?.[1])
}

t.test('requests are put into batches, and get their own rows', async (t) => {
  const batching = { maxSize: 4, delayMs: 50 }
  const server = await start(
    t,
    repository(t, { 'affine/1/model.ptl': fixture('affine.ptl'), 'affine/config.json': { ...AFFINE, batching } }),
    { workers: 1 },
  )
  const answers = await Promise.all(Array.from({ length: 13 }, (_, i) => server.infer('affine', [row(i)])))
  for (const [i, { body }] of answers.entries())
    t.match(body, { outputs: [{ shape: [1, 4], data: Array.from({ length: 4 }, () => 2 * i + 1) }] })
  const { model_stats: all } = (await server.get('/v2/models/affine/stats')).body as {
    model_stats: [{ inference_count: number; execution_count: number; batch_stats: { batch_size: number }[] }]
  }
  t.equal(all[0].inference_count, 13)
  t.ok(all[0].execution_count < 13, `${all[0].execution_count} runs`)
  t.ok(all[0].batch_stats.some(({ batch_size }) => batch_size === 4))
  t.ok(
    all[0].batch_stats.every(({ batch_size }) => [1, 2, 4].includes(batch_size)),
    'sizes that it was warmed up for',
  )
  const mixed = await Promise.all([
    server.infer('affine', [input('x', 'FP32', [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])]),
    server.infer('affine', [row(9)]),
    server.infer('affine', [
      input(
        'x',
        'FP32',
        [6, 4],
        Array.from({ length: 24 }, (_, i) => i),
      ),
    ]),
  ])
  t.match(mixed[0].body, { outputs: [{ shape: [2, 4], data: [3, 5, 7, 9, 11, 13, 15, 17] }] })
  t.match(mixed[1].body, { outputs: [{ shape: [1, 4], data: [19, 19, 19, 19] }] })
  t.match(mixed[2].body, { outputs: [{ shape: [6, 4] }] }, 'more rows than a batch has')
})

t.test('a model whose rows cannot be batched is refused where its config says so', async (t) => {
  const folder = repository(t, { 'total/1/model.ptl': fixture('total.ptl'), 'total/config.json': { batching: {}, stateful: true } })
  const server = await start(t, folder, { workers: 1 })
  t.match(await server.get('/v2/models/total'), { status: 404, body: { error: /stateful model cannot be in one batch/ } })
})

t.test('queues have an end, and the first come first', async (t) => {
  const server = await start(t, repository(t, { 'steps.ptl': fixture('steps.ptl') }), { workers: 1, queueSize: 2 })
  const running = endless(server)
  await until(async () => (await inFlight(server)) === 1)
  const order: string[] = []
  const waiting = [
    steps(server, 1).then(({ status }) => order.push(`usual ${status}`)),
    steps(server, 1, { priority: 1 }).then(({ status }) => order.push(`first ${status}`)),
  ]
  await until(async () => (await inFlight(server)) === 3)
  const refused = await steps(server, 1)
  t.match(refused, { status: 503, body: { error: /2 requests wait/ } })
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  await running.end()
  await Promise.all(waiting)
  t.strictSame(order, ['first 200', 'usual 200'])
})

t.test('deadlines hold in the queue and in the run', async (t) => {
  const server = await start(t, repository(t, { 'steps/1/model.ptl': fixture('steps.ptl'), 'steps/config.json': { timeoutMs: 600 } }), {
    workers: 1,
  })
  const started = performance.now()
  const all = await Promise.all([steps(server, 1e9), steps(server, 1, { timeout: 100_000 })])
  t.strictSame(
    all.map(({ status }) => status),
    [504, 504],
  )
  t.match(all[1].body, { error: 'the request was not answered within 100 ms' })
  t.ok(performance.now() - started < 30_000)
  const headers = { 'Inference-Timeout-Ms': '50' }
  const body = { inputs: [ONES, input('n', 'INT64', [1], [1e9])] }
  t.equal((await server.post('/v2/models/steps/infer', body, { headers })).status, 504)
  await until(async () => (await steps(server, 1)).status === 200)
})

t.test('a client that goes ends its run', async (t) => {
  const server = await start(t, repository(t, { 'steps.ptl': fixture('steps.ptl') }), { workers: 1 })
  const body = JSON.stringify({ inputs: [ONES, input('n', 'INT64', [1], [1e9])] })
  const request = httpRequest(`${server.url}/v2/models/steps/infer`, { method: 'POST' })
  request.on('error', () => undefined)
  request.end(body)
  await until(async () => (await inFlight(server)) === 1)
  request.destroy()
  await until(async () => (await inFlight(server)) === 0)
  t.equal((await steps(server, 1, { timeout: 5_000_000 })).status, 200, 'the worker is free')
  const half = httpRequest(`${server.url}/v2/models/steps/infer`, { method: 'POST', headers: { 'Content-Length': 1000 } })
  half.on('error', () => undefined)
  half.write('{')
  await until(async () => String((await server.get('/metrics')).body).includes('ptlite_serve_body_bytes 1000'))
  half.destroy()
  await until(async () => String((await server.get('/metrics')).body).includes('ptlite_serve_body_bytes 0'))
})

t.test('sequences have a state of their own', async (t) => {
  const folder = repository(t, {
    'total/1/model.ptl': fixture('total.ptl'),
    'total/config.json': { stateful: { most: 2 } },
    'brief/1/model.ptl': fixture('total.ptl'),
    'brief/config.json': { stateful: { most: 1, idleMs: 200 } },
  })
  const server = await start(t, folder)
  const add = async (id: string | number, x: number, more: object = {}, model = 'total'): Promise<unknown> => {
    const answer = await server.infer(model, [input('x', 'FP32', [1], [x])], { parameters: { sequence_id: id, ...more } })
    return answer.status === 200 ? (answer.body as { outputs: [{ data: [number] }] }).outputs[0].data[0] : answer.status
  }
  t.equal(await add('a', 1, { sequence_start: true }), 1)
  t.equal(await add(7, 10, { sequence_start: true }), 10)
  t.equal(await add('c', 1, { sequence_start: true }), 503, 'two are as many as may')
  t.strictSame(await Promise.all([add('a', 1), add(7, 10)]), [2, 20])
  t.strictSame(await Promise.all([add('a', 1), add(7, 10)]), [3, 30])
  t.equal(await add('a', 1, { sequence_end: true }), 4)
  t.equal(await add('a', 1), 400, 'it has ended')
  t.equal(await add('a', 5, { sequence_start: true }), 5, 'and begins anew')
  t.equal(await add('a', 5, { sequence_start: true }), 5)
  t.equal((await server.infer('total', [input('x', 'FP32', [1], [1])])).status, 400, 'its requests have to be of a sequence')
  t.equal(await add('b', 1, { sequence_start: true }, 'brief'), 1)
  await until(async () => (await add('d', 1, { sequence_start: true }, 'brief')) === 1)
  t.equal(await add('b', 1, {}, 'brief'), 400, 'it has ended, as nobody went on with it')
})

t.test('a worker that ends is replaced; others go on', async (t) => {
  const server = await start(t, repository(t, { 'steps.ptl': fixture('steps.ptl') }), { workers: 2 })
  const two = [endless(server), endless(server)]
  await until(async () => (await inFlight(server)) === 2)
  await server.endWorker(0)
  t.equal((await Promise.race(two.map(({ answer }) => answer))).status, 503, 'the one that it ran gets an error')
  await until(async () => (await inFlight(server)) === 1)
  for (const { end } of two) await end()
  await until(async () => (await inFlight(server)) === 0)
  const answers = await Promise.all(Array.from({ length: 8 }, () => steps(server, 100)))
  t.ok(answers.every(({ status }) => status === 200))
  await until(async () => String((await server.get('/metrics')).body).includes('ptlite_serve_worker_restarts_total 1'))
  await server.endWorker(1)
  await server.endWorker(0)
  t.equal((await steps(server, 1)).status, 200, 'with all of them gone requests wait')
})

t.test('a model is loaded again without a request lost', async (t) => {
  const folder = repository(t, { 'model/1/model.ptl': fixture('affine.ptl') })
  const server = await start(t, folder, { inline: 0 })
  let isOver = false
  let answers = 0
  const wrong: unknown[] = []
  const client = async (): Promise<void> => {
    while (!isOver) {
      const answer = await server.infer('model', [row(1)])
      answers++
      if (answer.status !== 200 || (answer.body as { outputs: [{ data: number[] }] }).outputs[0].data[0] !== 3) wrong.push(answer)
    }
  }
  const clients = [client(), client(), client()]
  for (let i = 0; i < 3; i++) t.equal((await server.post('/v2/repository/models/model/load')).status, 200)
  put(folder, 'model/2/model.ptl', fixture('affine.ptl'))
  t.equal((await server.post('/v2/repository/models/model/load')).status, 200)
  t.match((await server.infer('model', [row(1)])).body, { model_version: '2' })
  put(folder, 'model/2/model.ptl', { not: 'a model' })
  t.equal((await server.post('/v2/repository/models/model/load')).status, 400)
  t.match((await server.infer('model', [row(1)])).body, { model_version: '2' }, 'what was served goes on')
  isOver = true
  await Promise.all(clients)
  t.strictSame(wrong, [])
  t.ok(answers >= clients.length, `${answers} answers`)
  t.equal((await server.post('/v2/repository/models/model/unload')).status, 200)
  t.equal((await server.infer('model', [row(1)])).status, 404)
  t.match((await server.post('/v2/repository/index')).body, [{ name: 'model', version: '1', state: 'UNAVAILABLE' }, { version: '2' }])
  t.strictSame((await server.post('/v2/repository/index', { ready: true })).body, [])
  t.equal((await server.post('/v2/repository/models/none/load')).status, 404)
})

t.test('short calls are answered without a worker, long ones are not', async (t) => {
  const config = { ...AFFINE, inline: true, warmUp: [[{ datatype: 'FP32', shape: [1, 4] }]] }
  const folder = repository(t, {
    'affine/1/model.ptl': fixture('affine.ptl'),
    'affine/config.json': config,
    'steps/1/model.ptl': fixture('steps.ptl'),
    'steps/config.json': { inline: true },
  })
  const server = await start(t, folder)
  t.match((await server.infer('affine', [row(4)])).body, { outputs: [{ data: [9, 9, 9, 9] }] })
  t.match((await server.get('/v2/models/affine/stats')).body, { model_stats: [{ execution_count: 1, batch_stats: [] }] })
  t.equal((await steps(server, 20_000)).status, 200, 'begun here, and done by a worker')
  t.match((await server.get('/v2/models/steps/stats')).body, { model_stats: [{ execution_count: 1, batch_stats: [{ batch_size: 1 }] }] })
})

t.test('a run that is begun where it would take too long starts with its inputs as they came', async (t) => {
  const folder = repository(t, { 'count/1/model.ptl': fixture('count.ptl'), 'count/config.json': { inline: true } })
  const count = (server: Started, n: number): Promise<Answer> =>
    server.infer('count', [input('x', 'FP32', [2], [0.5, 1]), input('n', 'INT64', [1], [n])])
  for (const inline of [100, 0]) {
    const server = await start(t, folder, { workers: 1, inline })
    // short ones first, so that others are begun as such
    for (const n of [1, 2, 3, 200_000, 1, 200_000])
      t.match(await count(server, n), { status: 200, body: { outputs: [{ data: [n + 0.5, n + 1] }] } })
  }
})

t.test('a run that is longer than those before it can be cancelled all the same', async (t) => {
  const server = await start(t, repository(t, { 'steps.ptl': fixture('steps.ptl') }), { workers: 1, inline: 0 })
  for (const n of [1, 2, 3]) t.equal((await steps(server, n)).status, 200)
  const long = endless(server)
  await until(async () => (await inFlight(server)) === 1)
  await long.end()
  await t.rejects(long.answer)
  await until(async () => (await inFlight(server)) === 0)
  t.equal((await steps(server, 1)).status, 200)
})

t.test('a call that changes what the model keeps is made once, however long it takes', async (t) => {
  const server = await start(t, repository(t, { 'visits.ptl': fixture('visits.ptl') }), { workers: 1, inline: 0 })
  for (const [i, n] of [1, 2, 3, 200_000, 1, 200_000, 1].entries()) {
    const answer = await server.infer('visits', [input('x', 'FP32', [1], [0.5]), input('n', 'INT64', [1], [n])])
    t.match(answer, { status: 200, body: { outputs: [{}, { data: [i + 1] }] } })
  }
})

t.test('workers let the thread that answers go first', { skip: process.platform !== 'linux' }, async (t) => {
  const priorities = (): number[] =>
    readdirSync('/proc/self/task').map((id) => Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]!.split(' ')[16]))
  const own = getPriority(0)
  const folder = repository(t, { 'affine.ptl': fixture('affine.ptl') })
  for (const workerNice of [0, 7]) {
    const before = priorities().filter((each) => each === own + 7).length
    const server = await start(t, folder, { workers: 2, workerNice })
    const found = priorities().filter((each) => each === own + 7).length - before
    t.ok(workerNice === 0 ? found === 0 : found >= 2, `${found} threads`)
    t.equal(getPriority(0), own)
    await server.close()
  }
  await t.rejects(start(t, folder, { workerNice: 20 }), { message: /workerNice: expected a whole number from 0 to 19, found 20/ })
})

t.test('tokens, limits of bodies, and a repository that requests cannot change', async (t) => {
  const folder = repository(t, { 'affine.ptl': fixture('affine.ptl') })
  const server = await start(t, folder, { workers: 1, tokens: ['one', 'two'], repositoryApi: false, maxBody: 1000, maxBodies: 1500 })
  const headers = { Authorization: 'Bearer two' }
  t.match(await server.get('/v2'), { status: 401, body: { error: /Bearer/ } })
  t.equal((await server.get('/v2', { headers: { Authorization: 'Bearer three' } })).status, 401)
  t.equal((await server.infer('affine', [row(1)])).status, 401)
  t.equal((await server.get('/metrics')).status, 401)
  t.equal((await server.get('/v2/health/live')).status, 200)
  t.equal((await server.get('/v2', { headers })).status, 200)
  t.match(await server.post('/v2/repository/models/affine/load', {}, { headers }), { status: 400, body: { error: /on request/ } })
  t.match(await server.post('/v2/models/affine/infer', `${' '.repeat(1000)}{}`, { headers }), {
    status: 413,
    body: { error: /at most 1000/ },
  })
  const chunked = httpRequest(`${server.url}/v2/models/affine/infer`, { method: 'POST', headers })
  for (let i = 0; i < 20; i++) chunked.write(' '.repeat(100))
  chunked.end()
  const [{ statusCode }] = (await once(chunked, 'response')) as [{ statusCode: number }]
  t.equal(statusCode, 413, 'without a length, too')
})

t.test('the end waits for what has come', async (t) => {
  const server = await start(t, repository(t, { 'steps.ptl': fixture('steps.ptl') }), { workers: 1 })
  const last = steps(server, 20_000)
  await until(async () => (await inFlight(server)) === 1)
  await server.close()
  t.equal((await last).status, 200)
  await t.rejects(server.get('/v2/health/live'))
})

t.test('models leave training mode, unless their config says that they stay in it', async (t) => {
  const model = fileURLToPath(new URL('../../test/fixtures/training/norm.ptl', import.meta.url))
  const folder = repository(t, {
    'norm/1/model.ptl': model,
    'trained/1/model.ptl': model,
    'trained/config.json': { eval: false },
  })
  const server = await start(t, folder, { workers: 1 })
  const { input: x, cases } = JSON.parse(readFileSync(new URL('../../test/fixtures/training/cases.json', import.meta.url), 'utf8')) as {
    readonly input: number[][]
    readonly cases: { readonly norm: { readonly eval: number[][]; readonly train: number[][][] } }
  }
  const differs = async (name: string, expected: readonly number[][]): Promise<boolean> => {
    const { body } = await server.infer(name, [input('x', 'FP32', [3, 8], x.flat())])
    const [{ data }] = (body as { readonly outputs: [{ readonly data: number[] }] }).outputs
    return expected.flat().some((value, i) => Math.abs(value - data[i]!) > 1e-4)
  }
  t.notOk(await differs('norm', cases.norm.eval))
  t.notOk(await differs('norm', cases.norm.eval), 'it gathers nothing')
  t.notOk(await differs('trained', cases.norm.train[0]!))
})
