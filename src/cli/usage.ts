import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { InputFiles } from './arguments.js'
import type { OptionTable } from './options.js'
import { parseMel, PICTURE_OPTIONS, pictureOptions, type PictureValues } from './media-options.js'
import { suggestion } from './suggestion.js'
import { UsageError } from './usage-error.js'

export { UsageError } from './usage-error.js'

/** A command whose process of its own has failed, and has said why. */
export class CommandFailed extends Error {
  constructor(readonly status: number) {
    super(`exit status ${status}`)
  }
}

export interface Command {
  /** What stands behind `ptlite` besides options: `run MODEL`. */
  readonly synopsis: string
  /** One line for the overview, and what else there is to say before the options. */
  readonly about: string
  readonly options: OptionTable
  /** What stands behind the options. */
  readonly notes?: string
  run(args: string[]): Promise<void> | void
}

type Options = NonNullable<ParseArgsConfig['options']>
/** What a table of options gives. */
export type ValuesOf<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

export interface ModelArguments<O extends Options> {
  readonly model: string
  readonly inputs: InputFiles
  readonly values: ValuesOf<O>
}

/** What is wrong with a command line, without the advice of Node's parser, which knows nothing of ours. */
function messageOf(error: unknown, options: Options): string {
  const { code, message } = error as NodeJS.ErrnoException
  const [, named = ''] = /'([^']*)'/.exec(message) ?? []
  const option = named.replace(/^-\w, /, '').replace(/ <value>$/, '')
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.keys(options).map((name) => `--${name}`)
    return `unknown option ${named}${suggestion(named, known)}`
  }
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') return `unexpected argument '${named}'`
  if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return message
  if (message.includes('does not take an argument')) return `${option} takes no value`
  return `${option} needs a value${message.includes('ambiguous') ? `; one that begins with - is given as ${option}=-1` : ''}`
}

/** util.parseArgs with its errors as UsageError. */
export function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error, config.options ?? {}))
  }
}

/**
 * Arguments of a command on a model. `--input` takes one file or several: every further `.npy`, `.npz`, `.json`, `.jpg`, `.png` or `.wav` file
 * counts as an input, whichever side of the model it stands on.
 */
export function parseModelArguments<O extends Options & typeof INPUT_OPTIONS>(args: string[], options: O): ModelArguments<O> {
  const { values, tokens } = parse({ args, options, allowPositionals: true, tokens: true })
  const models: string[] = []
  const inputs: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option' && ['input', 'image', 'wav'].includes(token.name)) inputs.push(String(token.value))
    else if (token.kind === 'positional') (isInputFile(token.value) || isMediaFile(token.value) ? inputs : models).push(token.value)
  }
  if (models.length !== 1)
    throw new UsageError(models.length === 0 ? 'name a model file' : `expected one model file, found ${models.join(', ')}`)
  return { model: models[0]!, inputs: { files: inputs, ...preparationOf(values as InputValues) }, values: values as ValuesOf<O> }
}

/** Files with arguments, and how pictures and recordings among them are prepared. */
export const INPUT_OPTIONS = {
  input: {
    type: 'string',
    short: 'i',
    multiple: true,
    value: 'FILE',
    help: 'an argument, in order: a NumPy array, several of a .npz file, or JSON (nested numbers, or {"dtype", "shape", "data"}, {"int": 5}, {"list": [...]}, ...; {"args": [...]} for several arguments)',
  },
  shape: {
    type: 'string',
    multiple: true,
    value: 'SIZES',
    help: 'a made-up argument of these sizes, as 1,3,224,224, once for each argument: of the dtype that the file declares for it, else of floats, which are random; int64:1,16 is of another dtype, zeros where it is of whole numbers',
  },
  ...PICTURE_OPTIONS,
  wav: {
    type: 'string',
    multiple: true,
    value: 'FILE.wav',
    help: 'an argument that is a recording: float32[1, frames] from -1 to 1, the mean of its channels',
  },
  rate: { type: 'string', value: 'N', help: 'of recordings: bring them to N frames a second' },
  mel: {
    type: 'string',
    value: 'OPTIONS',
    help: 'of recordings: their spectrogram, float32[1, nMels, steps], by options of melSpectrogram: nMels=80,nFft=400,hopLength=160,log=natural',
  },
} as const satisfies OptionTable

/** `--method`, for commands that call one. */
export const METHOD_OPTION = {
  method: { type: 'string', short: 'm', default: 'forward', value: 'NAME', help: 'the method that is called; forward without it' },
} as const satisfies OptionTable

export interface InputValues extends PictureValues {
  readonly batch?: boolean
  readonly rate?: string | undefined
  readonly mel?: string | undefined
}

/** Throws UsageError. */
export function preparationOf(values: InputValues): Omit<InputFiles, 'files'> {
  const { rate, mel, batch = false } = values
  return {
    pictures: pictureOptions(values),
    isBatch: batch,
    recordings: {
      rate: rate === undefined ? undefined : parseCount(rate, '--rate', 1),
      mel: mel === undefined ? undefined : parseMel(mel),
    },
  }
}

/** Whether a path among the arguments of a command is one of its inputs. */
export function isInputFile(path: string): boolean {
  return /\.(?:npy|npz|json)$/.test(path)
}

/** Whether it is a picture or a recording. */
export function isMediaFile(path: string): boolean {
  return /\.(?:jpe?g|png|wav)$/i.test(path)
}

/** A whole number of at least `minimum`. */
export function parseCount(text: string, option: string, minimum: number): number {
  const n = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n) || n < minimum) {
    throw new UsageError(`${option}: expected a whole number of at least ${minimum}, found '${text}'`)
  }
  return n
}
