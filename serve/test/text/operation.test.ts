import t from 'tap'
import { repository, start, type Started } from '../support/server.js'
import { clientOf, continued, network, textModel, wordsOf } from '../support/text.js'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A number of the metrics. */
async function metric(server: Started, line: string): Promise<number> {
  const text = String((await server.get('/metrics')).body)
  return Number(text.split('\n').find((each) => each.startsWith(`ptlite_serve_${line} `))?.split(' ').at(-1)) // prettier-ignore
}

const sequences = (server: Started, state: string): Promise<number> =>
  metric(server, `sequences{model="llama",version="1",state="${state}"}`)

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await condition());) {
    if (Date.now() > end) throw new Error('it did not come to be')
    await pause(10)
  }
}

t.test('sequences are generated together, each as if it were alone', async (t) => {
  for (const [name, file, expected] of [
    ['llama', 'llama-buffers', continued.llama],
    ['llama', 'gpt2-past', continued.gpt2],
    // whose sequences share calls; its mask has at least four tokens
    ['llama', 'llama-past-rows', [continued.llama[2], ...continued.llama.slice(1)]],
  ] as const) {
    const server = await start(t, repository(t, textModel(name, network(file), { slots: 3, copies: 2 })))
    const client = clientOf(server.url)
    const order: number[] = []
    const texts = await Promise.all(
      [0, 1, 2, 1, 0, 2, 1].map(async (which, i) => {
        const { prompt } = expected[which]!
        let text = ''
        const stream = await client.completions.create({ model: name, prompt, max_tokens: 24, temperature: 0, stream: true })
        for await (const { choices } of stream) {
          order.push(i)
          text += choices[0]?.text ?? ''
        }
        return [which, text] as const
      }),
    )
    for (const [which, text] of texts) t.equal(text, wordsOf(expected[which]!.tokens.slice(0, 24)))
    const [first = -1] = order
    const between = order.slice(order.indexOf(first), order.lastIndexOf(first))
    t.ok(new Set(between).size >= 3, 'all slots have their turns')
    t.equal(await metric(server, 'tokens_total{model="llama",version="1",kind="completion"}'), 7 * 24)
    t.equal(await metric(server, 'first_token_seconds_count{model="llama",version="1"}'), 7)
    t.equal(await metric(server, 'tokens_per_second_count{model="llama",version="1"}'), 7)
    t.equal(await sequences(server, 'running'), 0)
    await server.close()
  }
})

t.test('a client that goes away frees its slot', async (t) => {
  // never fills its cache within the test
  const server = await start(t, repository(t, textModel('llama', network('gpt2-whole'), { slots: 1 })), { queueSize: 1 })
  const client = clientOf(server.url)
  const ask = { model: 'llama', prompt: continued.gpt2[1]!.prompt, temperature: 0 }
  const controller = new AbortController()
  const stream = await client.completions.create({ ...ask, max_tokens: 88, stream: true }, { signal: controller.signal })
  const iterator = stream[Symbol.asyncIterator]()
  await iterator.next()
  const waiting = client.completions.create({ ...ask, max_tokens: 4 })
  await until(async () => (await sequences(server, 'waiting')) === 1)
  t.match(await server.post('/v1/completions', ask), { status: 503, body: { error: { type: 'server_error' } } }, 'the queue is full')
  controller.abort()
  t.equal((await waiting).choices[0]!.text, wordsOf(continued.gpt2[1]!.tokens.slice(0, 4)))
  await until(async () => (await sequences(server, 'running')) === 0)
  t.ok((await metric(server, 'tokens_total{model="llama",version="1",kind="completion"}')) < 20, 'it did not go on')
  t.equal(await metric(server, 'requests_total{model="llama",version="1",status="499"}'), 1)
})

t.test('requests have tokens, and times', async (t) => {
  const server = await start(t, repository(t, textModel('llama', network('gpt2-whole'))), { tokens: ['secret'] })
  await t.rejects(clientOf(server.url).models.list(), { status: 401, code: 'invalid_api_key' })
  const client = clientOf(server.url, 'secret')
  t.equal((await client.models.list()).data.length, 1)
  const ask = { model: 'llama', prompt: continued.gpt2[2]!.prompt, temperature: 0, max_tokens: 60 }
  await t.rejects(client.completions.create(ask, { headers: { 'Inference-Timeout-Ms': '1' } }), { message: /^504 / })
})

t.test('a model is loaded again, and what is generated goes on', async (t) => {
  const server = await start(t, repository(t, textModel('llama', network('llama-buffers'))))
  const client = clientOf(server.url)
  const { prompt, tokens } = continued.llama[1]!
  const stream = await client.completions.create({ model: 'llama', prompt, max_tokens: 60, temperature: 0, stream: true })
  let text = ''
  let reload: Promise<unknown> | null = null
  for await (const { choices } of stream) {
    reload ??= server.post('/v2/repository/models/llama/load')
    text += choices[0]?.text ?? ''
  }
  t.equal(text, wordsOf(tokens.slice(0, 60)))
  t.match(await reload, { status: 200 })
  t.equal(
    (await client.completions.create({ model: 'llama', prompt, max_tokens: 5, temperature: 0 })).choices[0]!.text,
    wordsOf(tokens.slice(0, 5)),
  )
})

t.test('a model that is none, or has no tokenizer, says so', async (t) => {
  const folder = repository(t, {
    ...textModel('llama', Buffer.from('not a model')),
    'bare/1/model.pt2': network('gpt2-past'),
    'bare/config.json': { text: {} },
    'wrong/1/model.pt2': network('gpt2-past'),
    'wrong/config.json': { text: { task: 'sing' } },
    ...textModel('vectors', network('gpt2-past'), { task: 'embed' }),
  })
  const server = await start(t, folder)
  const index = (await server.post('/v2/repository/index')).body as { name: string; reason: string }[]
  const reasons = Object.fromEntries(index.map(({ name, reason }) => [name, reason]))
  t.match(reasons['bare'], /no tokenizer; expected tokenizer.json/)
  t.match(reasons['wrong'], /text.task: expected "generate" or "embed" or "transcribe", found 'sing'/)
  t.match(reasons['llama'], /\S/)
  t.match(reasons['vectors'], /\S/)
})
