import { openProgram, readProgram } from '../../formats/read.js'
import { writePtl } from '../../formats/ptl/write.js'
import { allSteps } from '../../formats/steps.js'
import { PtliteError } from '../../runtime/error.js'
import { parse, UsageError, type Command } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'

/** ptlite convert: writes what a file holds as a mobile module. */
export const convert: Command = {
  usage: 'convert MODEL -o OUT.ptl',
  help: `Writes a TorchScript archive (.pt) or a program of torch.export (.pt2) as a mobile module.

PyTorch's lite interpreter runs it, as far as it has the operators. Sizes of a .pt2 that are symbols stay so.

  -o, --output FILE   where the mobile module goes`,

  async run(args) {
    const { values, positionals } = parse({ args, options: { output: { type: 'string', short: 'o' } }, allowPositionals: true })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    if (values.output === undefined) throw new UsageError('name the file to write with -o')
    const [model] = positionals as [string]
    const opened = openProgram(model)
    const { file, format } = opened
    if (file.zip === null) {
      file.source.close()
      throw new PtliteError('UNSUPPORTED_FILE', `${model}: a ${format.extension} file is a mobile module already`)
    }
    const program = allSteps(readProgram(opened, {}, {}))
    try {
      const content = writePtl(program, format.sharesObjects === true ? file.zip : null)
      await writeFile(values.output, content)
      reportBeside(values.output)(`${values.output}: ${(content.length / 1e6).toFixed(1)} MB, ${program.functions.length} functions`)
    } finally {
      program.close()
    }
  },
}
