import { basename, dirname } from 'node:path'
import { withoutExtension } from '../../formats/registry.js'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { TRACED_PLANS } from '../../selective-build/selection/selection.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { traceToYaml } from '../../selective-build/trace/to-yaml.js'
import { mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { loadModule } from '../index.js'
import { refuseCompiled } from './compiled-file.js'
import { evalOf } from './model-options.js'
import { parsePlannedRuns, plannedCalls } from './planned-runs.js'
import { during } from './terminal.js'
import { type Command, UsageError } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'

export const trace: Command = {
  usage: 'trace MODEL [--input FILE.npy|FILE.npz|FILE.json ...] [--method NAME] [--plans] [--eval] [-o model.trace] [--merge FILE]',
  help: `Runs a model and writes down what it uses, for selective-build.

Without --input, forward runs on every input that the exporter bundled with the model.

  -i, --input FILE ...  the arguments of one run: .npy, .npz or .json files in order. Each --input begins another run
  -m, --method NAME     the method of the runs after it; forward before the first one. Without any run it is called without arguments
  -o, --output FILE     MODEL.trace in this folder without it
      --plans           compile each run, too, for builds with the compiler (selective-build --with-compiler)
      --eval            take the model out of training mode, for apps that do; builds are tried with it so
      --merge FILE      add another trace, or a selected_operators.yaml of PyTorch's tools; may be repeated`,

  async run(args) {
    const { model, runs, merge, ...given } = parsePlannedRuns(args)
    if (given.rounding.weights !== undefined) throw new UsageError('--weights goes with compile')
    if (given['no-winograd']) throw new UsageError('--no-winograd goes with compile')
    if (given.ops.length > 0) throw new UsageError('--ops goes with compile')
    if (given.isa !== undefined) throw new UsageError('--isa goes with compile')
    const output = given.output ?? `${withoutExtension(basename(model))}.trace`
    refuseCompiled(model, 'trace', 'selective-build --model takes it as it is')
    startRecording()
    let traced: Trace
    try {
      const module = await loadModule(model, { onWarning: () => undefined, ...evalOf(given) })
      for (const { method, args } of plannedCalls(module, runs)) {
        await during(`running ${method}`, async () => {
          module.call(method, args)
          if (given.plans) await module.compile(method, args)
        })
      }
    } finally {
      traced = stopRecording()
    }
    const known = new Set(kernelFields.map((row) => row.split(' ', 1)[0]!))
    const calls =
      runs.length === 0 ? [{ method: 'forward', files: null }] : runs.map(({ method, files }) => ({ method, files: files ?? [] }))
    const again = calls.map((call) => ({ model, ...call, ...(given.eval ? { eval: true as const } : {}) }))
    const features = new Set([...traced.features, ...(given.plans ? [TRACED_PLANS] : [])])
    const result = mergeTraces([{ ...traced, features, runs: again }, ...merge.map((file) => readTrace(file, known))])
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
