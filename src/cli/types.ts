import { basename } from 'node:path'
import { loadModelFile } from '../../formats/read.js'
import { PtliteError } from '../../runtime/error.js'
import { readCompiled } from './compiled-file.js'
import { declarationsOf } from './declarations.js'
import type { OptionTable } from './options.js'
import { parse, UsageError, type Command } from './usage.js'
import { writeFile } from './write-file.js'

/** ptlite types: the methods of a model as TypeScript has them. */
const OPTIONS = {
  output: { type: 'string', short: 'o', value: 'FILE.d.ts', help: 'where they go; stdout without it' },
} as const satisfies OptionTable

export const types: Command = {
  synopsis: 'types MODEL',
  about: `Writes the types of a model's methods for TypeScript, with the dtypes that its file declares.

  import type { Model } from './model.js'
  const model = await loadModule<Model>('model.pt2')

Nothing of the model runs. Sizes stand in comments; those of files that have none are left out.`,
  options: OPTIONS,

  async run(args) {
    const { values, positionals } = parse({ args, options: OPTIONS, allowPositionals: true })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    const [model] = positionals as [string]
    const compiled = readCompiled(model)
    if (compiled !== null)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `${model} holds plans alone; take the types of ${compiled.about.original}, which it was compiled from`,
      )
    const file = loadModelFile(model, {}, { onlyLooks: true })
    try {
      const text = declarationsOf(file, basename(model))
      if (values.output === undefined) console.log(text.trimEnd())
      else await writeFile(values.output, text)
    } finally {
      file.close()
    }
  },
}
