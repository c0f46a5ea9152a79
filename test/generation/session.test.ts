import t from 'tap'
import { openSession } from '../../src/index.js'
import { continued, load, loadT5, tokensOf } from './fixtures.js'

const [, middle, long] = continued.llama

for (const [name, network] of [
  ['llama-buffers', 'llama'],
  ['gpt2-past', 'gpt2'],
  ['gpt2-whole', 'gpt2'],
  ['llama-tokens-place.pte', 'llama'],
] as const) {
  t.test(`${name}: what was seen is not computed again`, async (t) => {
    const [, one, other] = continued[network]
    const session = await openSession(await load(name))
    const first = session.generate(one!.prompt, { maxTokens: 10 })
    t.strictSame(await tokensOf(first), one!.tokens.slice(0, 10))
    t.equal(session.tokens.length, 16, 'the last one was not needed')

    const next = session.generate([...one!.prompt, ...one!.tokens.slice(0, 10)], { maxTokens: 10 })
    t.strictSame(await tokensOf(next), one!.tokens.slice(10, 20))
    t.match(next.usage, { promptTokens: 17, cachedTokens: 16 })

    const fork = await session.fork()
    t.strictSame(await tokensOf(session.generate(other!.prompt, { maxTokens: 12 })), other!.tokens.slice(0, 12), 'something else')
    const prompt = [...one!.prompt, ...one!.tokens.slice(0, 20)]
    const forked = fork.generate(prompt, { maxTokens: 12 })
    t.strictSame(await tokensOf(forked), one!.tokens.slice(20, 32), 'the fork goes on where it was')
    t.equal(forked.usage.cachedTokens, 26)

    fork.rewind(9)
    t.strictSame(fork.tokens, [...one!.prompt, ...one!.tokens].slice(0, 9))
    const again = fork.generate(prompt.slice(0, 12), { maxTokens: 4 })
    t.strictSame(await tokensOf(again), one!.tokens.slice(5, 9))
    t.equal(again.usage.cachedTokens, 9)
    for (const one of [session, fork]) one.dispose()
    t.throws(() => session.generate([1]), { code: 'DISPOSED' })
  })
}

t.test('sessions of one model take turns', async (t) => {
  const model = await load('llama-buffers')
  const sessions = await Promise.all([openSession(model), openSession(model)])
  const [a, b] = sessions.map((session, i) => session.generate([middle!, long!][i]!.prompt, { maxTokens: 16 }))
  const found: [number[], number[]] = [[], []]
  for (let i = 0; i < 16; i++) {
    found[0].push((await a!.next()).value!.token)
    found[1].push((await b!.next()).value!.token)
  }
  t.strictSame(found, [middle!.tokens.slice(0, 16), long!.tokens.slice(0, 16)])

  // and at the same time
  await Promise.all([a!.return(), b!.return()])
  const both = sessions.map((session, i) => tokensOf(session.generate([middle!, long!][i]!.prompt, { maxTokens: 16 })))
  t.strictSame(await Promise.all(both), found)
})

t.test('one generation at a time', async (t) => {
  const session = await openSession(await load('gpt2-past'))
  const first = session.generate([1, 2])
  t.throws(() => session.generate([1]), { code: 'INVALID_ARGUMENT', message: /under way/ })
  t.throws(() => session.rewind(0), { code: 'INVALID_ARGUMENT' })
  await first.next()
  await first.return()
  t.throws(() => session.rewind(5), { code: 'INVALID_ARGUMENT' })
  session.rewind(0)
  t.strictSame(session.tokens, [])
})

t.test('the encoder runs once', async (t) => {
  const { prompt, tokens } = continued.t5[1]!
  const session = await openSession(await loadT5(), { input_ids: prompt })
  t.strictSame(await tokensOf(session.generate([0], { maxTokens: 9 })), tokens.slice(0, 9))
  t.strictSame(await tokensOf(session.generate([0, ...tokens.slice(0, 9)], { maxTokens: 9 })), tokens.slice(9, 18))
})

t.test('the state of a module', async (t) => {
  const model = await load('llama-buffers')
  const before = model.saveState()
  t.equal(before.bytes, 0)
  const session = await openSession(model)
  await tokensOf(session.generate(middle!.prompt, { maxTokens: 5 }))
  const state = model.saveState()
  t.ok(state.bytes >= 4 * 2 * 96 * 8 * 4, 'keys and values')
  const caches = (): unknown => ['key_cache_0', 'value_cache_1'].map((name) => [...model.parameters().get(name)!.data()])
  const kept = caches()
  await tokensOf(session.generate(long!.prompt, { maxTokens: 5 }))
  t.notSame(caches(), kept)
  for (let i = 0; i < 2; i++) {
    model.loadState(state)
    t.strictSame(caches(), kept)
  }
  t.throws(() => model.loadState(before), { code: 'INVALID_ARGUMENT', message: /after a first call/ })
  const other = await load('llama-buffers')
  t.throws(() => other.loadState(state), { code: 'INVALID_ARGUMENT', message: /another module/ })
  t.throws(() => model.loadState({} as typeof state), { code: 'INVALID_ARGUMENT' })
})
