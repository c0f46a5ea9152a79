import { PtliteError } from '../../runtime/error.js'
import type { Input, Module } from '../index.js'
import { OPS_OPTION } from './custom-operators.js'
import { EVAL_OPTION, type WeightOptions, WEIGHTS_OPTION, weightsOf, WINOGRAD_OPTION } from './model-options.js'
import { readInputs } from './inputs.js'
import { isInputFile, parse, UsageError } from './usage.js'

export interface PlannedRun {
  readonly method: string
  /** Files; null for none given. */
  readonly files: string[] | null
}

export interface PlannedRuns {
  readonly model: string
  readonly runs: readonly PlannedRun[]
  readonly output: string | undefined
  readonly merge: readonly string[]
  readonly isa: string | undefined
  readonly plans: boolean
  readonly eval: boolean
  readonly ops: readonly string[]
  readonly 'no-winograd': boolean
  /** Of the weights of layers. */
  readonly rounding: WeightOptions
}

/**
 * A command line with several runs of a model: every --input begins one, of the --method before it, and takes the files behind it as its
 * arguments.
 */
export function parsePlannedRuns(args: string[]): PlannedRuns {
  const { tokens, values } = parse({
    args,
    options: {
      input: { type: 'string', short: 'i', multiple: true },
      method: { type: 'string', short: 'm', multiple: true },
      output: { type: 'string', short: 'o' },
      merge: { type: 'string', multiple: true },
      isa: { type: 'string' },
      plans: { type: 'boolean', default: false },
      ...EVAL_OPTION,
      ...OPS_OPTION,
      ...WINOGRAD_OPTION,
      ...WEIGHTS_OPTION,
    },
    allowPositionals: true,
    tokens: true,
  })
  const models: string[] = []
  const runs: PlannedRun[] = []
  let method: string | null = null
  for (const token of tokens) {
    if (token.kind === 'option' && token.name === 'method') {
      method = String(token.value)
      runs.push({ method, files: null })
    } else if (token.kind === 'option' && token.name === 'input') {
      const last = runs.at(-1)
      if (last !== undefined && last.files === null) runs.pop()
      runs.push({ method: method ?? 'forward', files: [String(token.value)] })
    } else if (token.kind === 'positional') {
      const files = runs.at(-1)?.files
      if (isInputFile(token.value) && files !== undefined && files !== null) files.push(token.value)
      else models.push(token.value)
    }
  }
  if (models.length !== 1) {
    throw new UsageError(models.length === 0 ? 'name a model file' : `expected one model file, found ${models.join(', ')}`)
  }
  const { output, merge = [], isa, plans } = values
  return {
    model: models[0]!,
    runs,
    output,
    merge,
    isa,
    plans,
    eval: values.eval,
    ops: values.ops ?? [],
    'no-winograd': values['no-winograd'],
    rounding: weightsOf(values),
  }
}

/** Arguments of forward that the exporter put into the model. */
export function bundledRuns(module: Module): Input[][] {
  const bundled = module.methods.includes('get_all_bundled_inputs') ? module.call('get_all_bundled_inputs') : null
  return Array.isArray(bundled) && bundled.every((args) => Array.isArray(args)) ? (bundled as Input[][]) : []
}

/** The calls to make: those asked for, else the bundled inputs. */
export function plannedCalls(module: Module, runs: readonly PlannedRun[]): { method: string; args: readonly Input[] }[] {
  if (runs.length > 0) return runs.map(({ method, files }) => ({ method, args: files === null ? [] : readInputs(files) }))
  const bundled = bundledRuns(module)
  if (bundled.length > 0) return bundled.map((args) => ({ method: 'forward', args }))
  throw new PtliteError('INVALID_ARGUMENT', 'the model has no bundled inputs; give the arguments of a run with --input')
}
