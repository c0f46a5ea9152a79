import t from 'tap'
import { type SpeechSegment, tensor, transcribe, type TranscribeOptions } from '../../src/index.js'
import { featuresOf } from '../../speech/whisper/features.js'
import { type ExpectedSegment, expected, loadWhisper, RATE, sound, tokenizer } from './fixtures.js'

const { config, cases, features, timed } = expected.whisper
const model = await loadWhisper()
/** Without drawing: what is drawn is not PyTorch's. */
const ONE: TranscribeOptions = { config, temperature: 0 }
const OPTIONS: Readonly<Record<string, TranscribeOptions>> = {
  long: { language: 'de' },
  short: { language: 'English', task: 'translate' },
  found: {},
  silent: { language: 'de', logprobThreshold: -1.2, noSpeechThreshold: 0.001 },
  prompted: { language: 'de', prompt: [1, 2, 3, 4] },
}

const rounded = (segments: readonly SpeechSegment[]): ExpectedSegment[] =>
  segments.map(({ start, end, tokens }) => ({ start: Number(start.toFixed(4)), end: Number(end.toFixed(4)), tokens: [...tokens] }))
const caseOf = (name: string): (typeof cases)[number] => cases.find((each) => each.name === name)!

t.test('energies are those of WhisperFeatureExtractor', (t) => {
  const samples = sound(3.37)
  const found = featuresOf(tensor(samples, [samples.length]), 16)
  t.equal(found.frames, 337)
  const values = found.window(0, found.frames, found.frames).toArray() as number[][][]
  for (const [m, row] of features.entries())
    for (const [i, value] of row.entries())
      if (Math.abs(values[0]![m]![17 * i]! - value) > 2e-4) t.fail(`${m}, ${17 * i}: ${values[0]![m]![17 * i]}, not ${value}`)
  const last = found.window(300, 37, 100).toArray() as number[][][]
  t.equal(last[0]![3]![36], values[0]![3]![336])
  t.equal(last[0]![3]![37], 0, 'filled up with zeros')
  t.end()
})

for (const [name, options] of Object.entries(OPTIONS))
  for (const kind of ['whisper', 'whisper-cross'])
    t.test(`${kind}, ${name}: segments of transformers`, async (t) => {
      const { seconds, segments } = caseOf(name)
      const heard: SpeechSegment[] = []
      const found = await transcribe(kind === 'whisper' ? model : await loadWhisper(kind), sound(seconds), {
        ...ONE,
        ...options,
        onSegment: (segment) => heard.push(segment),
      })
      t.strictSame(rounded(found.segments), segments)
      t.strictSame(heard, found.segments)
      t.match(found, { duration: seconds, language: name === 'short' ? 'en' : 'de', text: '' })
    })

t.test('words, by where the decoder looked', async (t) => {
  const attentive = await loadWhisper('whisper-cross')
  const { seconds, segments } = timed
  const found = await transcribe(attentive, sound(seconds), { ...ONE, language: 'de', timestamps: 'word', tokenizer })
  t.strictSame(rounded(found.segments), segments.map(({ start, end, tokens }) => ({ start, end, tokens }))) // prettier-ignore
  t.ok(segments.length > 0)
  for (const [i, { tokens, times }] of segments.entries()) {
    const words = found.segments[i]!.words!
    const text = tokens.flatMap((token, place) => (token < 50 ? [[` w${token}`, times![place]!] as const] : []))
    t.strictSame(words.map((word) => [word.text, Number(word.start.toFixed(4))]), text.map((each) => [...each])) // prettier-ignore
    for (const { start, end } of words) t.ok(end >= start)
  }
  await t.rejects(transcribe(model, sound(0.5), { ...ONE, timestamps: 'word' }), { code: 'INVALID_ARGUMENT', message: /cross_attentions/ })
})

t.test('text, and what it is drawn from', async (t) => {
  const { text, segments } = await transcribe(
    model,
    { samples: tensor(sound(3.37), [1, 53920]), sampleRate: RATE },
    { ...ONE, tokenizer, language: 'de' },
  )
  t.equal(text, segments.map((segment) => segment.text).join('').trim()) // prettier-ignore
  t.match(text, /^w\d+ w\d+/)
  // unlikely tokens are drawn again, at each temperature in its turn
  const unlikely = { config, language: 'de', logprobThreshold: 0, noSpeechThreshold: Infinity, context: false }
  const drawn = async (seed: number, temperature = [0, 0.5, 0.9]): Promise<readonly SpeechSegment[]> =>
    (await transcribe(model, sound(0.9), { ...unlikely, temperature, seed })).segments
  const [one, again, other] = [await drawn(1), await drawn(1), await drawn(2)]
  t.strictSame(one, again)
  t.notSame(rounded(one), rounded(other))
  t.ok(one.length > 0 && one.every(({ temperature }) => temperature === 0.9))
  t.strictSame(await drawn(3, [0, 0.9]), await drawn(3, [0.9]), 'nothing is left of what was found before')
  const good = await transcribe(model, sound(0.9), { ...unlikely, logprobThreshold: -Infinity, compressionRatioThreshold: Infinity })
  t.ok(good.segments.every(({ temperature }) => temperature === 0))
})

t.test('without times', async (t) => {
  const { segments } = await transcribe(model, sound(2.5), {
    ...ONE,
    language: 'de',
    timestamps: false,
    compressionRatioThreshold: Infinity,
  })
  t.ok(segments.length > 0 && segments.length <= 3, 'one for a window')
  t.strictSame(segments.map(({ start, end }) => [start, end]), [[0, 1], [1, 2], [2, 2.5]].slice(0, segments.length)) // prettier-ignore
  t.ok(segments.every(({ tokens }) => tokens.every((token) => token < 59)))
})

t.test('what it is not for', async (t) => {
  const code = 'INVALID_ARGUMENT'
  const short = sound(0.3)
  await t.rejects(transcribe(model, short, {}), { code, message: /generation_config\.json/ })
  await t.rejects(transcribe(model, short, { ...ONE, language: 'fr' }), { code, message: /it knows en, de/ })
  await t.rejects(transcribe(model, short, { ...ONE, task: 'sing' as 'translate' }), { code, message: /'transcribe' or 'translate'/ })
  await t.rejects(transcribe(model, short, { ...ONE, prompt: 'w1' }), { code, message: /takes a tokenizer/ })
  await t.rejects(transcribe(model, short, { ...ONE, temprature: 0 } as object), { code, message: /did you mean 'temperature'/ })
  await t.rejects(transcribe({} as typeof model, short), { code, message: /expected a model/ })
  await t.rejects(transcribe(model, [1, 2] as unknown as Float32Array, ONE), { code, message: /expected a sound/ })
  await t.rejects(transcribe(model, new Float32Array(0), ONE), { code })
  await t.rejects(transcribe(model, tensor([[[0]]]), ONE), { code })
  const controller = new AbortController()
  const running = transcribe(model, sound(3.37), {
    ...ONE,
    signal: controller.signal,
    onSegment: () => controller.abort(new Error('enough')),
  })
  await t.rejects(running, { message: 'enough' })
  t.ok((await transcribe(model, new Float32Array(1), { ...ONE, language: 'en' })).duration < 0.001, 'one sample')
})
