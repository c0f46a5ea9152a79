import t from 'tap'
import { embed, loadModule, type Tensor } from '../../../src/index.js'
import { repository, start, type Started } from '../support/server.js'
import { clientOf, network, textModel } from '../support/text.js'

const file = network('gpt2-whole')
let server: Started
let client: ReturnType<typeof clientOf>

t.before(async () => {
  const folder = repository(t, {
    ...textModel('mean', file, { task: 'embed' }),
    ...textModel('last', file, { task: 'embed', pooling: 'last', normalize: false }),
  })
  server = await start(t, folder)
  client = clientOf(server.url)
})

/** What was compiled rounds otherwise than what was not. */
const near = (found: readonly { readonly index: number; readonly embedding: readonly number[] }[], rows: readonly number[][]): boolean =>
  found.length === rows.length &&
  found.every(({ index, embedding }, i) => index === i && rows[i]!.every((x, j) => Math.abs(x - embedding[j]!) < 1e-5))

t.test('vectors are those of the library', async (t) => {
  const texts = [[5, 6, 7], [9], [1, 2, 3, 4, 5]]
  const module = await loadModule(file)
  for (const [model, options] of [
    ['mean', {}],
    ['last', { pooling: 'last', normalize: false }],
  ] as const) {
    // prettier-ignore
    const expected: Tensor = await embed(module, texts, options)
    const rows = expected.toArray() as number[][]
    // the client asks for base64 by itself
    const found = await client.embeddings.create({ model, input: texts.map((text) => text.map((token) => `w${token}`).join(' ')) })
    t.ok(near(found.data, rows))
    t.match(found, { object: 'list', model, usage: { prompt_tokens: 9, total_tokens: 9 } })
    const numbers = await client.embeddings.create({ model, input: texts, encoding_format: 'float' })
    t.ok(near(numbers.data, rows))
  }
  const one = await client.embeddings.create({ model: 'mean', input: 'w9', dimensions: 64 })
  t.equal(one.data.length, 1)
})

t.test('what makes no sense is refused', async (t) => {
  const post = async (body: object): Promise<unknown> => {
    const { status, body: answer } = await server.post('/v1/embeddings', { model: 'mean', input: 'w1', ...body })
    return { status, ...(answer as { error: object }).error }
  }
  for (const [param, value] of [
    ['input', []],
    ['input', ''],
    ['input', ['w1', 3]],
    ['input', Array(3000).fill('w1')],
    ['encoding_format', 'hex'],
    ['dimensions', 32],
  ] as const)
    t.match(await post({ [param]: value }), { status: 400, type: 'invalid_request_error', message: new RegExp(`^${param}`) }, param)
  t.match(await post({ input: 'w1 '.repeat(200) }), { status: 400, message: /the model takes 96 tokens/ })
  t.match(await server.post('/v1/completions', { model: 'mean', prompt: 'w1' }), { status: 400, body: { error: { param: 'model' } } })
  t.match(await server.post('/v2/models/mean/generate', { text_input: 'w1' }), { status: 400, body: { error: /generates no text/ } })
})
