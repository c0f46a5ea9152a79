import { readFileSync } from 'node:fs'
import t from 'tap'
import { generate, openSession } from '../../src/index.js'
import { type Continued, load, tokensOf } from './fixtures.js'

/** Its first layer keeps 16 tokens, of which it sees 8, the second one 96. */
const rings = JSON.parse(readFileSync(new URL('../fixtures/generation/rings.json', import.meta.url)).toString()) as Continued[]
const ROOM = 96
const long = rings.at(-1)!

for (const compile of ['auto', 'off'] as const)
  t.test(`a layer that keeps fewer tokens than the model sees (${compile})`, async (t) => {
    const model = await load('rings.pte', { compile })
    for (const { prompt, tokens } of rings) {
      t.strictSame(await tokensOf(generate(model, prompt, { maxTokens: 64 })), tokens, `a prompt of ${prompt.length}`)
      t.strictSame(await tokensOf(generate(model, prompt, { maxTokens: 64, draft: 'prompt', draftTokens: 9 })), tokens, 'with guesses')
    }
    const draft = await load('rings.pte', { compile })
    const guessed = generate(model, long.prompt, { maxTokens: 64, draft })
    t.strictSame(await tokensOf(guessed), long.tokens)
    t.ok(guessed.usage.acceptedTokens > 32, `${guessed.usage.acceptedTokens} were guessed`)
  })

t.test('going back, by less and by more than it keeps', async (t) => {
  const { prompt, tokens } = long
  for (const back of [1, 3, 4, 9, 30]) {
    const session = await openSession(await load('rings.pte'))
    t.strictSame(await tokensOf(session.generate(prompt, { maxTokens: 60 })), tokens.slice(0, 60))
    const start = 60 - back
    const again = session.generate([...prompt, ...tokens.slice(0, start)], { maxTokens: 4 })
    t.strictSame(await tokensOf(again), tokens.slice(start, start + 4), `${back} tokens`)
    // what is not kept any more is computed anew
    t.equal(again.usage.cachedTokens === 0, back > 3, `${again.usage.cachedTokens} of ${back} tokens back`)
    session.dispose()
  }
})

t.test('a fork goes back as the session that it is of', async (t) => {
  const { prompt, tokens } = long
  const session = await openSession(await load('rings.pte'))
  await tokensOf(session.generate(prompt, { maxTokens: 40 }))
  const fork = await session.fork()
  const [one, other] = await Promise.all([
    tokensOf(session.generate([...prompt, ...tokens.slice(0, 40)], { maxTokens: 20 })),
    tokensOf(fork.generate([...prompt, ...tokens.slice(0, 20)], { maxTokens: 20 })),
  ])
  t.strictSame([one, other], [tokens.slice(40, 60), tokens.slice(20, 40)])
})

t.test('what is wholly in the ring is not computed anew', async (t) => {
  const [{ prompt, tokens }] = rings as [Continued]
  const session = await openSession(await load('rings.pte'))
  await tokensOf(session.generate(prompt, { maxTokens: 14 }))
  const again = session.generate([...prompt, ...tokens.slice(0, 3)], { maxTokens: 6 })
  t.strictSame(await tokensOf(again), tokens.slice(3, 9))
  t.equal(again.usage.cachedTokens, 3)
})

t.test('a program that does not say what it has room for, or what its buffers are called', async (t) => {
  const model = await load('rings.pte')
  t.strictSame(model.methods, ['forward'])
  t.notOk([...model.parameters().keys()].some((name) => name.includes('cache')))
  const session = await openSession(model)
  t.equal(session.capacity, ROOM)
  const generation = generate(model, long.prompt, { maxTokens: 1000 })
  const tokens = await tokensOf(generation)
  t.strictSame(tokens.slice(0, 64), long.tokens)
  t.match(generation.usage, { finishReason: 'length', completionTokens: ROOM + 1 - long.prompt.length })
  const more = Array.from({ length: ROOM + 1 }, () => 5)
  await t.rejects(tokensOf(generate(model, more)), { code: 'LIMIT_EXCEEDED', message: /room for 96/ })
})
