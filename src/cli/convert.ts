import { extname } from 'node:path'
import { openProgram, readProgram } from '../../formats/read.js'
import { extensionsText, formats, writableFormats } from '../../formats/registry.js'
import { allSteps } from '../../formats/steps.js'
import { withExplicitCounts } from '../../formats/writing/explicit-counts.js'
import type { ObjectState, ProgramWriter } from '../../formats/writing/program-writer.js'
import { setTraining } from '../../program/training.js'
import { trainingText } from '../../program/training-layers.js'
import type { ScriptObject } from '../../runtime/tensor/value.js'
import { trainingOf } from '../inspect/training.js'
import { loadOperators, OPS_HELP, OPS_OPTION, OPS_USAGE } from './custom-operators.js'
import { EVAL_HELP, EVAL_OPTION } from './eval-option.js'
import { during } from './terminal.js'
import { parse, UsageError, type Command } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'

/** ptlite convert: writes what a file holds as a mobile module. */
export const convert: Command = {
  get usage() {
    const outputs = writableFormats().map(({ extension }) => `OUT${extension}`)
    return `convert MODEL -o ${outputs.join('|')} [--eval] ${OPS_USAGE}`
  },
  get help() {
    return `Writes a model (${extensionsText()}) as a mobile module.

The end of the name says as which, ${extensionsText(({ write }) => write !== undefined)}; without one of them it is a zip.
PyTorch's lite interpreter runs it, as far as it has the operators. Sizes of a .pt2 that are symbols stay so.

  -o, --output FILE   where the mobile module goes
${EVAL_HELP}
${OPS_HELP}`
  },

  async run(args) {
    const { values, positionals } = parse({
      args,
      options: { output: { type: 'string', short: 'o' }, ...EVAL_OPTION, ...OPS_OPTION },
      allowPositionals: true,
    })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    if (values.output === undefined) throw new UsageError('name the file to write with -o')
    const [model] = positionals as [string]
    await loadOperators(values.ops)
    const write = writerFor(values.output)
    const states = new Map<ScriptObject, ObjectState>()
    const hooks = {
      runSetState: (setState: ObjectState['setState'], object: ScriptObject, state: ObjectState['state']): void => {
        states.set(object, { state, setState })
      },
    }
    const program = await during(`reading ${model}`, () => allSteps(readProgram(openProgram(model), hooks, {})))
    try {
      if (values.eval) setTraining(program.root, false, program.plainClasses)
      const layers = trainingOf(program)
      if (layers.length > 0) console.error(`warning: ${trainingText(model, layers, 'convert it with --eval, or load what is written so')}`)
      const counted = withExplicitCounts(program)
      const filled = new Map([...states].map(([object, { state, setState }]) => [object, { state, setState: counted.get(setState)! }]))
      const content = write({ ...program, functions: [...counted.values()] }, filled)
      await writeFile(values.output, content)
      reportBeside(values.output)(`${values.output}: ${(content.length / 1e6).toFixed(1)} MB, ${program.functions.length} functions`)
    } finally {
      program.close()
    }
  },
}

/** The writer of the format that files of such a name are of; that of the first one for names of none. Throws UsageError for formats that are only read. */
function writerFor(output: string): ProgramWriter {
  const writable = writableFormats()
  const extension = extname(output)
  const named = writable.find((format) => format.extension === extension)
  if (named === undefined && formats().some((format) => format.extension === extension))
    throw new UsageError(`expected a name that ends in ${writable.map((format) => format.extension).join(' or ')}, found ${output}`)
  return (named ?? writable[0]!).write
}
