import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { method, scriptArchive } from '../../test/formats/torchscript/archive.js'
import { answer as constant, endless, modelOf } from '../../test/limits/programs.js'
import { DEFAULT_CONFIG } from '../src/repository/config.js'
import { quoted } from '../src/protocol/error.js'
import { ServedModel } from '../src/models/served-model.js'
import { Pool } from '../src/workers/pool.js'
import { fixture, repository, start, type Started } from './support/server.js'

/* Models that do not come to an end, and requests that are nested without one. */

const X = { name: 'x', datatype: 'FP32', shape: [1, 4], data: [1, 2, 3, 4] }
/** A model of one tensor whose calls never end. */
const looping = scriptArchive(method('x: Tensor', 'Tensor', 'b = True', 'while b:', '  b = torch.gt(1, 0)', 'return x'))
const config = { inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 4] }] }
/** A model that answers, on a machine that is busy, too. */
const affine = { 'affine/1/model.ptl': fixture('affine.ptl'), 'affine/config.json': { timeoutMs: 30_000 } }

async function stateOf(server: Started, name: string): Promise<{ state: string; reason: string }> {
  const { body } = await server.post('/v2/repository/index')
  return (body as { name: string; state: string; reason: string }[]).find((each) => each.name === name)!
}

t.test('a model that loops in its warm-up is refused by name, and others answer', async (t) => {
  const folder = repository(t, {
    ...affine,
    'loop/1/model.pt': looping,
    'loop/config.json': config,
    // first in the order of names
    'a-loop/1/model.pt': looping,
    'a-loop/config.json': { ...config, warmUp: [[{ datatype: 'FP32', shape: [1, 4] }]], compile: 'eager' },
  })
  const server = await start(t, folder, { timeout: 3000 })
  for (const name of ['loop', 'a-loop']) {
    const { state, reason } = await stateOf(server, name)
    t.equal(state, 'UNAVAILABLE')
    t.match(reason, /took more than 3000 ms/)
    t.match(await server.infer(name, [X]), { status: 404, body: { error: /took more than 3000 ms/ } })
  }
  t.equal((await server.infer('affine', [X])).status, 200)
  const load = server.post('/v2/repository/models/loop/load')
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.infer('affine', [X])))
  t.ok(
    answers.every(({ status }) => status === 200),
    'while it is loaded, too',
  )
  t.match(await load, { status: 400, body: { error: /model 'loop': version 1: [^]*took more than 3000 ms/ } })
})

t.test('a model that loops where it is loaded, too', async (t) => {
  const setState = {
    ...endless,
    name: '__setstate__',
    instructions: endless.instructions.map((i, at) => (at === 0 ? (['STOREN', 1, 2] as const) : i)).toSpliced(1, 0, ['DROPR', 2, 0]),
  }
  const folder = repository(t, { ...affine, 'loop.ptl': modelOf([setState, constant]) })
  const server = await start(t, folder, { timeout: 3000, workers: 1 })
  t.match(await stateOf(server, 'loop'), { state: 'UNAVAILABLE', reason: /loading the module took more than/ })
  t.equal((await server.infer('affine', [X])).status, 200)
})

t.test('the end does not wait for a load', async (t) => {
  const folder = repository(t, { 'affine.ptl': fixture('affine.ptl'), 'loop/1/model.pt': looping, 'loop/config.json': config })
  const server = await start(t, folder, { load: ['affine'], drain: 1000 })
  const load = server.post('/v2/repository/models/loop/load').catch(() => null)
  while ((await stateOf(server, 'loop')).state !== 'LOADING') await new Promise((resolve) => setTimeout(resolve, 10))
  const begin = performance.now()
  await server.close()
  t.ok(performance.now() - begin < 6000)
  await load
})

/** A thread of a pool that does with a load what the model's path says. */
const THREAD = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ kind, start }) => {
  if (kind !== 'load') return
  const { slot, path } = start
  parentPort.postMessage({ kind: 'step', slot, milliseconds: 100 })
  if (path === 'hangs') for (;;);
  if (path === 'dies') throw new Error('no memory')
  parentPort.postMessage({ kind: 'loaded', slot, inputs: null, outputs: null, milliseconds: null, warning: null, results: null, failure: null })
})`

t.test('threads that hang or die in a load are replaced, and the model is given up', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-pool-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'thread.mjs'), THREAD)
  let deaths = 0
  const pool = new Pool({
    ...{ workers: 2, threads: 1, processors: 2, heapMegabytes: null, nice: 0, file: pathToFileURL(join(folder, 'thread.mjs')) },
    ...{ onReturn: () => undefined, onWarning: () => undefined, onDeath: () => void deaths++, onLoss: () => undefined },
  })
  t.teardown(() => pool.close())
  const model = (path: string, slot: number): ServedModel => {
    const served = new ServedModel(path, '1', slot, path, DEFAULT_CONFIG, null, 10, 1000, {} as ServedModel['metrics'])
    served.start = { slot, path } as NonNullable<ServedModel['start']>
    return served
  }
  const good = model('good', 1)
  await pool.load(good)
  await t.rejects(pool.describe(model('hangs', 5)), { status: 400, message: /hung for more than 5100 ms/ })
  await t.rejects(pool.describe(model('dies', 6)), { message: /have ended: no memory/ })
  t.equal(deaths, 0, 'in threads that answer nothing')
  await t.rejects(pool.load(model('hangs', 2)), { status: 400, message: /hung for more than 5100 ms/ })
  t.ok(pool.holds(good), 'the other thread goes on')
  await t.rejects(pool.load(model('dies', 3)), { message: /have ended: no memory/ })
  t.ok(deaths > 1)
  while (!pool.holds(good)) await new Promise((resolve) => setTimeout(resolve, 10))
  await pool.load(model('another', 4))
})

t.test('what is nested without end is refused, and the server goes on', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }))
  const deep = '['.repeat(1e6) + ']'.repeat(1e6)
  const objects = '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5)
  const input = JSON.stringify(X)
  const bodies = [
    deep,
    objects,
    '['.repeat(1e6),
    `{"inputs":${deep}}`,
    `{"inputs":[${deep}]}`,
    `{"inputs":[${objects}]}`,
    `{"inputs":[${input}],"outputs":${deep}}`,
    `{"inputs":[${input}],"parameters":${deep}}`,
    `{"inputs":[${input}],"parameters":{"a":${deep}}}`,
    `{"inputs":[${input}],"id":${deep}}`,
    `{"inputs":[{"name":${deep}}]}`,
    `{"inputs":[{"name":"x","datatype":${deep}}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":${deep}}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":[${deep}]}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":${deep}}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,${deep}]}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"parameters":{"binary_data_size":${deep}}}]}`,
    `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"parameters":${objects}}]}`,
  ]
  for (const body of bodies) {
    const { status, body: answer } = await server.post('/v2/models/affine/infer', body)
    t.equal(status, 400, body.slice(0, 80))
    t.ok((answer as { error: string }).error.length < 500)
    const headers = { 'Inference-Header-Content-Length': String(body.length) }
    const binary = await server.post('/v2/models/affine/infer', `${body}12345678`, { headers })
    t.equal(binary.status, 400, `${body.slice(0, 80)}, with binary data`)
  }
  const small = '['.repeat(4e5) + ']'.repeat(4e5)
  for (const body of [small, `{"ready":${small}}`]) t.equal((await server.post('/v2/repository/index', body)).status, 400)
  for (const body of [small, `{"parameters":{"a":${small}}}`])
    t.equal((await server.post('/v2/repository/models/affine/load', body)).status, 400)
  t.equal((await server.infer('affine', [X])).status, 200)
  t.equal(quoted({ a: [1, 'b'], c: null }), '{"a":[1,"b"],"c":null}')
  t.equal(quoted([[[[[[1]]]]]]), '[[[[[...]]]]]')
  t.ok(quoted('x'.repeat(1e6)).length <= 80)
})
