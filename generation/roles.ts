import { PtliteError } from '../runtime/error.js'
import type { ArgumentInfo, Dimension } from '../program/signature-info.js'

/**
 * What a value among the arguments of a language model is for:
 *
 * | role | transformers | ExecuTorch |
 * |---|---|---|
 * | `tokens` | `input_ids`, `decoder_input_ids` | `tokens` |
 * | `place` | `cache_position`: the places of the tokens in the cache | `input_pos`: those, or the first of them |
 * | `positions` | `position_ids` | |
 * | `mask` | `attention_mask`, `decoder_attention_mask` | |
 * | `past` | `past_key_values` | |
 * | `states`, `statesMask` | `encoder_hidden_states`, `encoder_attention_mask` | |
 * | `constant` | what the program was exported for alone, such as `use_cache` | |
 * | `given` | all else, which the caller gives by its name | |
 */
export type Role = 'tokens' | 'place' | 'positions' | 'mask' | 'past' | 'states' | 'statesMask' | 'constant' | 'given'

/** A value among the arguments, in their order. */
export interface Slot {
  readonly role: Role
  readonly info: ArgumentInfo
  /** Of the argument that it is, or is in. */
  readonly argument: string
  /** Where it is in that argument: `[0]`, `['key_cache']`. */
  readonly path: readonly (number | string)[]
}

const NAMES: readonly (readonly [Role, RegExp])[] = [
  ['states', /^(encoder_(hidden_states?|outputs?)|last_hidden_state|memory)$/],
  ['statesMask', /^(encoder_attention_mask|cross_attention_mask|memory_mask)$/],
  ['place', /^(cache_positions?|input_pos(ition)?|start_pos|cache_pos)$/],
  ['positions', /^(decoder_)?(position_ids|positions?)$/],
  ['mask', /^(decoder_)?(attention_mask|attn_mask|causal_mask|mask)$/],
  ['past', /past|kv_?cache|(^|_)(k|v|key|value)_?cache|^cache/],
  ['tokens', /^(input_ids|decoder_input_ids|tokens?|ids|idx|token_ids)(_\d+)?$/],
]

/** The name of the argument, and where in it the value is: `past_key_values['key_cache'][0]`. */
function pathOf(name: string): Pick<Slot, 'argument' | 'path'> {
  const argument = /^[^[.]*/.exec(name)![0]
  const path = [...name.slice(argument.length).matchAll(/\[(\d+)\]|\['([^']*)'\]|\.(\w+)/g)].map(([, index, key, field]) =>
    index === undefined ? (key ?? field!) : Number(index),
  )
  return { argument, path }
}

function roleOf(info: ArgumentInfo, argument: string, encoders: ReadonlySet<string>): Role {
  if ('constant' in info) return 'constant'
  // decoder_input_ids are what is generated, where both are there
  if (encoders.has(argument)) return 'given'
  return NAMES.find(([, names]) => names.test(argument))?.[0] ?? 'given'
}

const isOfIntegers = ({ type, dtype }: ArgumentInfo): boolean =>
  type === 'Tensor' && (dtype === undefined || dtype === 'int64' || dtype === 'int32')

/**
 * What each value among the arguments of a model is for, by their names; where none is called as tokens are, the first tensor of integers is them.
 * Throws INVALID_ARGUMENT where there are no tokens.
 */
export function rolesOf(inputs: readonly ArgumentInfo[] | null): Slot[] {
  if (inputs === null)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      'generate(): the file does not say what the model takes; export it with torch.export, or script it',
    )
  const hasDecoder = inputs.some(({ name }) => name === 'decoder_input_ids')
  const encoders = new Set(hasDecoder ? ['input_ids', 'attention_mask', 'input_features'] : [])
  const slots = inputs.map((info): Slot => {
    const place = pathOf(info.name)
    return { ...place, info, role: roleOf(info, place.argument, encoders) }
  })
  if (slots.some(({ role }) => role === 'tokens')) return slots
  const first = slots.findIndex(({ role, info }) => role === 'given' && isOfIntegers(info))
  if (first < 0)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `generate(): expected a model that takes tokens, such as forward(input_ids); this one takes ${inputs.map(({ name, type }) => `${name}: ${type}`).join(', ')}`,
    )
  return slots.map((slot, i) => (i === first ? { ...slot, role: 'tokens' } : slot))
}

/** The only size that there can be, or null. */
export function fixedSize(dimension: Dimension | undefined): number | null {
  return dimension !== undefined && dimension.min === dimension.max ? dimension.min : null
}

/** The most that a size may be; Infinity where the file sets no limit. */
export function mostOf(dimension: Dimension | undefined): number {
  return dimension?.max ?? Infinity
}
