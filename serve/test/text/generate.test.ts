import t from 'tap'
import { repository, start, type Started } from '../support/server.js'
import { continued, network, textModel, wordsOf } from '../support/text.js'

const [, { prompt, tokens }] = continued.llama as readonly [unknown, { prompt: number[]; tokens: number[] }]
const text_input = wordsOf(prompt)
let server: Started

t.before(async () => {
  server = await start(t, repository(t, textModel('llama', network('llama-buffers'))))
})

t.test('generate', async (t) => {
  const parameters = { max_tokens: 6, temperature: 0 }
  t.strictSame((await server.post('/v2/models/llama/generate', { id: 'one', text_input, parameters })).body, {
    ...{ id: 'one', model_name: 'llama', model_version: '1', text_output: wordsOf(tokens.slice(0, 6)) },
  })
  const more = { ...parameters, details: true, stop: ['w11'] }
  t.match((await server.post('/v2/models/llama/versions/1/generate', { text_input, parameters: more })).body, {
    text_output: `${wordsOf(tokens.slice(0, 3))} `,
    details: { finish_reason: 'stop_sequence', logprobs: [{ text: 'w16' }, { text: 'w8' }, { text: 'w49' }, { text: 'w11' }] },
  })
})

t.test('generate_stream', async (t) => {
  const answer = await server.post('/v2/models/llama/generate_stream', {
    text_input,
    parameters: { max_tokens: 4, temperature: 0, details: true },
  })
  t.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const events = String(answer.body).trim().split('\n\n').map((event) => JSON.parse(event.replace('data: ', '')) as object) // prettier-ignore
  t.equal(events.map((event) => (event as { text_output: string }).text_output).join(''), wordsOf(tokens.slice(0, 4)))
  t.match(events[0], { details: { token: { text: 'w16', logprob: Number } } })
  t.match(events.at(-1), { text_output: '', details: { finish_reason: 'length' } })
})

t.test('what makes no sense is refused', async (t) => {
  t.match(await server.post('/v2/models/none/generate', { text_input }), { status: 404, body: { error: /no model/ } })
  t.match(await server.post('/v2/models/llama/generate', {}), { status: 400, body: { error: /text_input/ } })
  t.match(await server.post('/v2/models/llama/generate', { text_input, parameters: { temperature: 'hot' } }), {
    status: 400,
    body: { error: /temperature/ },
  })
})
