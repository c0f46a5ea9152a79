import t from 'tap'
import { generate, type Module, type Tensor, tensor } from '../../src/index.js'
import { continued, load, loadT5, tokensOf } from './fixtures.js'

const LLAMA = await load('llama-buffers')
const [short, middle] = continued.llama

for (const [name, network] of [
  ['llama-buffers', 'llama'],
  ['gpt2-buffers-step', 'gpt2'],
  ['gpt2-past', 'gpt2'],
  ['llama-past-dict', 'llama'],
  ['llama-past-rows', 'llama'],
  ['gpt2-whole', 'gpt2'],
  ['llama-padded', 'llama'],
  ['llama-tokens-place.pte', 'llama'],
  ['t5', 't5'],
] as const) {
  t.test(`${name}: the tokens of PyTorch`, async (t) => {
    const model = name === 't5' ? await loadT5() : await load(name)
    for (const { prompt, tokens } of continued[network]) {
      // these programs were exported for masks of 4 tokens and more
      if (name.startsWith('llama-past') && prompt.length < 4) continue
      const generation = generate(model, prompt, { maxTokens: 64 })
      t.strictSame(await tokensOf(generation), tokens, `a prompt of ${prompt.length}`)
      t.match(generation.usage, {
        promptTokens: name === 't5' ? 1 : prompt.length,
        cachedTokens: 0,
        completionTokens: 64,
        finishReason: 'length',
      })
    }
  })
}

for (const compile of ['off', 'eager'] as const) {
  t.test(`logits are those of a loop of calls, bit for bit (${compile})`, async (t) => {
    const found: Float32Array[] = []
    const logits = (values: Float32Array): void => void found.push(values.slice())
    await tokensOf(generate(await load('llama-buffers', { compile }), middle!.prompt, { maxTokens: 12, logits }))
    const other = await load('llama-buffers', { compile })
    const step = async (tokens: readonly number[], start: number): Promise<Float32Array> => {
      const places = tensor(tokens.map((_, i) => start + i), [tokens.length], 'int64') // prettier-ignore
      const args = [tensor([tokens], [1, tokens.length], 'int64'), places]
      // the thread behind run() compiles what call() leaves to the interpreter
      const logits = compile === 'off' ? other.call<Tensor>('forward', args) : await other.run<Tensor>('forward', args)
      return logits.select(1, -1).data() as Float32Array
    }
    const { prompt, tokens } = middle!
    const rows = [await step(prompt, 0)]
    for (const [i, token] of tokens.slice(0, 11).entries()) rows.push(await step([token], prompt.length + i))
    t.strictSame(found, rows)
  })
}

t.test('prompts in parts', async (t) => {
  const { prompt, tokens } = continued.llama[2]!
  const calls: number[] = []
  const counted = new Proxy(LLAMA, {
    get: (model, name) =>
      name === 'run'
        ? (...args: Parameters<Module['run']>) => {
            calls.push((args[1]![0] as Tensor).shape[1]!)
            return model.run(...args)
          }
        : (Reflect.get(model, name, model) as unknown),
  })
  t.strictSame(await tokensOf(generate(counted, prompt, { maxTokens: 3, chunk: 13 })), tokens.slice(0, 3))
  t.strictSame(calls, [13, 13, 4, 1, 1])
})

t.test('what ends it', async (t) => {
  const { prompt, tokens } = short!
  const at = tokens.findIndex((token) => token === 57)
  const stopped = generate(LLAMA, prompt, { stop: 57 })
  t.strictSame(await tokensOf(stopped), tokens.slice(0, at))
  t.equal(stopped.usage.finishReason, 'stop')

  const full = generate(LLAMA, prompt, { maxTokens: 1000 })
  t.equal((await tokensOf(full)).length, 96, 'as many tokens as the cache has room for, and one that is not put there')
  t.equal(full.usage.finishReason, 'length')

  const left = generate(LLAMA, prompt)
  for await (const { token } of left) {
    t.equal(token, tokens[0])
    break
  }
  t.match(left.usage, { finishReason: 'cancelled', completionTokens: 1 })

  const controller = new AbortController()
  const aborted = generate(LLAMA, prompt, { signal: controller.signal })
  await aborted.next()
  controller.abort(new Error('enough'))
  await t.rejects(aborted.next(), { message: 'enough' })
  await t.rejects(tokensOf(generate(LLAMA, Array<number>(97).fill(3))), { code: 'LIMIT_EXCEEDED' })
  t.strictSame(await tokensOf(generate(LLAMA, prompt, { maxTokens: 64 })), tokens, 'the model is as good as before')
})

t.test('the event loop goes on meanwhile', async (t) => {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await tokensOf(generate(LLAMA, short!.prompt, { maxTokens: 16 }))
  } finally {
    isOver = true
  }
  t.ok(turns >= 16, `${turns} turns for 16 tokens`)
})

t.test('prompts of other kinds, and drawing', async (t) => {
  const { prompt, tokens } = middle!
  for (const given of [
    new Int32Array(prompt),
    new BigInt64Array(prompt.map(BigInt)),
    tensor([prompt], [1, 7], 'int64'),
    { input_ids: prompt },
  ])
    t.strictSame(await tokensOf(generate(LLAMA, given, { maxTokens: 4 })), tokens.slice(0, 4))
  const drawn = (seed: number): Promise<number[]> =>
    tokensOf(generate(LLAMA, prompt, { maxTokens: 20, temperature: 1.5, topP: 0.95, seed }))
  t.strictSame(await drawn(1), await drawn(1))
  t.notSame(await drawn(1), await drawn(2))
  t.notSame(await drawn(1), tokens.slice(0, 20))
})

t.test('what it is not for', async (t) => {
  const code = 'INVALID_ARGUMENT'
  const tokens = async (...args: Parameters<typeof generate>): Promise<number[]> => tokensOf(generate(...args))
  await t.rejects(tokens(LLAMA, []), { code, message: /at least one token/ })
  await t.rejects(tokens(LLAMA, [1.5]), { code, message: /whole numbers/ })
  await t.rejects(tokens(LLAMA, tensor([[1], [2]], [2, 1], 'int64')), { code, message: /one sequence/ })
  await t.rejects(tokens({} as Module, [1]), { code, message: /expected a model/ })
  await t.rejects(tokens((await loadT5()).decoder, [1]), { code, message: /encoder_hidden_states/ })
  t.throws(() => generate(LLAMA, [1], { topk: 3 } as object), { code, message: /did you mean 'topK'/ })
  t.throws(() => generate(LLAMA, [1], { temperature: -1 }), { code })
  t.throws(() => generate(LLAMA, [1], { stop: 'end' }), { code, message: /takes a tokenizer/ })
})
