import t from 'tap'
import { generate, loadTokenizer } from '../../src/index.js'
import { continued, load } from './fixtures.js'

/** Token n is the word wn; 63 is special. */
export const tokenizer = {
  version: '1.0',
  ...{ truncation: null, padding: null, normalizer: null, post_processor: null, decoder: null },
  added_tokens: [{ id: 63, content: '</s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false }],
  pre_tokenizer: { type: 'WhitespaceSplit' },
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries([...Array.from({ length: 63 }, (_, i) => [`w${i}`, i] as const), ['</s>', 63] as const]),
    unk_token: 'w0',
  },
}
/** A template engine that writes what it is given. */
const jinja = {
  Template: class {
    constructor(readonly source: string) {}
    render({ messages, ...items }: Record<string, unknown>): string {
      const text = (messages as { content: string }[]).map(({ content }) => content).join(' ')
      return this.source === 'values' ? JSON.stringify(items) : `${text} ${String(items['eos_token'])}`
    }
  },
}

t.test('the files of a tokenizer', async (t) => {
  const config = { eos_token: { content: '</s>' }, chat_template: [{ name: 'default', template: 'text' }] }
  const found = await loadTokenizer({ tokenizer, config }, { jinja })
  t.strictSame(found.encode('w5 w6 w7'), [5, 6, 7])
  t.equal(found.decode([5, 63, 6], { skip_special_tokens: true }), 'w5 w6')
  t.strictSame(found.endTokens, [63])
  t.ok(found.hasTemplate)
  t.strictSame(found.chat([{ role: 'user', content: 'w1 w2' }]), [1, 2, 63])

  const other = await loadTokenizer({ tokenizer, config, template: 'values' }, { jinja })
  t.strictSame(JSON.parse(other.chatText([], { tools: [1] })), { eos_token: '</s>', add_generation_prompt: true, tools: [1] })
  const plain = await loadTokenizer({ tokenizer })
  t.strictSame([plain.hasTemplate, plain.endTokens], [false, []])
  t.throws(() => plain.chat([]), { code: 'INVALID_ARGUMENT', message: /no chat template/ })
  await t.rejects(loadTokenizer({ tokenizer: { model: 3 } }), { code: 'INVALID_ARGUMENT', message: /cannot be read/ })
  await t.rejects(loadTokenizer({ tokenizer: 'x' as unknown as object }), { code: 'INVALID_ARGUMENT', message: /JSON file/ })
})

t.test('words as they are generated', async (t) => {
  const model = await load('llama-buffers')
  const { prompt, tokens } = continued.llama[1]!
  let text = ''
  for await (const part of generate(model, prompt, { maxTokens: 8, tokenizer: await loadTokenizer({ tokenizer }) })) text += part.text!
  t.equal(text, tokens.slice(0, 8).map((token) => `w${token}`).join(' ')) // prettier-ignore
})
