import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type EncoderDecoder, loadModule, type Module } from '../../src/index.js'

const read = (name: string): Buffer => readFileSync(new URL(`../fixtures/speech/${name}`, import.meta.url))

export interface ExpectedSegment {
  readonly start: number
  readonly end: number
  readonly tokens: number[]
  readonly times?: number[]
}

/** What transformers makes of the sound. */
export const expected = JSON.parse(read('expected.json').toString()) as {
  readonly whisper: {
    readonly config: object
    readonly features: number[][]
    readonly cases: readonly { readonly name: string; readonly seconds: number; readonly segments: ExpectedSegment[] }[]
    readonly timed: { readonly seconds: number; readonly segments: ExpectedSegment[] }
  }
  readonly wav2vec2: {
    readonly vocabulary: Readonly<Record<string, number>>
    readonly seconds: number
    readonly text: string
    readonly frames: number
    readonly letters: [string, number, number][]
    readonly words: [string, number, number][]
    readonly logits: number[][]
    readonly drawn: {
      readonly logits: number[][]
      readonly text: string
      readonly letters: [string, number, number][]
      readonly words: [string, number, number][]
    }
  }
}

export const load = (name: string): Promise<Module> => loadModule(gunzipSync(read(`${name}.pt2.gz`)))

export const loadWhisper = async (kind = 'whisper'): Promise<EncoderDecoder> => ({
  encoder: await load(`${kind}-encoder`),
  decoder: await load(`${kind}-decoder`),
})

export const RATE = 16000

/** What make_speech.py makes: a gliding tone with pauses. */
export function sound(seconds: number): Float32Array {
  return Float32Array.from({ length: Math.floor(seconds * RATE) }, (_, i) => {
    const t = i / RATE
    const glide = Math.sin(2 * Math.PI * (300 * t + 150 * t * t)) * Math.max(0, Math.sin(2 * Math.PI * 1.7 * t))
    return 0.5 * glide + 0.05 * Math.sin(2 * Math.PI * 3100 * t)
  })
}

/** Token n is the word wn, and specials of Whisper what they are. */
export const tokenizer = {
  encode: (text: string): number[] => text.split(' ').flatMap((word) => (/^w\d+$/.test(word) ? [Number(word.slice(1))] : [])),
  decode: (tokens: number[]): string => tokens.map((token) => ` w${token}`).join(''),
}
