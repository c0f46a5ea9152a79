import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type EncoderDecoder, type Generation, type LoadOptions, loadModule, type Module } from '../../src/index.js'

const read = (name: string): Buffer => readFileSync(new URL(`../fixtures/generation/${name}`, import.meta.url))
const json = (name: string): unknown => JSON.parse(read(`${name}.json`).toString())

export interface Continued {
  readonly prompt: number[]
  readonly tokens: number[]
}

/** What `generate` of transformers gives, by network. */
export const continued = json('tokens') as Readonly<Record<'llama' | 'gpt2' | 't5', readonly Continued[]>>

/** What its logits processors do. */
export const sampling = json('sampling') as {
  readonly scores: number[][]
  readonly tokens: number[][]
  readonly filters: readonly { readonly options: object; readonly row: number; readonly kept: number[] }[]
  readonly together: readonly [object, number[][]]
  readonly repetition: number[][]
}

/** A `.pt2`, or what else the name says. */
export const load = (name: string, options: LoadOptions = {}): Promise<Module> =>
  loadModule(gunzipSync(read(`${name.includes('.') ? name : `${name}.pt2`}.gz`)), options)

export const loadT5 = async (): Promise<EncoderDecoder> => ({ encoder: await load('t5-encoder'), decoder: await load('t5-decoder') })

/** The tokens of a generation to its end. */
export async function tokensOf(generation: Generation): Promise<number[]> {
  const tokens: number[] = []
  for await (const { token } of generation) tokens.push(token)
  return tokens
}
