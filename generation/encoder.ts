import { PtliteError } from '../runtime/error.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Input } from '../src/values/convert.js'
import { argumentsOf } from './arguments.js'
import type { LanguageModel } from './language-model.js'
import type { ReadPrompt } from './prompt.js'
import { tensorsIn } from './results.js'
import { fixedSize, rolesOf } from './roles.js'
import { numbers } from './numbers.js'

/** What a decoder attends to: [1, length, width], and a mask [1, length] of what is no filling. */
export interface Encoded {
  readonly states: Tensor
  readonly mask: Tensor
  /** What else the encoder gives by name: a decoder that takes it is given it. */
  readonly others: ReadonlyMap<string, Input>
}

/** Runs an encoder once: over tokens, or over what the caller gives by name (`input_features` of sound). */
export async function encodeOnce(encoder: LanguageModel, { tokens, given }: ReadPrompt, signal: AbortSignal | undefined): Promise<Encoded> {
  const run = async (args: readonly Input[]): Promise<Pick<Encoded, 'states' | 'others'>> => {
    const output = await encoder.run('forward', args, signal === undefined ? {} : { signal })
    const [states] = tensorsIn([output])
    if (states === undefined || states.dim !== 3)
      throw new PtliteError('INVALID_ARGUMENT', 'generate(): expected an encoder that gives its states, [1, length, width]')
    const named = output instanceof Map ? [...output].filter((entry): entry is [string, Tensor] => entry[1] !== states) : []
    return { states, others: new Map(named as [string, Input][]) }
  }
  if (tokens.length === 0) {
    const args = (encoder.inputs ?? []).map(({ name }) => given.get(name))
    const { states, others } = await run(args)
    return { states, mask: maskOf(states, Infinity), others }
  }
  const slots = rolesOf(encoder.inputs)
  const width = fixedSize(slots.find(({ role }) => role === 'tokens')!.info.shape?.at(-1)) ?? tokens.length
  if (width < tokens.length)
    throw new PtliteError('INVALID_ARGUMENT', `generate(): the encoder takes ${width} tokens, found ${tokens.length}`)
  const { states, others } = await run(argumentsOf(slots, { tokens, start: 0, width, past: [], given }))
  return { states, mask: maskOf(states, tokens.length), others }
}

function maskOf(states: Tensor, length: number): Tensor {
  const size = states.shape[1]!
  return numbers(
    Array.from({ length: size }, (_, i) => (i < length ? 1 : 0)),
    [1, size],
    'int64',
  )
}
