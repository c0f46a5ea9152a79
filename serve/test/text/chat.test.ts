import t from 'tap'
import { repository, start, type Started } from '../support/server.js'
import { clientOf, network, textModel } from '../support/text.js'

/** Each message as its words, and tools as a word for each. */
const TEMPLATE =
  "{%- for tool in tools or [] %}{{ tool.function.name }} {% endfor -%}{%- for message in messages %}{{ message.role | replace('system', 'w1') | replace('user', 'w2') | replace('assistant', 'w3') | replace('tool', 'w4') }} {{ message.content }} {% for call in message.tool_calls or [] %}{{ call.function.arguments.word }} {% endfor %}{% endfor -%}{%- if add_generation_prompt %}w3{% endif -%}{%- if bad %}{{ raise_exception('no ' + bad) }}{% endif -%}"

let server: Started
let client: ReturnType<typeof clientOf>

t.before(async () => {
  const folder = repository(t, {
    ...textModel('llama', network('llama-buffers'), { slots: 2 }, TEMPLATE),
    ...textModel('plain', network('gpt2-past')),
  })
  server = await start(t, folder)
  client = clientOf(server.url)
})

/** What is generated behind these words. */
async function behind(words: string, count: number): Promise<{ text: string; tokens: number }> {
  const { choices, usage } = await client.completions.create({ model: 'llama', prompt: words, max_tokens: count, temperature: 0 })
  return { text: choices[0]!.text, tokens: usage!.prompt_tokens }
}

t.test('a conversation', async (t) => {
  const expected = await behind('w1 w10 w2 w20 w21 w3', 6)
  const answer = await client.chat.completions.create({
    model: 'llama',
    messages: [
      { role: 'developer', content: 'w10' },
      { role: 'user', content: [{ type: 'text', text: 'w20 ' }, { type: 'text', text: 'w21' }] }, // prettier-ignore
    ],
    ...{ max_completion_tokens: 6, temperature: 0, logprobs: true, top_logprobs: 3 },
  })
  t.match(answer, {
    object: 'chat.completion',
    model: 'llama',
    choices: [{ index: 0, message: { role: 'assistant', content: expected.text, refusal: null }, finish_reason: 'length' }],
    usage: { prompt_tokens: expected.tokens, completion_tokens: 6, total_tokens: expected.tokens + 6 },
  })
  const content = answer.choices[0]!.logprobs!.content!
  t.equal(content.length, 6)
  for (const { token, logprob, bytes, top_logprobs } of content) {
    t.ok(logprob <= 0)
    t.equal(Buffer.from(bytes!).toString(), token)
    t.strictSame([top_logprobs.length, top_logprobs[0]!.token], [3, token])
  }
})

t.test('streams', async (t) => {
  const { text } = await behind('w2 w20 w3', 7)
  const stream = client.chat.completions.stream({
    ...{ model: 'llama', messages: [{ role: 'user', content: 'w20' }], max_tokens: 7, temperature: 0 },
    stream_options: { include_usage: true },
  })
  const pieces: string[] = []
  stream.on('content', (piece) => pieces.push(piece))
  const whole = await stream.finalChatCompletion()
  t.equal(whole.choices[0]!.message.content, text)
  t.equal(pieces.join(''), text)
  t.ok(pieces.length >= 7)
  t.match(whole, { choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 7 } })
})

t.test('tools go through the template', async (t) => {
  const tools = ['w40', 'w41'].map((name) => ({ type: 'function' as const, function: { name, parameters: { type: 'object' } } }))
  const messages = [
    { role: 'user' as const, content: 'w20' },
    {
      role: 'assistant' as const,
      content: null,
      tool_calls: [{ id: 'a', type: 'function' as const, function: { name: 'w40', arguments: '{"word":"w30"}' } }],
    },
    { role: 'tool' as const, tool_call_id: 'a', content: 'w31' },
  ]
  const ask = async (more: object): Promise<string | null> => {
    const { choices } = await client.chat.completions.create({ model: 'llama', messages, tools, max_tokens: 5, temperature: 0, ...more })
    return choices[0]!.message.content
  }
  t.equal(await ask({}), (await behind('w40 w41 w2 w20 w3 w30 w4 w31 w3', 5)).text)
  t.equal(await ask({ tool_choice: 'none' }), (await behind('w2 w20 w3 w30 w4 w31 w3', 5)).text)
  await t.rejects(ask({ tool_choice: 'required' }), { message: /400 tool_choice: / })
})

t.test('what makes no sense is refused', async (t) => {
  const post = async (body: object): Promise<unknown> => {
    const { status, body: answer } = await server.post('/v1/chat/completions', {
      model: 'llama',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'w1' }],
      ...body,
    })
    return { status, ...(answer as { error: object }).error }
  }
  const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown
  for (const [param, body] of [
    ['messages', { messages: [] }],
    ['messages', { messages: 'w1' }],
    ['messages[0].role', { messages: [{ content: 'w1' }] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'w1' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }],
    ['messages[1]', { messages: [{ role: 'user', content: 'w1' }, 3] }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['modalities', { modalities: ['audio'] }],
    ['functions', { functions: [] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['body', { tools: deep }],
    ['n', { n: 3 }],
  ] as const)
    t.match(await post(body), { status: 400, type: 'invalid_request_error', param }, param)
  const deeper = `{"model":"llama","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  t.match(await server.post('/v1/chat/completions', deeper), { status: 400, body: { error: { param: 'body' } } })
  t.match(await post({ chat_template_kwargs: { bad: 'luck' } }), { status: 400, message: /no luck/ })
  t.match(await post({ model: 'plain' }), { status: 400, message: /no template for chats/ })
})
