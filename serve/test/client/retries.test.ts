import t from 'tap'
import { InferenceClient, type ClientOptions } from '../../client/index.js'
import { retryAfter } from '../../client/attempts.js'
import { answering, json } from './answering.js'

const EMPTY = { outputs: [] }
const options: ClientOptions = { binary: false }

t.test('after 503 and 429 a call waits as long as Retry-After says, and is made again', async (t) => {
  for (const status of [503, 429]) {
    let left = 2
    const { url, received } = await answering(t, (_, response) =>
      left-- > 0 ? json(response, { error: 'the queue is full' }, status, { 'retry-after': '0.2' }) : json(response, EMPTY),
    )
    // nothing was run, so that a step of a sequence is made again, too
    await new InferenceClient(url, options).infer('m', {}, { sequence: { id: 1 } })
    t.equal(received.length, 3)
    for (const i of [1, 2]) t.ok(received[i]!.at - received[i - 1]!.at >= 195, `${received[i]!.at - received[i - 1]!.at} ms`)
  }
})

t.test('and no longer than the call has', async (t) => {
  const { url, received } = await answering(t, (_, response) => json(response, { error: 'full' }, 503, { 'retry-after': '60' }))
  const start = performance.now()
  await t.rejects(new InferenceClient(url, options).infer('m', {}, { timeoutMs: 5000 }), {
    code: 'http',
    status: 503,
    message: 'full',
    retryAfterMs: 60_000,
  })
  t.ok(performance.now() - start < 2000)
  t.equal(received.length, 1)
})

t.test('Retry-After in its forms', (t) => {
  t.equal(retryAfter('3'), 3000)
  t.equal(retryAfter('Wed, 21 Oct 2015 07:28:05 GMT', Date.parse('2015-10-21T07:28:00Z')), 5000)
  t.equal(retryAfter('Wed, 21 Oct 2015 07:28:00 GMT', Date.parse('2016-01-01')), 0)
  t.equal(retryAfter('soon'), undefined)
  t.equal(retryAfter(null), undefined)
  t.end()
})

t.test('what is idempotent is made again after a lost connection', async (t) => {
  for (const how of ['before', 'within', '502'] as const) {
    let left = 2
    const { url, received } = await answering(t, (_, response) => {
      if (left-- <= 0) return json(response, EMPTY)
      if (how === '502') return json(response, '', 502)
      if (how === 'before') return response.socket!.destroy()
      response.writeHead(200, { 'content-length': 100 })
      response.write('{"outputs"', () => response.socket!.destroy())
    })
    await new InferenceClient(url, options).infer('m', {})
    t.equal(received.length, 3, how)
  }
})

t.test('what is not idempotent is not', async (t) => {
  const { url, received } = await answering(t, (_, response) => response.socket!.destroy())
  const client = new InferenceClient(url, options)
  await t.rejects(client.infer('m', {}, { sequence: { id: 1 } }), { code: 'connection', status: 0, message: /POST \/v2\/models\/m\/infer/ })
  await t.rejects(client.load('m'), { code: 'connection' })
  await t.rejects(client.unload('m'), { code: 'connection' })
  t.equal(received.length, 3)
})

t.test('the number of retries', async (t) => {
  const { url, received } = await answering(t, (_, response) => response.socket!.destroy())
  await t.rejects(new InferenceClient(url, { ...options, retries: 0 }).infer('m', {}), { code: 'connection' })
  t.equal(received.length, 1)
  await t.rejects(new InferenceClient(url, { ...options, retries: 2 }).infer('m', {}), { code: 'connection' })
  t.equal(received.length, 4)
})

t.test('a call ends when its time is over, and the connection with it', async (t) => {
  let closed = 0
  const { url } = await answering(t, (_, response) => response.on('close', () => closed++))
  await t.rejects(new InferenceClient(url, { ...options, timeoutMs: 100 }).infer('m', {}), { code: 'timeout', message: /within 100 ms/ })
  await t.rejects(new InferenceClient(url, options).infer('m', {}, { timeoutMs: 50 }), { code: 'timeout', message: /within 50 ms/ })
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(closed, 2)
})

t.test('a signal ends a call with its own reason', async (t) => {
  let closed = 0
  const { url, received } = await answering(t, (_, response) => response.on('close', () => closed++))
  const client = new InferenceClient(url, options)
  const controller = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 50)
  t.equal(await client.infer('m', {}, { signal: controller.signal }).catch((error: unknown) => error), reason)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(closed, 1)
  t.equal(await client.infer('m', {}, { signal: controller.signal }).catch((error: unknown) => error), reason)
  t.equal(received.length, 1, 'nothing is sent for a signal that was aborted before')
})

t.test('a signal ends the pause between attempts', async (t) => {
  const { url } = await answering(t, (_, response) => json(response, '', 503, { 'retry-after': '30' }))
  const start = performance.now()
  await t.rejects(new InferenceClient(url, options).infer('m', {}, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
  t.ok(performance.now() - start < 5000)
})
