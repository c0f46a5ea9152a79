import type { LoadOptions, Limits } from '../index.js'
import type { OptionTable } from './options.js'
import { parseCount, UsageError } from './usage.js'

export type WeightOptions = Pick<LoadOptions, 'weights' | 'group' | 'activations' | 'kvCache'>
type Weights = NonNullable<LoadOptions['weights']>
type Caches = NonNullable<LoadOptions['kvCache']>

/** What weights of layers and embeddings, and caches, are rounded to, for commands that load models. */
export const WEIGHTS_OPTION = {
  weights: {
    type: 'string',
    value: 'int8|int4|bfloat16|float16',
    help: 'rounds the weights of layers and embeddings (docs/weights.md)',
  },
  group: {
    type: 'string',
    value: 'N',
    help: 'of int8 and int4: 32, 64, 128 or 256 numbers of a row share a scale; 32 of int4, whole rows of int8 without it',
  },
  activations: {
    type: 'string',
    value: 'float|bfloat16',
    help: 'float: what int8 and int4 are multiplied with stays float32; it is rounded to 8 bits without it. bfloat16: what bfloat16 is multiplied with is rounded to it',
  },
  'kv-cache': {
    type: 'string',
    value: 'int8|bfloat16|float16',
    help: 'keeps caches of keys and values in fewer bits (docs/weights.md)',
  },
} as const satisfies OptionTable

const CACHES: readonly string[] = ['int8', 'bfloat16', 'float16'] satisfies readonly Caches[]
const FORMATS: readonly string[] = ['int8', 'int4', 'bfloat16', 'float16'] satisfies readonly Weights[]

interface WeightValues {
  readonly weights?: string | undefined
  readonly group?: string | undefined
  readonly activations?: string | undefined
  readonly 'kv-cache'?: string | undefined
}

/** Throws UsageError for unknown formats. */
export function weightsOf({ weights, group, activations, 'kv-cache': kvCache }: WeightValues): WeightOptions {
  if (kvCache !== undefined && !CACHES.includes(kvCache))
    throw new UsageError(`--kv-cache: expected ${CACHES.join(', ')}, found ${kvCache}`)
  const caches = kvCache === undefined ? {} : { kvCache: kvCache as Caches }
  if (weights === undefined) {
    if (group !== undefined || activations !== undefined) throw new UsageError('--group and --activations go with --weights')
    return caches
  }
  if (!FORMATS.includes(weights)) throw new UsageError(`--weights: expected ${FORMATS.join(', ')}, found ${weights}`)
  if (activations !== undefined && activations !== 'float' && activations !== 'bfloat16')
    throw new UsageError(`--activations: expected float or bfloat16, found ${activations}`)
  return {
    ...caches,
    weights: weights as Weights,
    ...(group === undefined ? {} : { group: parseCount(group, '--group', 32) }),
    ...(activations === undefined ? {} : { activations }),
  }
}

/** `--threads`, for commands that take time. */
export const THREADS_OPTION = {
  threads: { type: 'string', default: '1', value: 'N', help: 'threads that one kernel call may use (1)' },
} as const satisfies OptionTable

/** `--eval`, for every command that loads a model to run it. */
export const EVAL_OPTION = {
  eval: {
    type: 'boolean',
    default: false,
    help: 'take the model out of training mode, which many are saved in: no dropout, and batch normalization by running statistics',
  },
} as const satisfies OptionTable

export function evalOf(values: { readonly eval: boolean }): Pick<LoadOptions, 'eval'> {
  return values.eval ? { eval: true } : {}
}

/** `--no-winograd`, for every command that compiles. */
export const WINOGRAD_OPTION = {
  'no-winograd': {
    type: 'boolean',
    default: false,
    help: 'compiled convolutions are computed as their definition says, slower and with fewer roundings; as does PTLITE_WINOGRAD=0 in the environment',
  },
} as const satisfies OptionTable

export function winogradOf(values: { readonly 'no-winograd': boolean }): Pick<LoadOptions, 'winograd'> {
  return values['no-winograd'] ? { winograd: false } : {}
}

const NAMES: readonly (keyof Limits)[] = ['instructions', 'bytes', 'milliseconds', 'elements']

/** `--limit NAME=NUMBER`, for commands that run models. */
export const LIMIT_OPTION = {
  limit: {
    type: 'string',
    multiple: true,
    default: [] as string[],
    value: 'NAME=N',
    help: 'what loading and the call may take: instructions, bytes, milliseconds or elements (docs/limits.md)',
  },
} as const satisfies OptionTable

/** Throws UsageError for what is no limit. */
export function limitsFrom({ limit }: { readonly limit: readonly string[] }): { limits?: Limits } {
  const pairs = limit.map((text) => {
    const [, name, number] = /^(\w+)=(\d+(?:\.\d+)?(?:e\d+)?)$/.exec(text) ?? []
    const known = NAMES.find((one) => one === name)
    if (known === undefined) throw new UsageError(`--limit: expected NAME=NUMBER with a name of ${NAMES.join(', ')}, found '${text}'`)
    return [known, Number(number)] as const
  })
  return pairs.length === 0 ? {} : { limits: Object.fromEntries(pairs) }
}
