import { basename } from 'node:path'
import { withoutExtension } from '../../formats/registry.js'
import { PtliteError } from '../../runtime/error.js'
import { compileAhead } from '../ahead.js'
import { cpu, loadModule } from '../index.js'
import { refuseCompiled } from './compiled-file.js'
import { loadOperators, OPS_HELP } from './custom-operators.js'
import { EVAL_HELP, evalOf, WEIGHTS_HELP, WEIGHTS_USAGE, WINOGRAD_HELP, winogradOf } from './model-options.js'
import { formatBytes } from '../format-bytes.js'
import { levelNamed, repeatAt } from './levels.js'
import { parsePlannedRuns, plannedCalls } from './planned-runs.js'
import { during } from './terminal.js'
import { type Command, UsageError } from './usage.js'
import { isKept, isSameFile, reportBeside, writeFile } from './write-file.js'

export const compile: Command = {
  usage: `compile MODEL [--input FILE.npy|FILE.npz|FILE.json ...] ... [--method NAME] [-o model.ptlc] [--isa LEVEL] [--eval] [--no-winograd] ${WEIGHTS_USAGE} [--ops FILE.js ...]`,
  help: `Compiles a model ahead: plans and packed weights, to be mapped and run at once.

The file serves calls with arguments of the forms (shapes, dtypes, other values) that it was compiled for, on CPUs that have
its ISA level, in this version of ptlite. With MODEL beside it all else works too: calls that there can be no plan for, which are
warned of, are interpreted.

  -i, --input FILE ...  the arguments of a call, as for run, in order; the contents of tensors do not matter. Each --input begins
                        another call. Without any, the inputs that are bundled with the model
  -m, --method NAME     the method of the calls after it; forward before the first one. Without an --input it is called without
                        arguments
  -o, --output FILE     MODEL.ptlc beside MODEL without it
      --isa LEVEL       for CPUs of this instruction set level (ptlite cpu lists them), which this one must have: plans are made by
                        running their kernels. The highest without it
${EVAL_HELP}. A .ptlc file is of one mode
${WINOGRAD_HELP}
${WEIGHTS_HELP}
${OPS_HELP}`,

  async run(args) {
    const { model, runs, merge, isa, ...given } = parsePlannedRuns(args)
    if (merge.length > 0) throw new UsageError('--merge goes with trace')
    if (given.plans) throw new UsageError('--plans goes with trace')
    const output = given.output ?? `${withoutExtension(model)}.ptlc`
    if (isSameFile(output, model))
      throw new PtliteError('INVALID_ARGUMENT', `${model} would be overwritten; name another file with --output`)
    refuseCompiled(model, 'compile', 'give it the model that the file was compiled from')
    if (isa !== undefined && levelNamed(isa) !== cpu.currentLevel()) return repeatAt(isa, ['compile', ...args])
    await loadOperators(given.ops)
    const options = { ...evalOf(given), ...winogradOf(given), ...given.rounding }
    const bytes = await during(`compiling ${model}`, () => compileAhead(model, (module) => plannedCalls(module, runs), options))
    const report = reportBeside(output)
    await writeFile(output, bytes)
    const module = await loadModule(isKept(output) ? output : bytes, winogradOf(given))
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
