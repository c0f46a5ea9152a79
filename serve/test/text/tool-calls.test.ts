import t from 'tap'
import { generate, loadModule } from '../../../src/index.js'
import { repository, start } from '../support/server.js'
import { clientOf, network, textModel, tokenizer } from '../support/text.js'
import { ToolCalls } from '../../src/openai/tool-calls.js'
import { readChat } from '../../src/openai/chat.js'
import { Fields } from '../../src/openai/fields.js'

const TOOLS = new Set(['weather', 'time'])
type Found = readonly [text: string, ...calls: (readonly [name: string, given: string])[]]

function found(pieces: readonly string[]): Found {
  const calls = new ToolCalls(TOOLS)
  const said = [...pieces.map((piece) => calls.push(piece)), calls.end()]
  return [
    said.map(({ text }) => text).join(''),
    ...said.flatMap((each) => each.calls.map((call) => [call.function.name, call.function.arguments] as const)),
  ]
}

const CASES: readonly (readonly [string, Found])[] = [
  ['<tool_call>\n{"name": "weather", "arguments": {"city": "Bonn"}}\n</tool_call>', ['', ['weather', '{"city":"Bonn"}']]],
  [
    'Let me look. <tool_call>{"name":"time","arguments":{}}</tool_call>\n<tool_call>{"name":"weather","arguments":"{}"}</tool_call>',
    ['Let me look. ', ['time', '{}'], ['weather', '{}']],
  ],
  ['{"name": "weather", "parameters": {"city": "a } ] b"}}', ['', ['weather', '{"city":"a } ] b"}']]],
  ['<|python_tag|>{"name": "time", "parameters": {}}', ['', ['time', '{}']]],
  [
    '[TOOL_CALLS] [{"name": "time", "arguments": {}}, {"name": "weather", "arguments": {"city": "Ulm"}}]',
    ['', ['time', '{}'], ['weather', '{"city":"Ulm"}']],
  ],
  [' [{"name": "time"}]', ['', ['time', '{}']]],
  ['<tool_call>{"name": "time", "arguments": {}}', ['', ['time', '{}']]],
  // none of these are calls
  ['<tool_call>{"name": "rm", "arguments": {}}</tool_call>', ['<tool_call>{"name": "rm", "arguments": {}}</tool_call>']],
  ['<tool_call>{"name": "time"</tool_call> so', ['<tool_call>{"name": "time"</tool_call> so']],
  ['{"answer": 3}', ['{"answer": 3}']],
  ['[1, 2] are numbers', ['[1, 2] are numbers']],
  ['a < b and <tool', ['a < b and <tool']],
  ['{"name": "time", "arguments": {}} is how to ask', ['{"name": "time", "arguments": {}} is how to ask']],
  ['  ', ['  ']],
  ['', ['']],
]

t.test('calls in the forms of the common templates, however their text comes', (t) => {
  for (const [text, wanted] of CASES)
    for (const size of [1, 2, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
      const [said, ...calls] = found(pieces)
      t.strictSame([said.trimEnd(), ...calls], [wanted[0].trimEnd(), ...wanted.slice(1)], `${text} by ${size}`)
    }
  const long = `{"a": "${'x'.repeat(1 << 19)}`
  t.equal(found([long, '"}'])[0].length, long.length + 2)
  t.end()
})

t.test('chats', (t) => {
  const tools = [...TOOLS].map((name) => ({ type: 'function', function: { name } }))
  const read = (more: object): ReturnType<typeof readChat> =>
    readChat(Fields.of({ messages: [{ role: 'user', content: 'x' }], tools, ...more }), 'm')
  const ended = { reason: 'stop', isString: false, completionTokens: 3 } as const
  const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 3 }
  const text = '<tool_call>{"name":"time","arguments":{}}</tool_call>'
  const call = { id: /^call_/, type: 'function', function: { name: 'time', arguments: '{}' } }
  t.match(read({}).format.whole([{ text, pieces: [], ended }], usage), {
    choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
  })
  t.match(read({ tool_choice: 'none' }).format.whole([{ text, pieces: [], ended }], usage), {
    choices: [{ message: { content: text }, finish_reason: 'stop' }],
  })
  const { format } = read({ stream: true })
  const [first, second] = [`Wait ${text.slice(0, 20)}`, text.slice(20)].map((piece) => format.piece(0, { text: piece, token: null }))
  t.match(first, { choices: [{ delta: { content: 'Wait ' } }] })
  t.match(second, { choices: [{ delta: { tool_calls: [{ index: 0, ...call }] } }] })
  t.match(format.closing(0, ended, usage), { choices: [{ finish_reason: 'tool_calls' }] })
  t.end()
})

t.test("OpenAI's client, whole and streaming", async (t) => {
  // a network whose first token is written as a call, and whose second one ends the text
  const module = await loadModule(network('llama-buffers'))
  let [asked, first, second] = [20, 0, 0]
  for (; first === second; asked++) {
    const tokens: number[] = []
    for await (const { token } of generate(module, [asked], { maxTokens: 2 })) tokens.push(token)
    ;[first, second] = tokens as [number, number]
  }
  asked--
  const call = '<tool_call>{"name":"time","arguments":{"zone":"UTC"}}</tool_call>'
  const vocab = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [i === first ? call : `w${i}`, i]))
  const files = textModel('llama', network('llama-buffers'))
  const folder = repository(t, {
    ...files,
    'llama/tokenizer.json': { ...tokenizer, model: { ...tokenizer.model, vocab, unk_token: `w${asked}` } },
    'llama/tokenizer_config.json': { eos_token: `w${second}`, chat_template: '{{ messages[0].content }}' },
  })
  const client = clientOf((await start(t, folder)).url)
  const body = {
    ...{ model: 'llama', messages: [{ role: 'user' as const, content: `w${asked}` }], max_tokens: 8, temperature: 0 },
    tools: [{ type: 'function' as const, function: { name: 'time', parameters: {} } }],
  }
  const wanted = { content: null, tool_calls: [{ type: 'function', function: { name: 'time', arguments: '{"zone":"UTC"}' } }] }
  const { choices } = await client.chat.completions.create(body)
  t.match(choices, [{ message: wanted, finish_reason: 'tool_calls' }])
  const streamed = await client.chat.completions.stream({ ...body }).finalChatCompletion()
  t.match(streamed.choices, [{ message: { tool_calls: wanted.tool_calls }, finish_reason: 'tool_calls' }])
  const without = await client.chat.completions.create({ ...body, tool_choice: 'none' })
  t.match(without.choices, [{ message: { content: call }, finish_reason: 'stop' }])
})
