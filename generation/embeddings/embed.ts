import { check, PtliteError } from '../../runtime/error.js'
import { boolean, checkOptions, count, oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from '../../src/values/convert.js'
import { tensor } from '../../src/values/tensor.js'
import { isLanguageModel, type LanguageModel } from '../language-model.js'
import { numbers } from '../numbers.js'
import { isSignal } from '../options.js'
import { type Tokens, tokensOf } from '../prompt.js'
import { tensorsIn } from '../results.js'
import { fixedSize, mostOf, rolesOf, type Slot } from '../roles.js'

/** How texts become vectors. */
export interface EmbedOptions {
  /** What becomes of the vectors of a text's tokens: their mean, that of the first token, or of the last one. 'mean' where nothing is said; models that give one vector for a text pool themselves. */
  readonly pooling?: 'mean' | 'cls' | 'last' | undefined
  /** Makes vectors of length 1, whose products are cosines; true where nothing is said. */
  readonly normalize?: boolean | undefined
  /** Texts in one call, at most; 32 where nothing is said. */
  readonly batch?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const TESTS = {
  pooling: oneOf('mean', 'cls', 'last'),
  normalize: boolean,
  batch: count,
  signal: isSignal,
} satisfies Record<keyof EmbedOptions, (value: unknown) => string | null>

/**
 * A vector for each text, given as tokens: float32[texts, width], in their order. Texts of like length share a call, off the event loop, in which shorter ones are filled up
 * and masked; those of models without a mask share a call where their lengths are the same. Throws INVALID_ARGUMENT for models that give no vectors and texts that are longer than they take.
 */
export async function embed(model: LanguageModel, texts: readonly Tokens[], options: EmbedOptions = {}): Promise<Tensor> {
  const rows = reading(() => {
    checkOptions(options, TESTS, 'embed()')
    check(isLanguageModel(model), () => `embed(): expected a model, found ${kindOf(model)}`)
    check(Array.isArray(texts) && texts.length > 0, () => `embed(): expected texts, a list of lists of tokens, found ${kindOf(texts)}`)
    return texts.map((text, i) => tokensOf(text, `text ${i}`))
  })
  check(rows.every((row) => row.length > 0), () => 'embed(): expected at least one token in each text') // prettier-ignore
  const slots = rolesOf(model.inputs)
  const sizes = slots.find(({ role }) => role === 'tokens')!.info.shape
  const [most, longest, width] = [fixedSize(sizes?.[0]) ?? mostOf(sizes?.[0]), mostOf(sizes?.at(-1)), fixedSize(sizes?.at(-1))]
  const order = rows.map((_, i) => i).sort((a, b) => rows[a]!.length - rows[b]!.length)
  check(
    rows[order.at(-1)!]!.length <= longest,
    () => `embed(): the model takes ${longest} tokens, found a text of ${rows[order.at(-1)!]!.length}`,
  )
  const size = Math.min(options.batch ?? 32, most)
  // without a mask a model may look at what shorter texts are filled up with
  const areAlike = width === null && !slots.some(({ role }) => role === 'mask')
  let found: Float32Array | undefined
  for (let from = 0; from < order.length;) {
    const next = order.slice(from, from + size)
    const places = areAlike ? next.filter((i) => rows[i]!.length === rows[next[0]!]!.length) : next
    from += places.length
    const batch = places.map((i) => rows[i]!)
    // a program for batches of one size gets the last text again
    while (batch.length < (fixedSize(sizes?.[0]) ?? 0)) batch.push(batch.at(-1)!)
    const vectors = await batchOf(model, slots, batch, width ?? Math.max(...batch.map(({ length }) => length)), options)
    found ??= new Float32Array(rows.length * vectors.shape[1]!)
    const data = vectors.data() as Float32Array
    const [, columns] = vectors.shape as readonly [number, number]
    for (const [at, place] of places.entries()) found.set(data.subarray(at * columns, (at + 1) * columns), place * columns)
    vectors.dispose()
  }
  return tensor(found!, [rows.length, found!.length / rows.length])
}

async function batchOf(
  model: LanguageModel,
  slots: readonly Slot[],
  batch: readonly number[][],
  width: number,
  options: EmbedOptions,
): Promise<Tensor> {
  const { pooling = 'mean', normalize = true, signal } = options
  const filled = (of: (row: readonly number[], i: number) => number): number[] =>
    batch.flatMap((row) => Array.from({ length: width }, (_, i) => of(row, i)))
  const mask = filled((row, i) => (i < row.length ? 1 : 0))
  const shape = [batch.length, width]
  const args = slots.map(({ role, info }): Input => {
    const { dtype = 'int64' } = info
    if (role === 'tokens') return numbers(filled((row, i) => row[i] ?? 0), shape, dtype) // prettier-ignore
    if (role === 'mask') return numbers(mask, shape, dtype)
    if (role === 'positions') return numbers(filled((_, i) => i), shape, dtype) // prettier-ignore
    if (role === 'constant') return info.constant as Input
    if (info.name === 'token_type_ids') return numbers(mask.map(() => 0), shape, dtype) // prettier-ignore
    if (info.type.startsWith('Optional')) return null
    throw new PtliteError('INVALID_ARGUMENT', `embed(): the model takes ${info.name}: ${info.type}, too, which is none of a text`)
  })
  const output = await model.run('forward', args, signal === undefined ? {} : { signal })
  const given = output instanceof Map ? (output.get('sentence_embedding') ?? output.get('last_hidden_state') ?? output) : output
  const [states] = tensorsIn([given])
  if (states === undefined || states.dim < 2 || states.dim > 3 || states.shape[0] !== batch.length)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `embed(): expected a model that gives vectors, [texts, width] or [texts, tokens, width], found ${kindOf(states)}`,
    )
  const whole = states.dtype === 'float32' ? states : states.to('float32')
  const vectors = whole.dim === 2 ? whole : pooled(whole, tensor(mask, [...shape, 1], 'float32'), batch, pooling)
  // as torch.nn.functional.normalize
  return normalize ? vectors.div(lengthsOf(vectors)) : vectors
}

/** One vector for the tokens of each text: [texts, tokens, width] to [texts, width]. */
function pooled(
  states: Tensor,
  mask: Tensor,
  batch: readonly (readonly number[])[],
  pooling: NonNullable<EmbedOptions['pooling']>,
): Tensor {
  if (pooling === 'mean') return states.mul(mask).sum(1).div(mask.sum(1))
  if (pooling === 'cls') return states.select(1, 0)
  const [count, tokens, width] = states.shape as readonly [number, number, number]
  const last = batch.map((row, i) => i * tokens + row.length - 1)
  return states.reshape([count * tokens, width]).indexSelect(0, tensor(last, [count], 'int64'))
}

/** [texts, 1]; at least 1e-12. */
function lengthsOf(vectors: Tensor): Tensor {
  const squares = vectors.mul(vectors).sum(1, true).data() as Float32Array
  return tensor(squares.map((sum) => Math.max(Math.sqrt(sum), 1e-12)), [squares.length, 1]) // prettier-ignore
}
