import { check, PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Input } from '../src/values/convert.js'

/** Tokens as numbers, or an integer tensor of them, [tokens] or [1, tokens]. */
export type Tokens = readonly number[] | Int32Array | BigInt64Array | Tensor

/** The tokens as `input_ids`, and what else the model takes, by its names. */
export type PromptInputs = { readonly input_ids?: Tokens; readonly decoder_input_ids?: Tokens } & {
  readonly [name: string]: Input | Tokens
}

/** What is to be continued. */
export type Prompt = Tokens | PromptInputs

export interface ReadPrompt {
  readonly tokens: readonly number[]
  readonly decoderTokens: readonly number[] | null
  readonly given: ReadonlyMap<string, Input>
}

/** Throws INVALID_ARGUMENT for what is no prompt. */
export function readPrompt(prompt: Prompt): ReadPrompt {
  return reading(() => {
    if (isTokens(prompt)) return { tokens: tokensOf(prompt, 'the prompt'), decoderTokens: null, given: new Map<string, Input>() }
    if (Object.prototype.toString.call(prompt) !== '[object Object]')
      throw new PtliteError('INVALID_ARGUMENT', `generate(): expected tokens, or { input_ids }, found ${kindOf(prompt)}`)
    const { input_ids, decoder_input_ids, ...others } = prompt as PromptInputs
    return {
      tokens: input_ids === undefined ? [] : tokensOf(input_ids, 'input_ids'),
      decoderTokens: decoder_input_ids === undefined ? null : tokensOf(decoder_input_ids, 'decoder_input_ids'),
      given: new Map(Object.entries(others as Readonly<Record<string, Input>>)),
    }
  })
}

/** Of any realm. */
const ARRAYS = ['[object Int32Array]', '[object BigInt64Array]']

function isTokens(value: unknown): value is Tokens {
  if (value instanceof Tensor && Tensor.isOne(value)) return value.dtype === 'int64' || value.dtype === 'int32'
  return (Array.isArray(value) && Symbol.iterator in value) || ARRAYS.includes(Object.prototype.toString.call(value))
}

/** Tokens of the caller as numbers. Throws INVALID_ARGUMENT for what is none. */
export function tokensOf(value: unknown, what: string): number[] {
  check(isTokens(value), () => `generate(): expected ${what} to be tokens, found ${kindOf(value)}`)
  if (value instanceof Tensor)
    check(
      value.dim <= 2 && value.shape.slice(0, -1).every((size) => size === 1),
      () => `generate(): expected ${what} of one sequence, found ${kindOf(value)}`,
    )
  const list = [...(value instanceof Tensor ? value.data() : (value as ArrayLike<number | bigint> & Iterable<number | bigint>))]
  return list.map((token) => {
    const number = typeof token === 'bigint' ? Number(token) : token
    check(
      Number.isSafeInteger(number) && number >= 0,
      () => `generate(): expected ${what} to be whole numbers of at least 0, found ${kindOf(token)}`,
    )
    return number
  })
}
