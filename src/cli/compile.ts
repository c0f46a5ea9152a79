import { PtliteError } from '../../runtime/error.js'
import { compileAhead } from '../ahead.js'
import { cpu, loadModule } from '../index.js'
import { refuseCompiled } from './compiled-file.js'
import { formatBytes } from './format.js'
import { parsePlannedRuns, plannedCalls } from './planned-runs.js'
import { type Command, UsageError } from './usage.js'
import { WINOGRAD_HELP, winogradOf } from './winograd-option.js'
import { writeFile } from './write-file.js'

export const compile: Command = {
  usage: 'compile MODEL [--method NAME] --input FILE.npy|FILE.json ... [--input ...] [-o model.ptlc] [--no-winograd]',
  help: `Compiles a model ahead: plans and packed weights, to be mapped and run at once.

The file serves calls with arguments of the forms (shapes, dtypes, other values) that it was compiled for, on CPUs that use
the same ISA level, in this version of ptlite. With MODEL beside it all else works too.

  -i, --input FILE ...  the arguments of a call, as for run, in order; the contents of tensors do not matter. Each --input begins
                        another call. Without any, the inputs that are bundled with the model
  -m, --method NAME     the method of the calls after it; forward before the first one. Without an --input it is called without
                        arguments
  -o, --output FILE     MODEL.ptlc beside MODEL without it
${WINOGRAD_HELP}`,

  async run(args) {
    const { model, runs, merge, ...given } = parsePlannedRuns(args)
    if (merge.length > 0) throw new UsageError('--merge goes with trace')
    const output = given.output ?? `${model.replace(/\.(ptl|ff)$/, '')}.ptlc`
    if (output === model) throw new PtliteError('INVALID_ARGUMENT', `${model} would be overwritten; name another file with --output`)
    refuseCompiled(model, 'compile', 'give it the model that the file was compiled from')
    const bytes = compileAhead(model, (module) => plannedCalls(module, runs), winogradOf(given))
    writeFile(output, bytes)
    const module = await loadModule(output, winogradOf(given))
    console.log(`${output}: ${formatBytes(bytes.length)}, level ${cpu.currentLevel()}`)
    for (const { method, signature, frames, memory } of module.plans()) {
      console.log(`  ${method}(${signature}): ${frames} kernel calls, arena ${formatBytes(memory!.arenaBytes)}`)
    }
    module.dispose()
  },
}
