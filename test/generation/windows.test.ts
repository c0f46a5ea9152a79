import { readFileSync } from 'node:fs'
import t from 'tap'
import { generate, openSession } from '../../src/index.js'
import { type Continued, load, tokensOf } from './fixtures.js'

/** Of Gemma 3, as scripts/models/chat.py exports it: two of its three layers see 8 tokens back and keep 16, the other one keeps 96. */
const windows = JSON.parse(readFileSync(new URL('../fixtures/generation/windows.json', import.meta.url)).toString()) as Continued[]

for (const compile of ['eager', 'off'] as const)
  t.test(`tokens of transformers, within a ring and beyond it (${compile})`, async (t) => {
    const model = await load('windows', { compile })
    for (const { prompt, tokens } of windows)
      t.strictSame(await tokensOf(generate(model, prompt, { maxTokens: tokens.length })), tokens, `a prompt of ${prompt.length}`)
  })

t.test('going back in a conversation that is longer than a ring', async (t) => {
  const { prompt, tokens } = windows.at(-1)!
  for (const back of [1, 3, 4, 20]) {
    const session = await openSession(await load('windows'))
    t.equal(session.capacity, 96)
    t.strictSame(await tokensOf(session.generate(prompt, { maxTokens: 30 })), tokens.slice(0, 30))
    const start = 30 - back
    const again = session.generate([...prompt, ...tokens.slice(0, start)], { maxTokens: 8 })
    t.strictSame(await tokensOf(again), tokens.slice(start, start + 8), `${back} tokens`)
    // what is not kept any more is computed anew
    t.equal(again.usage.cachedTokens === 0, back > 3, `${again.usage.cachedTokens} of ${back} tokens back`)
    session.dispose()
  }
})
