import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type OpenAI from 'openai'
import { requireOfServe } from './server.js'

const read = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`../../../test/fixtures/generation/${name}`, import.meta.url)))

/** A network with random weights that sees tokens 0 to 63. */
export const network = (name: string): Buffer => gunzipSync(read(`${name}.pt2.gz`))

/** What `generate` of transformers gives, by network. */
export const continued = JSON.parse(read('tokens.json').toString()) as Readonly<
  Record<'llama' | 'gpt2', readonly { readonly prompt: number[]; readonly tokens: number[] }[]>
>

/** Tokens as the tokenizer writes them. */
export const wordsOf = (tokens: readonly number[]): string => tokens.map((token) => `w${token}`).join(' ')

/** Token n is the word wn. */
export const tokenizer = {
  version: '1.0',
  ...{ truncation: null, padding: null, normalizer: null, post_processor: null, decoder: null, added_tokens: [] },
  pre_tokenizer: { type: 'WhitespaceSplit' },
  model: { type: 'WordLevel', vocab: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`w${i}`, i])), unk_token: 'w0' },
}

/** A language model of the folder's name, with its tokenizer; `template`: that of its chats. */
export function textModel(name: string, file: Buffer, text: object = {}, template?: string): Record<string, object> {
  return {
    [`${name}/config.json`]: { text },
    [`${name}/1/model.pt2`]: file,
    [`${name}/tokenizer.json`]: tokenizer,
    [`${name}/tokenizer_config.json`]: template === undefined ? {} : { chat_template: template },
  }
}

/** OpenAI's own client, of the package's devDependencies. */
export function clientOf(url: string, apiKey = 'none'): OpenAI {
  const { OpenAI: Client } = requireOfServe('openai') as typeof import('openai')
  return new Client({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}
