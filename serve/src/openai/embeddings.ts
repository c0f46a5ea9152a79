import type { Vectors } from '../text/messages.js'
import { wrong } from './errors.js'
import type { Fields } from './fields.js'
import { inputsOf } from './inputs.js'

const MAX_INPUTS = 2048
const MAX_WIDTH = 1 << 20

export interface ReadEmbeddings {
  readonly texts: readonly (string | readonly number[])[]
  /** Throws where the vectors are not as wide as the request says. */
  readonly whole: (vectors: Vectors) => object
}

/** `POST /v1/embeddings`. Throws what is wrong with it. */
export function readEmbeddings(fields: Fields, model: string): ReadEmbeddings {
  const isText = fields.oneOf('encoding_format', 'float', 'base64') === 'base64'
  const dimensions = fields.integer('dimensions', 1, MAX_WIDTH)
  return {
    texts: inputsOf(fields, 'input', MAX_INPUTS).map((each) => ('text' in each ? each.text : each.tokens)),
    whole: ({ data, width, tokens }) => {
      if (dimensions !== null && dimensions !== width)
        throw wrong('dimensions', `the model gives vectors of ${width} numbers, and no others`)
      const count = data.length / width
      const vectors = Array.from({ length: count }, (_, i) => data.subarray(i * width, (i + 1) * width))
      return {
        object: 'list',
        data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isText ? base64(vector) : [...vector] })),
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }
    },
  }
}

/** float32, the least significant byte first. */
function base64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
