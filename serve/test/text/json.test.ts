import t from 'tap'
import { Grammar, type State } from '../../src/text/json/grammar.js'
import { itemsOf } from '../../src/text/json/schema.js'
import { repository, requireOfServe, start, type Started } from '../support/server.js'
import { clientOf, network } from '../support/text.js'

type Schema = Record<string, unknown>

/** Whether a text is JSON of a schema: 'part' where it is the beginning of one. */
function read(schema: Schema | null, text: string): 'whole' | 'part' | null {
  const grammar = new Grammar()
  let state: State | null = grammar.start(itemsOf(schema).items)
  for (const character of text) if ((state = grammar.step(state, character)) === null) return null
  return state.rests.includes(null) ? 'whole' : 'part'
}

t.test('texts of schemas', async (t) => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' }, tags: { type: 'array', items: { enum: ['a', 'b"c'] }, maxItems: 2 } },
    required: ['name', 'tags'],
  }
  const tree = {
    $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, value: { type: ['number', 'null'] } } } },
    $ref: '#/$defs/node',
  }
  const loop = { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { const: 1 }] } }, $ref: '#/$defs/a' }
  for (const [schema, text, expected] of [
    [person, '{"name":"Ada","age":-36,"tags":["a","b\\"c"]}', 'whole'],
    [person, '{"name": "\\u00e9é\\n", "tags": []}', 'whole'],
    [person, '{"name":"Ada","tags":["a"', 'part'],
    [person, '{"name":"Ada","tags":["a","a","a"]}', null],
    [person, '{"name":"Ada"}', null],
    [person, '{"age":1,"name":"A","tags":[]}', null],
    [person, '{"name":"A\n"', null],
    [person, '{"name":"\\x"', null],
    [tree, '{"left":{"left":{},"value":-0.5e+10},"value":null}', 'whole'],
    [tree, '{"value":01}', null],
    [tree, '{"value":1.}', null],
    [loop, '1', 'whole'],
    [null, '{"a":[1,true,{"b":null}],"":""}', 'whole'],
    [null, '[]', null],
    [null, '{"a":1,}', null],
    [{}, '"x"', 'whole'],
    [{ type: 'array', minItems: 1 }, '[]', null],
    [{ type: 'array', minItems: 2, maxItems: 3 }, '[1,2,3]', 'whole'],
    [{ type: 'array', minItems: 2 }, '[1]', null],
    [{ type: 'array', minItems: 2 }, `[${'1,'.repeat(50)}1]`, 'whole'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, '{"x":true,"y":false}', 'whole'],
    [{ type: 'object', additionalProperties: false }, '{}', 'whole'],
    [{ enum: [1, 'two', null, { a: [1] }] }, '{"a":[1]}', 'whole'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '12', 'whole'],
    [{ type: 'integer' }, '1'.repeat(19), null],
  ] as const)
    t.equal(read(schema as Schema | null, text), expected, `${JSON.stringify(schema)}: ${text}`)
  for (const [schema, message] of [
    [{ type: 'string', pattern: 'x' }, /^pattern is not supported; there are type, /],
    [{ type: 'text' }, /^type: expected one of object, /],
    [{ $ref: 'http://example.com' }, /expected a place in the schema/],
    [{ $ref: '#/$defs/none' }, /there is no '#\/\$defs\/none'/],
    [{ type: 'object', required: ['a'] }, /required: there is no property 'a'/],
    [{ type: 'object', properties: { a: { type: 'object', properties: [] } } }, /^properties.a.properties: expected an object/],
    [{ type: 'array', maxItems: 1e9 }, /maxItems: expected a whole number up to 1000/],
    [{ type: 'array', items: [1] }, /items: expected an object/],
    [{ enum: ['x'.repeat(100_000)] }, /more than 65536 characters/],
    [{ anyOf: Array.from({ length: 2000 }, () => ({})) }, /more than 1000 schemas/],
  ] as const)
    t.throws(() => itemsOf(schema), { message }, JSON.stringify(schema).slice(0, 60))
})

const TEXTS = [
  ...'{}[]":,-.\\ 0123456789abcdefghijklmnopqrstuvwxyz',
  'true',
  'false',
  'null',
  '{"',
  '":',
  ', ',
  '"}',
  '\n',
  'é',
  'name',
  '12',
  '"a',
  'x"',
  'u0',
  ']}',
  '</s>',
].slice(0, 64)
/** Tokens are characters, and a few of them together. */
const tokenizer = {
  version: '1.0',
  ...{ truncation: null, padding: null, normalizer: null, post_processor: null, pre_tokenizer: null, decoder: { type: 'Fuse' } },
  added_tokens: [{ id: 62, content: '</s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false }],
  model: { type: 'WordLevel', vocab: Object.fromEntries(TEXTS.map((text, i) => [text, i])), unk_token: '{' },
}
let server: Started

t.before(async () => {
  const folder = repository(t, {
    'llama/1/model.pt2': network('llama-buffers'),
    'llama/config.json': { text: {} },
    'llama/tokenizer.json': tokenizer,
    'llama/chat_template.jinja': Buffer.from('{{ messages[0].content }}'),
  })
  server = await start(t, folder)
})

t.test('what a model says keeps to a schema', async (t) => {
  const { Ajv } = requireOfServe('ajv') as typeof import('ajv')
  const schema = {
    type: 'object',
    properties: {
      kind: { enum: ['a', 'null'] },
      name: { type: 'string' },
      count: { type: 'integer' },
      is: { type: 'boolean' },
      list: { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'boolean' }] }, minItems: 1, maxItems: 3 },
    },
    required: ['kind', 'name', 'count', 'is', 'list'],
    additionalProperties: false,
  }
  const isRight = new Ajv().compile(schema)
  const client = clientOf(server.url)
  // strings and numbers that come to their end within the cache
  const logit_bias = Object.fromEntries(['"', ',', ']', '}', '"}', ']}', 'x"'].map((text) => [TEXTS.indexOf(text), 6]))
  for (let seed = 1; seed <= 4; seed++) {
    const { choices } = await client.chat.completions.create({
      ...{ model: 'llama', seed, logit_bias, messages: [{ role: 'user', content: 'x' }] },
      response_format: { type: 'json_schema', json_schema: { name: 'it', schema, strict: true } },
    })
    t.equal(choices[0]!.finish_reason, 'stop')
    t.ok(isRight(JSON.parse(choices[0]!.message.content!)), choices[0]!.message.content!)
    const any = await client.chat.completions.create({
      ...{ model: 'llama', seed, logit_bias, messages: [{ role: 'user', content: 'x' }] },
      response_format: { type: 'json_object' },
    })
    t.equal(any.choices[0]!.finish_reason, 'stop')
    t.type(JSON.parse(any.choices[0]!.message.content!), Object)
  }
  const body = {
    model: 'llama',
    prompt: 'x',
    response_format: { type: 'json_schema', json_schema: { name: 'it', schema: { type: 'string', format: 'date' } } },
  }
  t.match(await server.post('/v1/completions', body), {
    status: 400,
    body: { error: { param: 'response_format', message: /format is not supported/ } },
  })
  t.match(await server.post('/v1/completions', { ...body, response_format: { type: 'json_schema' } }), { status: 400 })
})
