import { basename, dirname } from 'node:path'
import { withoutExtension } from '../../formats/registry.js'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { TRACED_PLANS } from '../../selective-build/selection/selection.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { traceToYaml } from '../../selective-build/trace/to-yaml.js'
import { mergeTraces, type Trace, type TracedRun } from '../../selective-build/trace/trace.js'
import { loadModule } from '../index.js'
import { refuseCompiled } from './compiled-file.js'
import { evalOf } from './model-options.js'
import { METHODS_OPTION, parsePlannedRuns, plannedCalls, readRuns } from './planned-runs.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { INPUT_OPTIONS, type Command, isInputFile } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'

const OPTIONS = {
  ...INPUT_OPTIONS,
  ...METHODS_OPTION,
  output: { type: 'string', short: 'o', value: 'FILE.trace', help: 'MODEL.trace in this folder without it' },
  plans: {
    type: 'boolean',
    default: false,
    help: 'compile each run, too, for builds with the compiler (selective-build --with-compiler)',
  },
  eval: {
    type: 'boolean',
    default: false,
    help: 'take the model out of training mode, for apps that do; builds are tried with it so',
  },
  merge: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: "add another trace, or a selected_operators.yaml of PyTorch's tools",
  },
} as const satisfies OptionTable

export const trace: Command = {
  synopsis: 'trace MODEL',
  about: `Runs a model and writes down what it uses, for selective-build.

Each --input or --image begins another run, with the .npy, .npz, .json, .jpg, .png and .wav files after it as its arguments. Without any, forward
runs on every input that the exporter bundled with the model, else on one of the smallest sizes that the file declares.`,
  options: OPTIONS,

  async run(args) {
    const { model, values, ...given } = parsePlannedRuns(args, OPTIONS)
    const output = values.output ?? `${withoutExtension(basename(model))}.trace`
    refuseCompiled(model, 'trace', 'selective-build --model takes it as it is')
    const runs = await readRuns(given)
    startRecording()
    let traced: Trace
    try {
      const module = await loadModule(model, { onWarning: () => undefined, ...evalOf(values) })
      for (const { method, args } of plannedCalls(module, runs)) {
        await during(`running ${method}`, async () => {
          module.call(method, args)
          if (values.plans) await module.compile(method, args)
        })
      }
    } finally {
      traced = stopRecording()
    }
    const known = new Set(kernelFields.map((row) => row.split(' ', 1)[0]!))
    // what pictures become is said by options, which traces have not
    const calls: Pick<TracedRun, 'method' | 'files' | 'shapes'>[] =
      given.runs.length === 0
        ? [{ method: 'forward', files: null }]
        : given.runs
            .filter(({ files }) => files === null || files.every(isInputFile))
            .map(({ method, files, shapes }) => ({ method, files: files ?? [], ...(shapes === undefined ? {} : { shapes }) }))
    const again = calls.map((call) => ({ model, ...call, ...(values.eval ? { eval: true as const } : {}) }))
    const features = new Set([...traced.features, ...(values.plans ? [TRACED_PLANS] : [])])
    const result = mergeTraces([{ ...traced, features, runs: again }, ...(values.merge ?? []).map((file) => readTrace(file, known))])
    const report = reportBeside(output)
    await writeFile(output, traceToYaml(result, dirname(output)))
    for (const line of summary(traced, output)) report(line)
  },
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
