import t from 'tap'
import { StopStrings } from '../../generation/text/stop-strings.js'
import { TextStream } from '../../generation/text/text-stream.js'
import { generate } from '../../src/index.js'
import { continued, load, tokensOf } from './fixtures.js'

/** A token is a byte. */
const bytes = {
  encode: (text: string): number[] => [...new TextEncoder().encode(text)],
  decode: (tokens: number[]): string => new TextDecoder().decode(new Uint8Array(tokens)),
}

t.test('no piece ends within a character', (t) => {
  const text = 'é 漢字 👩‍🚀 x'
  const stream = new TextStream(bytes)
  const pieces = bytes.encode(text).map((token) => stream.push(token))
  t.equal(pieces.join('') + stream.end(), text)
  t.notOk(pieces.some((piece) => piece.includes('\ufffd')))
  t.strictSame(pieces.slice(0, 6), ['', 'é', ' ', '', '', '漢'])

  const cut = new TextStream(bytes)
  t.strictSame([0x61, 0xe6, 0xbc].map((token) => cut.push(token)), ['a', '', '']) // prettier-ignore
  t.equal(cut.end(), '\ufffd', 'bytes that are no character are given in the end')
  const broken = new TextStream(bytes)
  const given = Array.from({ length: 40 }, () => broken.push(0xff)).join('')
  t.ok(given.length >= 16, 'and are not held back for ever')
  t.end()
})

t.test('spaces that tokens have by those before them', (t) => {
  // as SentencePiece does it: the space of the first word is left out
  const words = ['▁Hello', '▁big', '▁world', '!']
  const stream = new TextStream({ decode: (tokens) => tokens.map((i) => words[i]!).join('').replaceAll('▁', ' ').trimStart() }) // prettier-ignore
  t.strictSame([0, 1, 2, 3].map((token) => stream.push(token)), ['Hello', ' big', ' world', '!']) // prettier-ignore
  t.end()
})

t.test('strings that end a text', (t) => {
  const stops = new StopStrings(['\n\n', 'END'])
  t.strictSame(['one\n', 'two', ' E', 'N', 'O', ' EN', 'D of'].map((piece) => stops.push(piece)), ['one', '\ntwo', ' ', '', 'ENO', ' ', '']) // prettier-ignore
  t.ok(stops.found)
  t.equal(stops.push('more') + stops.end(), '')
  const open = new StopStrings(['END'])
  t.equal(open.push('the EN') + open.end(), 'the EN')
  t.end()
})

/** Token n is letter n. */
const letters = {
  encode: (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0) - 48),
  decode: (tokens: number[]): string => String.fromCharCode(...tokens.map((token) => token + 48)),
}

t.test('text of a generation', async (t) => {
  const model = await load('llama-buffers')
  const { prompt, tokens } = continued.llama[1]!
  const all = letters.decode(tokens)
  const textOf = async (options: object): Promise<[string, string | null]> => {
    const generation = generate(model, prompt, { maxTokens: 64, tokenizer: letters, ...options })
    let text = ''
    for await (const part of generation) text += part.text!
    return [text, generation.usage.finishReason]
  }
  t.strictSame(await textOf({}), [all, 'length'])
  const stop = all.slice(9, 12)
  t.strictSame(await textOf({ stop: ['never', stop] }), [all.slice(0, all.indexOf(stop)), 'stop'])
  t.strictSame(await textOf({ stop: [tokens[5]!, 'zzz'] }), [all.slice(0, tokens.indexOf(tokens[5]!)), 'stop'])
  t.strictSame(await textOf({ maxTokens: 10, stop: all.slice(8, 14) }), [all.slice(0, 10), 'length'], 'what was held back')
  const { value } = await generate(model, prompt, { logprobs: true }).next()
  t.ok((value!.logprob ?? 1) < 0)
  const { value: other } = await generate(model, prompt, { logprobs: true, topLogprobs: 5 }).next()
  t.equal(other!.top!.length, 5)
  t.strictSame(other!.top![0], { token: other!.token, logprob: value!.logprob })
  const { value: most } = await generate(model, prompt, { topLogprobs: 100 }).next()
  const { top } = most!
  t.equal(top!.length, 64, 'as many as there are')
  t.ok(top!.every(({ logprob }, i) => i === 0 || logprob <= top![i - 1]!.logprob))
  t.ok(Math.abs(top!.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0) - 1) < 1e-6)
  t.throws(() => generate(model, prompt, { topLogprobs: 101 }), { code: 'INVALID_ARGUMENT', message: /1 to 100/ })
  t.equal((await tokensOf(generate(model, prompt, { maxTokens: 2 }))).length, 2)
})
