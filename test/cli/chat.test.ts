import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { continued } from '../generation/fixtures.js'
import { ptlite } from './in-process.js'

const dir = t.testdir({ tokenizer: {} })
const model = join(dir, 'llama.pt2')
writeFileSync(model, gunzipSync(readFileSync(new URL('../fixtures/generation/llama-buffers.pt2.gz', import.meta.url))))
const vocab = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`w${i}`, i]))
const parts = { truncation: null, padding: null, normalizer: null, post_processor: null, decoder: null, added_tokens: [] }
const tokenizer = {
  version: '1.0',
  ...parts,
  pre_tokenizer: { type: 'WhitespaceSplit' },
  model: { type: 'WordLevel', vocab, unk_token: 'w0' },
}
writeFileSync(join(dir, 'tokenizer/tokenizer.json'), JSON.stringify(tokenizer))
const words = (tokens: readonly number[]): string => tokens.map((token) => `w${token}`).join(' ')

t.test('ptlite chat continues a text', async (t) => {
  const { prompt, tokens } = continued.llama[1]!
  const { write } = process.stdout
  let written = ''
  process.stdout.write = (text: string | Uint8Array) => ((written += String(text)), true)
  try {
    const { status, stderr } = await ptlite(
      'chat',
      model,
      '--tokenizer',
      join(dir, 'tokenizer'),
      '--prompt',
      words(prompt),
      '--max-tokens',
      '6',
    )
    process.stdout.write = write
    t.strictSame([status, stderr], [0, ''])
    t.equal(written, `${words(tokens.slice(0, 6))}\n`)
  } finally {
    process.stdout.write = write
  }
})

t.test('wrong command lines', async (t) => {
  t.match(await ptlite('chat', model), { status: 2, stderr: /--tokenizer DIR/ })
  t.match(await ptlite('chat', model, '--tokenizer', dir), { status: 2, stderr: /cannot read .*tokenizer\.json/ })
  t.match(await ptlite('chat', model, '--tokenizer', join(dir, 'tokenizer'), '--temperature', 'x'), {
    status: 2,
    stderr: /expected a number/,
  })
})
