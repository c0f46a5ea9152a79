import type { PlannedCall } from '../ahead.js'
import { tokenRuns } from './token-runs.js'
import { declaredInputs } from '../inspect/suggest-inputs.js'
import { PtliteError } from '../../runtime/error.js'
import type { Input, Module } from '../index.js'
import { type InputFiles, readArguments } from './arguments.js'
import type { OptionTable } from './options.js'
import { parseShape, tensorsOfShapes } from './shapes.js'
import { type INPUT_OPTIONS, type InputValues, isInputFile, isMediaFile, parse, preparationOf, UsageError, type ValuesOf } from './usage.js'

export interface PlannedRun {
  readonly method: string
  /** Files; null for none given. */
  readonly files: string[] | null
  /** Of arguments that are made up. */
  readonly shapes?: string[]
  /** Those of the files. */
  readonly args?: readonly Input[]
}

/** `--method` before each of several runs. */
export const METHODS_OPTION = {
  method: {
    type: 'string',
    short: 'm',
    multiple: true,
    value: 'NAME',
    help: 'the method of the runs after it; forward before the first one. Without arguments behind it, it is called without any',
  },
} as const satisfies OptionTable

type PlannedOptions = typeof INPUT_OPTIONS & typeof METHODS_OPTION

export interface PlannedRuns<O extends PlannedOptions> {
  readonly model: string
  readonly runs: readonly PlannedRun[]
  /** How pictures and recordings of runs are prepared. */
  readonly prepared: Omit<InputFiles, 'files'>
  readonly values: ValuesOf<O>
}

/**
 * A command line with several runs of a model: every --input begins one, of the --method before it, and takes the files behind it as its
 * arguments.
 */
export function parsePlannedRuns<O extends PlannedOptions>(args: string[], options: O): PlannedRuns<O> {
  const { tokens, values } = parse({ args, options, allowPositionals: true, tokens: true })
  const models: string[] = []
  const runs: PlannedRun[] = []
  let method: string | null = null
  for (const token of tokens) {
    if (token.kind === 'option' && token.name === 'method') {
      method = String(token.value)
      runs.push({ method, files: null })
    } else if (token.kind === 'option' && ['input', 'image', 'wav'].includes(token.name)) {
      const last = runs.at(-1)
      if (last !== undefined && isBare(last)) runs.pop()
      runs.push({ method: method ?? 'forward', files: [String(token.value)] })
    } else if (token.kind === 'option' && token.name === 'shape') {
      parseShape(String(token.value))
      const last = runs.at(-1)
      if (last?.shapes !== undefined) last.shapes.push(String(token.value))
      else {
        if (last !== undefined && isBare(last)) runs.pop()
        runs.push({ method: method ?? 'forward', files: null, shapes: [String(token.value)] })
      }
    } else if (token.kind === 'positional') {
      const files = runs.at(-1)?.files
      if ((isInputFile(token.value) || isMediaFile(token.value)) && files !== undefined && files !== null) files.push(token.value)
      else models.push(token.value)
    }
  }
  if (models.length !== 1) {
    throw new UsageError(models.length === 0 ? 'name a model file' : `expected one model file, found ${models.join(', ')}`)
  }
  return { model: models[0]!, runs, prepared: preparationOf(values as InputValues), values: values as ValuesOf<O> }
}

/** Arguments of forward that the exporter put into the model. */
export function bundledRuns(module: Module): Input[][] {
  const bundled = module.methods.includes('get_all_bundled_inputs') ? module.call('get_all_bundled_inputs') : null
  return Array.isArray(bundled) && bundled.every((args) => Array.isArray(args)) ? (bundled as Input[][]) : []
}

/** A method that nothing was given for yet. */
const isBare = ({ files, shapes }: PlannedRun): boolean => files === null && shapes === undefined

/** The runs with the arguments of their files. */
export async function readRuns({ runs, prepared }: Pick<PlannedRuns<PlannedOptions>, 'runs' | 'prepared'>): Promise<PlannedRun[]> {
  const read: PlannedRun[] = []
  for (const run of runs) read.push(run.files === null ? run : { ...run, args: await readArguments({ files: run.files, ...prepared }) })
  return read
}

/** The calls to make: those asked for, else of the bundled inputs, else those of generation, else of the sizes that the file declares. */
export function plannedCalls(module: Module, runs: readonly PlannedRun[]): PlannedCall[] {
  if (runs.length > 0)
    return runs.map(({ method, shapes, args = shapes === undefined ? [] : tensorsOfShapes(module, method, shapes).args }) => ({
      method,
      args,
    }))
  const tokens = bundledRuns(module).length === 0 ? tokenRuns(module) : null
  return tokens ?? knownRuns(module).map((args) => ({ method: 'forward', args }))
}

/** Arguments of forward: all that are bundled with the model, else some of the sizes that its file declares. Throws INVALID_ARGUMENT where it does neither. */
export function knownRuns(module: Module): (readonly Input[])[] {
  const bundled = bundledRuns(module)
  if (bundled.length > 0) return bundled
  const declared = module.methods.includes('forward') ? declaredInputs(module) : null
  if (declared !== null) return [declared.args]
  throw new PtliteError(
    'INVALID_ARGUMENT',
    'the model has no bundled inputs, and declares no sizes; give the arguments of a run with --input, or sizes with --shape',
  )
}
