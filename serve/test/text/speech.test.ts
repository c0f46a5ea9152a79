import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { loadModule, transcribe, tensor, writeWav } from '../../../src/index.js'
import { repository, start, type Started } from '../support/server.js'
import { clientOf, continued, network, textModel, tokenizer, wordsOf } from '../support/text.js'
import { formOf } from '../../src/http/multipart.js'

const fixture = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`../../../test/fixtures/speech/${name}`, import.meta.url)))
const model = (name: string): Buffer => gunzipSync(fixture(`${name}.pt2.gz`))
const expected = JSON.parse(fixture('expected.json').toString()) as {
  readonly whisper: { readonly config: object }
  readonly wav2vec2: { readonly vocabulary: Record<string, number> }
}
const RATE = 16000
const samples = Float32Array.from({ length: 3.1 * RATE }, (_, i) => 0.4 * Math.sin((i * i) / 4e5) * Math.max(0, Math.sin(i / 900)))
const wav = writeWav(tensor(samples, [samples.length]), RATE, { format: 'float32' })
/** Of the size of Whisper's vocabulary. */
const words = {
  ...tokenizer,
  model: { ...tokenizer.model, vocab: Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`w${i}`, i])) },
}

let server: Started
let client: ReturnType<typeof clientOf>

t.before(async () => {
  const folder = repository(t, {
    'whisper/config.json': { text: { task: 'transcribe' } },
    'whisper/1/encoder.pt2': model('whisper-cross-encoder'),
    'whisper/1/decoder.pt2': model('whisper-cross-decoder'),
    'whisper/tokenizer.json': words,
    'whisper/generation_config.json': expected.whisper.config,
    'letters/config.json': { text: { task: 'transcribe' } },
    'letters/model.pt2': model('wav2vec2'),
    'letters/vocab.json': expected.wav2vec2.vocabulary,
    ...textModel('llama', network('llama-buffers')),
    't5/config.json': { text: {} },
    't5/encoder.pt2': network('t5-encoder'),
    't5/decoder.pt2': network('t5-decoder'),
    't5/tokenizer.json': tokenizer,
  })
  server = await start(t, folder)
  client = clientOf(server.url)
})

const file = (bytes: Uint8Array = wav): File => new File([bytes as Uint8Array<ArrayBuffer>], 'talk.wav')

t.test('a recording becomes text', async (t) => {
  const { text, segments, duration, language, words } = (await client.audio.transcriptions.create({
    ...{
      file: file(),
      model: 'whisper',
      language: 'de',
      temperature: 0.4,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    },
  })) as OpenAIVerbose
  t.match([duration, language], [3.1, 'german'])
  t.equal(segments!.map((segment) => segment.text).join('').trim(), text) // prettier-ignore
  for (const { start, end, tokens, avg_logprob: logprob } of segments!) t.ok(end >= start && tokens.length > 0 && logprob <= 0)
  t.ok(words!.length > 0 && words!.every(({ word, start, end }) => /^(w\d+)+$/.test(word) && end >= start))
  const spoken = await client.audio.transcriptions.create({ file: file(), model: 'letters' })
  const letters = await transcribe(await loadModule(model('wav2vec2')), samples, { vocabulary: expected.wav2vec2.vocabulary })
  t.strictSame(spoken, { text: letters.text })
})

interface OpenAIVerbose {
  readonly text: string
  readonly duration: number
  readonly language: string
  readonly segments?: {
    readonly text: string
    readonly start: number
    readonly end: number
    readonly tokens: number[]
    readonly avg_logprob: number
  }[]
  readonly words?: { readonly word: string; readonly start: number; readonly end: number }[]
}

t.test('subtitles, plain text and streams', async (t) => {
  const ask = async (format: 'srt' | 'vtt' | 'text'): Promise<string> =>
    (await client.audio.transcriptions.create({ file: file(), model: 'letters', response_format: format })) as unknown as string
  const { text } = await client.audio.transcriptions.create({ file: file(), model: 'letters' })
  t.equal(await ask('text'), `${text}\n`)
  t.match(await ask('srt'), /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/)
  t.match(await ask('vtt'), /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n/)
  const events: string[] = []
  let whole = ''
  for await (const event of await client.audio.transcriptions.create({ file: file(), model: 'letters', stream: true })) {
    events.push(event.type)
    if (event.type === 'transcript.text.done') whole = event.text
  }
  t.equal(whole, text)
  t.strictSame(events, ['transcript.text.delta', 'transcript.text.done'])
})

t.test('what makes no sense is refused, and the server goes on', async (t) => {
  const ask = (fields: Record<string, string>, bytes: Uint8Array = wav, path = 'transcriptions'): Promise<unknown> => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ model: 'letters', ...fields })) body.append(name, value)
    if (bytes.length > 0) body.append('file', file(bytes))
    return fetch(`${server.url}/v1/audio/${path}`, { method: 'POST', body }).then(async (answer) => ({
      status: answer.status,
      ...((await answer.json()) as { error: object }).error,
    }))
  }
  t.match(await ask({}, new Uint8Array(0)), { status: 400, param: 'file' })
  t.match(await ask({}, new TextEncoder().encode('ID3 no sound')), { status: 400, message: /WAV/ })
  t.match(await ask({ model: 'none' }), { status: 404, code: 'model_not_found' })
  t.match(await ask({ model: 'llama' }), { status: 400, message: /transcribes no speech/ })
  t.match(await ask({ response_format: 'docx' }), { status: 400, param: 'response_format' })
  t.match(await ask({ temperature: 'hot' }), { status: 400, param: 'temperature' })
  t.match(await ask({ model: 'whisper', language: 'klingon' }), { status: 400, message: /it knows en, de/ })
  t.match(await ask({}, wav, 'translations'), { status: 400, message: /takes neither prompts/ })
  t.match(await server.post('/v1/audio/transcriptions', { model: 'letters' }), { status: 400, body: { error: { message: /multipart/ } } })
  t.match(await server.post('/v1/audio/speech', {}), { status: 404 })
  t.match(await server.post('/v1/completions', { model: 'letters', prompt: 'w1' }), { status: 400, body: { error: { param: 'model' } } })
  t.match(await client.audio.transcriptions.create({ file: file(), model: 'letters' }), { text: String })
})

t.test('forms', (t) => {
  const parse = (text: string, type = 'multipart/form-data; boundary=xx'): unknown => formOf(type, Buffer.from(text, 'latin1'))
  const part = 'Content-Disposition: form-data; name="a"; filename="b.wav"\r\n\r\n1\r\n--x\r\n'
  t.match(parse(`--xx\r\n${part}\r\n--xx--\r\n`), [{ name: 'a', fileName: 'b.wav', data: Buffer.from('1\r\n--x\r\n') }])
  for (const wrong of ['', '--xx', `--xx\r\n${part}`, '--xx\r\n\r\n\r\n\r\n--xx--', `--xx\r\n${part}\r\n--xx`]) t.throws(() => parse(wrong))
  t.throws(() => parse(`--xx\r\n${part}\r\n--xx--`, 'text/plain'))
  t.throws(() => parse(`--xx\r\n${`${part}\r\n--xx\r\n`.repeat(70)}`), /more than 64/)
  t.end()
})

t.test('an encoder and a decoder continue text', async (t) => {
  for (const { prompt, tokens } of (continued as unknown as Record<'t5', (typeof continued)['llama']>).t5) {
    const { choices, usage } = await client.completions.create({ model: 't5', prompt, max_tokens: 20, temperature: 0 })
    t.equal(choices[0]!.text, wordsOf(tokens.slice(0, 20)))
    t.match(usage, { prompt_tokens: prompt.length, completion_tokens: 20 })
  }
})
