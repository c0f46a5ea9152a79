import { basename, dirname } from 'node:path'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { PtliteError } from '../../runtime/error.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { traceToYaml } from '../../selective-build/trace/to-yaml.js'
import { mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { type Input, loadModule, type Module } from '../index.js'
import { readInputs } from './inputs.js'
import { type Command, parse, UsageError } from './usage.js'
import { writeText } from './write-file.js'

export const trace: Command = {
  usage: 'trace MODEL [--input FILE.npy|FILE.json ...] [--method NAME] [-o model.trace] [--merge FILE]',
  help: `Runs a model and writes down what it uses, for selective-build.

Without --input, forward runs on every input that the exporter bundled with the model.

  -i, --input FILE ...  the arguments of one run: .npy or .json files in order. Each --input begins another run
  -m, --method NAME     the method of the runs after it; forward before the first one. Without any run it is called without arguments
  -o, --output FILE     MODEL.trace in this folder without it
      --merge FILE      add another trace, or a selected_operators.yaml of PyTorch's tools; may be repeated`,

  async run(args) {
    const { model, runs, output, merge } = parseTraceArguments(args)
    startRecording()
    let traced: Trace
    try {
      const module = await loadModule(model, { onWarning: () => undefined })
      for (const { method, args } of plan(module, runs)) module.call(method, args)
    } finally {
      traced = stopRecording()
    }
    const known = new Set(kernelFields.map((row) => row.split(' ', 1)[0]!))
    const again =
      runs.length === 0 ? [{ model, method: 'forward', files: null }] : runs.map((r) => ({ model, method: r.method, files: r.files ?? [] }))
    const result = mergeTraces([{ ...traced, runs: again }, ...merge.map((file) => readTrace(file, known))])
    writeText(output, traceToYaml(result, dirname(output)))
    for (const line of summary(traced, output)) console.log(line)
  },
}

interface PlannedRun {
  readonly method: string
  /** Files; null for none given. */
  readonly files: string[] | null
}

interface TraceArguments {
  readonly model: string
  readonly runs: readonly PlannedRun[]
  readonly output: string
  readonly merge: readonly string[]
}

/** Files stand behind the --input that they belong to, and that behind its --method. */
function parseTraceArguments(args: string[]): TraceArguments {
  const { tokens, values } = parse({
    args,
    options: {
      input: { type: 'string', short: 'i', multiple: true },
      method: { type: 'string', short: 'm', multiple: true },
      output: { type: 'string', short: 'o' },
      merge: { type: 'string', multiple: true },
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
      if (/\.(npy|json)$/.test(token.value) && files !== undefined && files !== null) files.push(token.value)
      else models.push(token.value)
    }
  }
  if (models.length !== 1) {
    throw new UsageError(models.length === 0 ? 'name a model file' : `expected one model file, found ${models.join(', ')}`)
  }
  const model = models[0]!
  return { model, runs, output: values.output ?? `${basename(model).replace(/\.(ptl|ff)$/, '')}.trace`, merge: values.merge ?? [] }
}

/** Arguments of forward that the exporter put into the model. */
export function bundledRuns(module: Module): Input[][] {
  const bundled = module.methods.includes('get_all_bundled_inputs') ? module.call('get_all_bundled_inputs') : null
  return Array.isArray(bundled) && bundled.every((args) => Array.isArray(args)) ? (bundled as Input[][]) : []
}

/** The calls to make: those asked for, else the bundled inputs. */
function plan(module: Module, runs: readonly PlannedRun[]): { method: string; args: readonly Input[] }[] {
  if (runs.length > 0) return runs.map(({ method, files }) => ({ method, args: files === null ? [] : readInputs(files) }))
  const bundled = bundledRuns(module)
  if (bundled.length > 0) return bundled.map((args) => ({ method: 'forward', args }))
  throw new PtliteError('INVALID_ARGUMENT', 'the model has no bundled inputs; give the arguments of a run with --input')
}

function summary(trace: Trace, output: string): string[] {
  const kernels = [...trace.kernels!.values()]
  const dtypes = new Set(kernels.flatMap((use) => [...use.dtypes]))
  const lines = [
    `${output}: ${trace.operators.size} operators, ${kernels.length} kernels, dtypes ${[...dtypes].sort().join(', ') || 'none'}`,
  ]
  for (const { file, instructions, reached } of trace.models) {
    lines.push(`${file}: ${reached} of ${instructions} instructions ran (${((100 * reached) / instructions).toFixed(1)} %)`)
  }
  return [...lines, ...trace.warnings.map((warning) => `warning: ${warning}`)]
}
