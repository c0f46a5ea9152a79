import { basename } from 'node:path'
import { withoutExtension } from '../../formats/registry.js'
import { PtliteError } from '../../runtime/error.js'
import { compileAhead } from '../ahead.js'
import { cpu, loadModule } from '../index.js'
import { refuseCompiled } from './compiled-file.js'
import { OPS_OPTION, loadOperators } from './custom-operators.js'
import { weightsOf, WEIGHTS_OPTION, WINOGRAD_OPTION, EVAL_OPTION, evalOf, winogradOf } from './model-options.js'
import { formatBytes } from '../format-bytes.js'
import { levelNamed, repeatAt } from './levels.js'
import { METHODS_OPTION, parsePlannedRuns, plannedCalls, readRuns } from './planned-runs.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { INPUT_OPTIONS, type Command } from './usage.js'
import { isKept, isSameFile, reportBeside, writeFile } from './write-file.js'

const OPTIONS = {
  ...INPUT_OPTIONS,
  ...METHODS_OPTION,
  output: { type: 'string', short: 'o', value: 'FILE.ptlc', help: 'MODEL.ptlc beside MODEL without it' },
  isa: {
    type: 'string',
    value: 'LEVEL',
    help: 'for CPUs of this instruction set level (ptlite cpu lists them), which this one must have: plans are made by running their kernels. The highest without it',
  },
  ...EVAL_OPTION,
  ...WINOGRAD_OPTION,
  ...WEIGHTS_OPTION,
  ...OPS_OPTION,
} as const satisfies OptionTable

export const compile: Command = {
  synopsis: 'compile MODEL',
  about: `Compiles a model ahead: plans and packed weights, to be mapped and run at once.

The file serves calls with arguments of the forms (shapes, dtypes, other values) that it was compiled for, on CPUs that have
its ISA level, in this version of ptlite. With MODEL beside it all else works too: calls that there can be no plan for, which are
warned of, are interpreted. It is of one mode: training, or with --eval not.

Each --input or --image begins another call, with the files after it as its arguments; the contents of tensors do not matter. Without any, the
inputs that are bundled with the model, else of the smallest sizes that the file declares.`,
  options: OPTIONS,

  async run(args) {
    const { model, values, ...given } = parsePlannedRuns(args, OPTIONS)
    const { isa } = values
    const output = values.output ?? `${withoutExtension(model)}.ptlc`
    if (isSameFile(output, model))
      throw new PtliteError('INVALID_ARGUMENT', `${model} would be overwritten; name another file with --output`)
    refuseCompiled(model, 'compile', 'give it the model that the file was compiled from')
    if (isa !== undefined && levelNamed(isa) !== cpu.currentLevel()) return repeatAt(isa, ['compile', ...args])
    await loadOperators(values.ops)
    const runs = await readRuns(given)
    const options = { ...evalOf(values), ...winogradOf(values), ...weightsOf(values) }
    const bytes = await during(`compiling ${model}`, () => compileAhead(model, (module) => plannedCalls(module, runs), options))
    const report = reportBeside(output)
    await writeFile(output, bytes)
    const module = await loadModule(isKept(output) ? output : bytes, winogradOf(values))
    const [plans, left] = [module.plans().filter((p) => p.state === 'plan'), module.plans().filter((p) => p.state !== 'plan')]
    report(`${output}: ${formatBytes(bytes.length)}, level ${cpu.currentLevel()}`)
    for (const { method, signature, frames, memory } of plans) {
      report(`  ${method}(${signature}): ${frames} kernel calls, arena ${formatBytes(memory!.arenaBytes)}`)
    }
    for (const { method, signature } of left) report(`  ${method}(${signature}): interpreted, needs ${basename(model)} beside the file`)
    for (const { method, signature, reason } of left) console.error(`warning: no plan for ${method}(${signature}): ${reason}`)
    module.dispose()
  },
}
