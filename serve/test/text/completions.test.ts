import t from 'tap'
import { repository, start, type Started } from '../support/server.js'
import { clientOf, continued, network, textModel, wordsOf } from '../support/text.js'

const [, middle, long] = continued.llama
let server: Started
let client: ReturnType<typeof clientOf>

t.before(async () => {
  const folder = repository(t, {
    ...textModel('llama', network('llama-buffers')),
    ...textModel('gpt2', network('gpt2-past')),
    ...textModel('padded', network('llama-padded')),
    ...textModel('broken', Buffer.from('not a model')),
  })
  server = await start(t, folder)
  client = clientOf(server.url)
})

t.test('models', async (t) => {
  const models = (await client.models.list()).data
  t.strictSame(models.map(({ id }) => id).sort(), ['gpt2', 'llama', 'padded'])
  t.match(await client.models.retrieve('llama'), { id: 'llama', object: 'model', owned_by: 'ptlite' })
  await t.rejects(client.models.retrieve('none'), { status: 404, code: 'model_not_found', type: 'invalid_request_error' })
  await t.rejects(client.models.retrieve('broken'), { status: 404, message: /is not served/ })
})

t.test('completions are those of transformers', async (t) => {
  for (const [model, network] of [
    ['llama', 'llama'],
    ['padded', 'llama'],
    ['gpt2', 'gpt2'],
  ] as const)
    // prettier-ignore
    for (const { prompt, tokens } of continued[network]) {
      const answer = await client.completions.create({ model, prompt, max_tokens: 12, temperature: 0 })
      t.match(answer, {
        object: 'text_completion',
        model,
        choices: [{ index: 0, text: wordsOf(tokens.slice(0, 12)), finish_reason: 'length', logprobs: null }],
        usage: { prompt_tokens: prompt.length, completion_tokens: 12, total_tokens: prompt.length + 12 },
      })
    }
})

t.test('what was seen is not computed again', async (t) => {
  const { prompt, tokens } = long!
  const ask = (count: number): ReturnType<typeof client.completions.create> =>
    client.completions.create({ model: 'gpt2:1', prompt: [...prompt, ...tokens.slice(0, count)], max_tokens: 4, temperature: 0 })
  await ask(0)
  const { usage } = (await ask(4)) as Awaited<ReturnType<typeof client.completions.create>> & { usage: { prompt_tokens_details: object } }
  t.strictSame(usage.prompt_tokens_details, { cached_tokens: prompt.length })
})

t.test('several prompts at once, as texts and as tokens', async (t) => {
  const prompts = [middle!, long!].map(({ prompt }) => wordsOf(prompt))
  const { choices, usage } = await client.completions.create({ model: 'llama', prompt: prompts, max_tokens: 6, temperature: 0 })
  t.strictSame(
    choices.map(({ text, index }) => [index, text]),
    [middle!, long!].map(({ tokens }, i) => [i, wordsOf(tokens.slice(0, 6))]),
  )
  t.match(usage, { prompt_tokens: 37, completion_tokens: 12 })
})

t.test('streams', async (t) => {
  const { prompt, tokens } = middle!
  const stream = await client.completions.create({
    ...{ model: 'llama', prompt, max_tokens: 8, temperature: 0, stream: true, logprobs: 2 },
    stream_options: { include_usage: true },
  })
  let text = ''
  const chunks = []
  for await (const chunk of stream) {
    chunks.push(chunk)
    text += chunk.choices[0]?.text ?? ''
  }
  t.equal(text, wordsOf(tokens.slice(0, 8)))
  t.match(chunks[0], { choices: [{ text: 'w16', logprobs: { tokens: ['w16'], text_offset: [0] }, finish_reason: null }], usage: null })
  t.equal(chunks[1]!.choices[0]!.logprobs!.text_offset![0], 3)
  t.equal(Object.keys(chunks[1]!.choices[0]!.logprobs!.top_logprobs![0]!).length, 2)
  t.match(chunks.at(-2), { choices: [{ text: '', finish_reason: 'length' }] })
  t.match(chunks.at(-1), { choices: [], usage: { prompt_tokens: 7, completion_tokens: 8, total_tokens: 15 } })

  const raw = await server.post('/v1/completions', { model: 'llama', prompt, max_tokens: 2, stream: true })
  t.equal(raw.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const events = String(raw.body).split('\n\n')
  t.strictSame(events.slice(-2), ['data: [DONE]', ''])
  t.ok(events.slice(0, -2).every((event) => event.startsWith('data: {"id":"cmpl-')))
})

t.test('how tokens are chosen', async (t) => {
  const { prompt, tokens } = middle!
  const ask = async (options: object): Promise<{ text: string; reason: string | null }> => {
    const { choices } = await client.completions.create({ model: 'gpt2', prompt: continued.gpt2[1]!.prompt, max_tokens: 12, ...options })
    return { text: choices[0]!.text, reason: choices[0]!.finish_reason }
  }
  const drawn = await ask({ seed: 7 })
  t.strictSame(await ask({ seed: 7 }), drawn)
  t.notSame(await ask({ seed: -8 }), drawn)
  t.notSame(await ask({ seed: 9, temperature: 2 }), drawn)
  const greedy = wordsOf(continued.gpt2[1]!.tokens.slice(0, 12))
  t.equal((await ask({ top_p: 0 })).text, greedy)
  t.equal((await ask({ top_k: 1 })).text, greedy)
  t.match((await ask({ temperature: 0, logit_bias: { 37: 100 } })).text, /^w37 w37 w37/)
  t.notMatch((await ask({ temperature: 0, presence_penalty: 2, frequency_penalty: 2 })).text, /w62 w62 w62/)

  const stopped = await client.completions.create({ model: 'llama', prompt, max_tokens: 20, temperature: 0, stop: ['w40', 'w7 w'] })
  t.match(stopped.choices[0], { text: `${wordsOf(tokens.slice(0, 4))} `, finish_reason: 'stop' })
})

t.test('what makes no sense is refused in the words of the interface', async (t) => {
  const post = async (body: unknown, path = 'completions'): Promise<unknown> => {
    const { status, body: answer } = await server.post(`/v1/${path}`, body)
    return { status, ...(answer as { error: object }).error }
  }
  const right = { model: 'llama', prompt: 'w1 w2', max_tokens: 1 }
  for (const [param, value] of [
    ['temperature', 3],
    ['temperature', '1'],
    ['top_p', 1.5],
    ['max_tokens', 0],
    ['max_tokens', 1e9],
    ['n', 2],
    ['best_of', 4],
    ['echo', true],
    ['suffix', 'x'],
    ['logprobs', 100],
    ['seed', 1.5],
    ['stop', ['']],
    ['stop', Array(17).fill('x')],
    ['logit_bias', { x: 1 }],
    ['logit_bias', { 1: 1000 }],
    ['stream', 'yes'],
    ['prompt', ''],
    ['prompt', 3],
    ['prompt', []],
    ['prompt', Array(100).fill('w1')],
  ] as const)
    t.match(
      await post({ ...right, [param]: value }),
      { status: 400, type: 'invalid_request_error', param, code: null, message: param },
      `${param}: ${JSON.stringify(value)}`,
    )
  t.match(await post({ ...right, prompt: [1, -1] }), { status: 400, param: 'prompt' })
  t.match(await post({ ...right, prompt: [1000] }), { status: 400, type: 'invalid_request_error' }, 'no token of the model')
  t.match(await post({ ...right, prompt: 'w1 '.repeat(200) }), { status: 400, message: /room for 96 tokens, and the prompt has 200/ })
  t.match(await post({ ...right, prompt: 'w'.repeat(100_000) }), { status: 400, message: /100000 characters; at most/ })
  t.match(await post({ ...right, model: undefined }), { status: 400, param: 'model' })
  t.match(await post({ ...right, model: 'none' }), { status: 404, code: 'model_not_found', param: 'model' })
  t.match(await post({ ...right, model: 'llama:1:2' }), { status: 404 })
  t.match(await post('{"model":'), { status: 400, message: /no JSON/ })
  t.match(await post('[]'), { status: 400, param: 'body' })
  t.match(await post({ ...right, input: 'w1' }, 'embeddings'), { status: 400, param: 'model', message: /gives no vectors/ })
  t.match(await post({}, 'audio/speech'), { status: 404, message: /no models that speak/ })
  t.match(await post({}, 'nothing'), { status: 404, type: 'invalid_request_error' })
  t.match(await post({ ...right, prompt: 'w1'.padEnd(17 << 20) }), { status: 413 })
  t.match(await server.infer('llama', []), { status: 400, body: { error: /takes text/ } })
  // and it goes on
  t.equal((await client.completions.create({ ...right, temperature: 0 })).choices.length, 1)
})
