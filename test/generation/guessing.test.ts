import t from 'tap'
import {
  cat,
  generate,
  type GenerationOptions,
  type Module,
  openSession,
  type Output,
  PtliteError,
  type RunOptions,
  type Tensor,
  tensor,
} from '../../src/index.js'
import { continued, load, loadT5, tokensOf } from './fixtures.js'

/** Counts the calls of a model. */
function counted(model: Module): { readonly model: Module; readonly calls: () => number } {
  let calls = 0
  const get = (_: Module, name: string): unknown => {
    const value: unknown = Reflect.get(model, name, model)
    if (typeof value !== 'function') return value
    if (name === 'run') calls++
    return (value as (...args: unknown[]) => unknown).bind(model)
  }
  return { model: new Proxy(model, { get } as ProxyHandler<Module>), calls: () => calls }
}

for (const [name, network, draft] of [
  ['llama-buffers', 'llama', 'llama-past-dict'],
  ['gpt2-past', 'gpt2', 'gpt2-buffers-step'],
  ['llama-past-dict', 'llama', 'llama-buffers'],
  ['llama-past-rows', 'llama', 'llama-padded'],
  ['gpt2-whole', 'gpt2', 'gpt2-past'],
  ['llama-padded', 'llama', 'llama-buffers'],
] as const)
  t.test(`${name}: a draft changes no token`, async (t) => {
    const { prompt, tokens } = continued[network][1]!
    const { model, calls } = counted(await load(name))
    const guess = (options: GenerationOptions) => generate(model, prompt, { maxTokens: 48, ...options })
    // the same network in another form guesses what the model chooses
    const alike = guess({ draft: await load(draft), draftTokens: 3 })
    t.strictSame(await tokensOf(alike), tokens.slice(0, 48))
    t.ok(alike.usage.acceptedTokens >= 34, `${alike.usage.acceptedTokens} of 48 were guessed`)
    const withDraft = calls()
    await tokensOf(guess({}))
    const without = calls() - withDraft
    t.equal(without - withDraft, alike.usage.acceptedTokens, 'each token that was guessed takes no call')
    const repeated = guess({ draft: 'prompt' })
    t.strictSame(await tokensOf(repeated), tokens.slice(0, 48))
    t.equal(calls() - withDraft - without, without - repeated.usage.acceptedTokens)
    // a network whose guesses are wrong
    const other = guess({ draft: await load(network === 'llama' ? 'gpt2-past' : 'llama-buffers') })
    t.strictSame(await tokensOf(other), tokens.slice(0, 48))
  })

t.test('what is drawn is the same with a seed', async (t) => {
  const model = await load('llama-buffers')
  const { prompt } = continued.llama[2]!
  const options = { maxTokens: 40, seed: 7, temperature: 0.7, topK: 20, repetitionPenalty: 1.2, logprobs: true }
  const plain: number[] = await tokensOf(generate(model, prompt, options))
  for (const draft of ['prompt', await load('llama-past-dict')] as const) {
    const generation = generate(model, prompt, { ...options, draft })
    t.strictSame(await tokensOf(generation), plain)
    t.equal(generation.usage.completionTokens, 40)
  }
})

t.test('a program for one token at a time has nothing guessed', async (t) => {
  const { prompt, tokens } = continued.gpt2[1]!
  const generation = generate(await load('gpt2-buffers-step'), prompt, { maxTokens: 12, draft: 'prompt' })
  t.strictSame(await tokensOf(generation), tokens.slice(0, 12))
  t.equal(generation.usage.acceptedTokens, 0)
})

t.test('an encoder and a decoder', async (t) => {
  const { prompt, tokens } = continued.t5[1]!
  t.strictSame(await tokensOf(generate(await loadT5(), prompt, { maxTokens: 32, draft: 'prompt' })), tokens.slice(0, 32))
})

/** A draft that knows `vocabulary` tokens: of more of them than it has it guesses the last one after each that is odd. */
function knowing(draft: Module, vocabulary: number): Module {
  const size = { text: String(vocabulary), min: vocabulary, max: vocabulary }
  const [logits] = draft.outputs!
  const outputs = [{ ...logits!, shape: [...logits!.shape!.slice(0, -1), size] }]
  const run = async (method: string, args: readonly [Tensor, ...Tensor[]], options?: RunOptions): Promise<Output> => {
    const tokens = [...args[0].data()].map(Number)
    if (tokens.some((token) => token >= vocabulary)) throw new PtliteError('INVALID_ARGUMENT', 'an index is out of range')
    // what the network behind it lacks, it takes for another token
    const taken = tensor(
      tokens.map((token) => token % 64),
      args[0].shape,
      'int64',
    )
    const output = (await draft.run(method, [taken, ...args.slice(1)], options)) as Tensor
    const known = output.shape.at(-1)!
    if (vocabulary <= known) return output.slice(-1, 0, vocabulary)
    const [batch, count] = output.shape as [number, number]
    const more = Array.from({ length: batch * count * (vocabulary - known) }, () => (tokens.at(-1)! % 2 === 1 ? 1e4 : -1e4))
    return cat([output, tensor(more, [batch, count, vocabulary - known])], -1)
  }
  const get = (_: Module, name: string): unknown => {
    if (name === 'run') return run
    if (name === 'outputs') return outputs
    const value: unknown = Reflect.get(draft, name, draft)
    return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(draft) : value
  }
  return new Proxy(draft, { get } as ProxyHandler<Module>)
}

t.test('drafts that know more tokens, or fewer', async (t) => {
  const model = await load('llama-past-dict')
  const { prompt, tokens } = continued.llama[1]!
  const draft = await load('llama-buffers')
  const accepted: number[] = []
  for (const vocabulary of [64, 80, 32]) {
    const generation = generate(model, prompt, { maxTokens: 48, draft: knowing(draft, vocabulary) })
    t.strictSame(await tokensOf(generation), tokens.slice(0, 48), `${vocabulary} tokens`)
    accepted.push(generation.usage.acceptedTokens)
  }
  const [same, more, fewer] = accepted as [number, number, number]
  t.ok(more > 0 && more < same, `of ${same} guesses that are right ${more} are before one that is no token`)
  t.ok(fewer < same, `${fewer}, until there is a token that the draft does not know`)
})

t.test('a token that stops, the most tokens, and the end of the cache', async (t) => {
  const model = await load('llama-buffers')
  const draft = await load('llama-past-dict')
  const { prompt, tokens } = continued.llama[1]!
  const stop = tokens[9]!
  const end = tokens.indexOf(stop)
  const stopped = generate(model, prompt, { draft, stop })
  t.strictSame(await tokensOf(stopped), tokens.slice(0, end))
  t.match(stopped.usage, { finishReason: 'stop', stop, completionTokens: end })
  for (const maxTokens of [1, 2, 5, 6, 7])
    t.strictSame(await tokensOf(generate(model, prompt, { draft, maxTokens })), tokens.slice(0, maxTokens))
  const plain = await tokensOf(generate(model, prompt, { maxTokens: 1000 }))
  const full = generate(model, prompt, { draft, maxTokens: 1000 })
  t.strictSame(await tokensOf(full), plain)
  t.equal(full.usage.finishReason, 'length')
})

t.test('a session has seen what was given, and no guesses', async (t) => {
  const { prompt, tokens } = continued.llama[1]!
  for (const name of ['llama-buffers', 'llama-past-dict']) {
    const session = await openSession(await load(name))
    const draft = await load('llama-past-dict')
    const found: number[] = []
    for await (const { token } of session.generate(prompt, { draft })) if (found.push(token) === 8) break
    t.strictSame(found, tokens.slice(0, 8))
    const seen = [...prompt, ...found]
    t.ok(session.tokens.length >= seen.length - 1)
    t.strictSame(session.tokens, seen.slice(0, session.tokens.length))
    const next = session.generate(seen, { maxTokens: 8, draft })
    t.strictSame(await tokensOf(next), tokens.slice(8, 16))
    t.ok(next.usage.cachedTokens >= seen.length - 1)
    session.dispose()
  }
})

t.test('options that are none', async (t) => {
  const model = await load('gpt2-past')
  t.throws(() => generate(model, [1], { draft: 'other' as 'prompt' }), { code: 'INVALID_ARGUMENT', message: /draft/ })
  t.throws(() => generate(model, [1], { draft: 'prompt', draftTokens: 0 }), { code: 'INVALID_ARGUMENT', message: /draftTokens/ })
})
