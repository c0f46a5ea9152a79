import t from 'tap'
import { type CtcOptions, ctcDecode, readArpa, tensor, transcribe, type WordModel } from '../../src/index.js'
import { expected, load, RATE, sound } from './fixtures.js'

const { drawn, vocabulary, ...wav2vec2 } = expected.wav2vec2

t.test('the likeliest tokens are those of Wav2Vec2CTCTokenizer', (t) => {
  const { text, spans, words, logprob } = ctcDecode(tensor(drawn.logits), { vocabulary })
  t.equal(text, drawn.text)
  t.match(text, / /)
  const texts = Object.keys(vocabulary)
  const letters = spans.flatMap(({ token, start, end }) => (token < 4 ? [] : [[texts[token]!.replace('|', ' '), start, end]]))
  t.strictSame(letters, drawn.letters)
  t.strictSame(words.map((word) => [word.text, word.start, word.end]), drawn.words) // prettier-ignore
  t.ok(logprob < 0)
  const list = ctcDecode(tensor([drawn.logits]), { vocabulary: texts, blank: 0 })
  t.equal(list.text, text)
  const tokens = ctcDecode(tensor(drawn.logits))
  t.strictSame([tokens.text, tokens.tokens], ['', spans.map(({ token }) => token)])
  t.end()
})

/** Numbers that look drawn. */
function numbers(seed: number): () => number {
  let state = seed
  return () => ((state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31) * 4 - 2
}

/** All that can be said in some frames, with the logarithm of its probability: the sum over all paths. */
function everything(logits: readonly (readonly number[])[], blank: number): Map<string, number> {
  const found = new Map<string, number>()
  const rows = logits.map((row) => {
    const sum = row.reduce((a, x) => a + Math.exp(x), 0)
    return row.map((x) => Math.exp(x) / sum)
  })
  const walk = (frame: number, tokens: readonly number[], last: number, p: number): void => {
    if (frame === rows.length) {
      const key = tokens.join()
      found.set(key, (found.get(key) ?? 0) + p)
      return
    }
    for (const [token, q] of rows[frame]!.entries())
      walk(frame + 1, token === blank || token === last ? tokens : [...tokens, token], token, p * q)
  }
  walk(0, [], -1, 1)
  return new Map([...found].map(([key, p]) => [key, Math.log(p)]))
}

t.test('beams find what is likeliest over all ways to say it', (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const next = numbers(seed)
    const logits = Array.from({ length: 7 }, () => Array.from({ length: 4 }, next))
    const all = everything(logits, 1)
    const [best] = [...all].sort((a, b) => b[1] - a[1])
    const found = ctcDecode(tensor(logits), { blank: 1, beams: 100_000 })
    t.equal(found.tokens.join(), best![0], `seed ${seed}`)
    t.ok(Math.abs(found.logprob - best![1]) < 1e-5)
    t.equal(found.spans.length, found.tokens.length)
    for (const [i, { start, end }] of found.spans.entries()) t.ok(end > start && start >= (found.spans[i - 1]?.end ?? 0))
    const few = ctcDecode(tensor(logits), { blank: 1, beams: 3 })
    t.ok(all.get(few.tokens.join())! <= best![1])
  }
  t.end()
})

const ARPA = `\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-99\t<s>\t-0.3
-1.0\t</s>
-2.0\t<unk>\t-0.2
-0.5\tab\t-0.4
-0.9\tb\t-0.1

\\2-grams:
-0.1\t<s> b
-0.7\tb ab
-0.2\tab </s>

\\end\\
`

t.test('n-grams, with what is between them', (t) => {
  const model = readArpa(ARPA)
  for (const [word, before, score] of [
    ['b', [], -0.1],
    ['ab', [], -0.8],
    ['ab', ['b'], -0.7],
    ['b', ['ab'], -1.3],
    ['zzz', ['ab'], -2.4],
    ['b', ['zzz'], -1.1],
  ] as const)
    t.ok(Math.abs(model.score(word, before) - score) < 1e-9, `${word} behind ${before.join()}: ${model.score(word, before)}`)
  t.ok(Math.abs(model.end!(['ab']) - -0.2) < 1e-9)
  t.ok(Math.abs(model.end!(['b']) - -1.1) < 1e-9)
  for (const wrong of ['', 'ngram', '\\data\\\n\\1-grams:\nx y', '\\data\\\n\\99-grams:\n'])
    t.throws(() => readArpa(wrong), { code: 'INVALID_FILE' })
  t.throws(() => readArpa(3 as unknown as string), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('a model of words', (t) => {
  const texts = ['<pad>', '|', 'a', 'b']
  const model = readArpa(ARPA)
  const weighed = (key: string, logprob: number, { wordWeight: weight = 0.5, wordBonus: bonus = 1.5 }: CtcOptions): number => {
    const words = key.split(',').map((token) => (token === '' ? '' : texts[Number(token)]!)).join('').split('|').filter((word) => word !== '') // prettier-ignore
    const said = words.map((word, i) => Math.LN10 * weight * model.score(word, words.slice(0, i)) + bonus)
    return said.reduce((a, b) => a + b, logprob) + Math.LN10 * weight * model.end!(words)
  }
  for (let seed = 1; seed <= 8; seed++) {
    const next = numbers(100 + seed)
    const logits = Array.from({ length: 7 }, () => Array.from({ length: 4 }, next))
    for (const options of [{}, { wordWeight: 2, wordBonus: 0 }]) {
      const all = [...everything(logits, 0)].map(([key, logprob]) => [key, weighed(key, logprob, options)] as const)
      const [best] = all.sort((a, b) => b[1] - a[1])
      const { tokens } = ctcDecode(tensor(logits), { ...options, vocabulary: texts, beams: 100_000, wordModel: model })
      const found = weighed(tokens.join(), everything(logits, 0).get(tokens.join())!, options)
      t.ok(Math.abs(found - best![1]) < 1e-5, `seed ${seed}: ${tokens.join()}, ${best![0]}`)
    }
  }
  const alone: WordModel = { score: (word) => (word === 'b' ? 0 : -20) }
  const two = tensor([[-9, -9, 1, 0.9], [1, -9, -9, -9]]) // prettier-ignore
  t.equal(ctcDecode(two, { vocabulary: texts, beams: 4 }).text, 'a')
  t.equal(ctcDecode(two, { vocabulary: texts, beams: 4, wordModel: alone }).text, 'b')
  t.throws(() => ctcDecode(two, { vocabulary: texts, wordModel: alone }), { code: 'INVALID_ARGUMENT', message: /beams of more than 1/ })
  t.end()
})

t.test('a network that takes samples', async (t) => {
  const model = await load('wav2vec2')
  const samples = sound(wav2vec2.seconds)
  const found = await transcribe(model, samples, { vocabulary })
  t.match(found, { text: wav2vec2.text, duration: wav2vec2.seconds, language: null })
  t.equal(found.segments.length, 1)
  const step = wav2vec2.seconds / wav2vec2.frames
  t.strictSame(
    found.segments[0]!.words!.map(({ text, start, end }) => [text, Math.round(start / step), Math.round(end / step)]),
    wav2vec2.words,
  )
  const stereo = { samples: tensor(new Float32Array([...samples, ...samples]), [2, samples.length]), sampleRate: RATE }
  t.equal((await transcribe(model, stereo, { vocabulary })).text, wav2vec2.text)
  t.type((await transcribe(model, samples, { vocabulary, beams: 8 })).text, 'string')
  // longer than a window: parts of it that overlap
  const long = await transcribe(model, sound(41), { vocabulary })
  t.equal(long.duration, 41)
  t.ok(long.segments[0]!.words!.every(({ start, end }, i, all) => end >= start && end <= 41 && start >= (all[i - 1]?.start ?? 0)))
  await t.rejects(transcribe(model, samples, { vocabulary: { a: 99 } }), { code: 'INVALID_ARGUMENT', message: /at most 14 tokens/ })
})

t.test('what it is not for', (t) => {
  const code = 'INVALID_ARGUMENT'
  const call =
    (logits: unknown, options?: object): (() => unknown) =>
    () =>
      ctcDecode(logits as Parameters<typeof ctcDecode>[0], options)
  t.throws(call([[1]]), { code })
  t.throws(call(tensor([1, 2])), { code, message: /float32\[frames, tokens\]/ })
  t.throws(call(tensor([[NaN, 1]])), { code, message: /no numbers/ })
  t.throws(call(tensor([[1, 2]]), { blank: 2 }), { code, message: /below 2/ })
  t.throws(call(tensor([[1, 2]]), { vocabulary: ['a', 'b', 'c'] }), { code, message: /at most 2/ })
  t.throws(call(tensor([[1, 2]]), { vocabulary: { a: -1 } }), { code })
  t.throws(call(tensor([[1, 2]]), { beam: 2 }), { code, message: /did you mean 'beams'/ })
  t.end()
})
