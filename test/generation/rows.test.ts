import t from 'tap'
import { type LanguageModel, openSession, type Tensor } from '../../src/index.js'
import { continued, load, tokensOf } from './fixtures.js'

// its mask has at least four tokens
const [, middle, long] = continued.llama
const NAME = 'llama-past-rows'

/** A model that counts its calls, and the sequences in each. */
async function counted(): Promise<{ model: LanguageModel; rows: number[] }> {
  const module = await load(NAME)
  const rows: number[] = []
  const model: LanguageModel = {
    methods: module.methods,
    inputs: module.inputs,
    outputs: module.outputs,
    parameters: () => module.parameters(),
    call: (...args) => module.call(...args),
    saveState: () => module.saveState(),
    loadState: (state) => module.loadState(state),
    run: (method, args, options) => {
      rows.push((args![0] as Tensor).shape[0]!)
      return module.run(method, args, options)
    },
  }
  return { model, rows }
}

t.test('sequences of differing length share calls', async (t) => {
  const { model, rows } = await counted()
  const all = [middle!, long!, middle!, long!, long!]
  const found = await Promise.all(
    all.map(async ({ prompt }, i) => {
      const session = await openSession(model)
      return tokensOf(session.generate(prompt, { maxTokens: 20 + 4 * i }))
    }),
  )
  for (const [i, { tokens }] of all.entries()) t.strictSame(found[i], tokens.slice(0, 20 + 4 * i))
  t.ok(rows.length < 60, `${rows.length} calls for 140 tokens`)
  t.equal(Math.max(...rows), 5)
  t.equal(rows.at(-1), 1, 'those that have ended are in none')
})

t.test('sequences come and go, fork and go back', async (t) => {
  const { model } = await counted()
  const [a, b] = [await openSession(model), await openSession(model)]
  const first = Promise.all([a, b].map((session, i) => tokensOf(session.generate([middle!, long!][i]!.prompt, { maxTokens: 10 }))))
  t.strictSame(await first, [middle!.tokens.slice(0, 10), long!.tokens.slice(0, 10)])
  const c = await a.fork()
  const after = (which: typeof middle, from: number): number[] => [...which!.prompt, ...which!.tokens.slice(0, from)]
  const next = await Promise.all([
    tokensOf(b.generate(after(long, 10), { maxTokens: 8 })),
    tokensOf(c.generate(after(middle, 10), { maxTokens: 8 })),
    tokensOf(a.generate(after(middle, 4), { maxTokens: 8 })),
  ])
  t.strictSame(next, [long!.tokens.slice(10, 18), middle!.tokens.slice(10, 18), middle!.tokens.slice(4, 12)])
  b.dispose()
  const last = a.generate(after(middle, 12), { maxTokens: 5 })
  t.strictSame(await tokensOf(last), middle!.tokens.slice(12, 17))
  t.equal(last.usage.cachedTokens, 7 + 11, 'what it has seen stays')
  c.rewind(0)
  t.strictSame(await tokensOf(c.generate(long!.prompt, { maxTokens: 5 })), long!.tokens.slice(0, 5))
})

t.test('what one sequence has wrong is not the fault of the others', async (t) => {
  const { model } = await counted()
  const sessions = await Promise.all([1, 2, 3].map(() => openSession(model)))
  const bad = tokensOf(sessions[2]!.generate([1, 2, 3, 4, 5, 6, 1000], { maxTokens: 4 }))
  const good = [0, 1].map((i) => tokensOf(sessions[i]!.generate(middle!.prompt, { maxTokens: 6 })))
  await t.rejects(bad)
  for (const tokens of await Promise.all(good)) t.strictSame(tokens, middle!.tokens.slice(0, 6))

  const controller = new AbortController()
  const aborted = sessions[2]!.generate(long!.prompt, { maxTokens: 50, signal: controller.signal })
  const other = tokensOf(sessions[0]!.generate(long!.prompt, { maxTokens: 12 }))
  await aborted.next()
  controller.abort(new Error('enough'))
  await t.rejects(tokensOf(aborted), { message: 'enough' })
  t.strictSame(await other, long!.tokens.slice(0, 12))
})
