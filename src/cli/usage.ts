import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { InputFiles } from './arguments.js'
import { parseMel, PICTURE_OPTIONS, pictureOptions, type PictureValues } from './media-options.js'
import { UsageError } from './usage-error.js'

export { UsageError } from './usage-error.js'

/** A command whose process of its own has failed, and has said why. */
export class CommandFailed extends Error {
  constructor(readonly status: number) {
    super(`exit status ${status}`)
  }
}

export interface Command {
  /** What stands behind `ptlite`, e.g. `cpu [--kernels] [--json]`. */
  readonly usage: string
  /** One line for the overview, and what the options mean. */
  readonly help: string
  run(args: string[]): Promise<void> | void
}

type Options = NonNullable<ParseArgsConfig['options']>
type ValuesOf<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

export interface ModelArguments<O extends Options> {
  readonly model: string
  readonly inputs: InputFiles
  readonly values: ValuesOf<O>
}

/** util.parseArgs with its errors as UsageError. */
export function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/**
 * Arguments of a command on a model. `--input` takes one file or several: every further `.npy`, `.npz`, `.json`, `.jpg`, `.png` or `.wav` file
 * counts as an input, whichever side of the model it stands on.
 */
export function parseModelArguments<O extends Options>(args: string[], options: O): ModelArguments<O> {
  const { values, tokens } = parse({
    args,
    options: {
      ...options,
      ...PICTURE_OPTIONS,
      input: { type: 'string', short: 'i', multiple: true },
      image: { type: 'string', multiple: true },
      wav: { type: 'string', multiple: true },
      rate: { type: 'string' },
      mel: { type: 'string' },
    },
    allowPositionals: true,
    tokens: true,
  })
  const models: string[] = []
  const inputs: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option' && ['input', 'image', 'wav'].includes(token.name)) inputs.push(String(token.value))
    else if (token.kind === 'positional') (isInputFile(token.value) || isMediaFile(token.value) ? inputs : models).push(token.value)
  }
  if (models.length !== 1)
    throw new UsageError(models.length === 0 ? 'name a model file' : `expected one model file, found ${models.join(', ')}`)
  const { rate, mel } = values as { readonly rate?: string; readonly mel?: string }
  const prepared = {
    pictures: pictureOptions(values as PictureValues),
    isBatch: (values as { readonly batch?: boolean }).batch === true,
    recordings: {
      rate: rate === undefined ? undefined : parseCount(rate, '--rate', 1),
      mel: mel === undefined ? undefined : parseMel(mel),
    },
  }
  return { model: models[0]!, inputs: { files: inputs, ...prepared }, values: values as ValuesOf<O> }
}

/** Whether a path among the arguments of a command is one of its inputs. */
export function isInputFile(path: string): boolean {
  return /\.(?:npy|npz|json)$/.test(path)
}

function isMediaFile(path: string): boolean {
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
