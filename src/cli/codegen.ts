import { existsSync } from 'node:fs'
import { generateCustom, type KnownOperator } from '../../codegen/custom.js'
import { CodegenError } from '../../codegen/error.js'
import { writeFiles } from '../../codegen/write.js'
import * as declarations from '../../runtime/operators/table/generated/declarations.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { schemaText } from '../../runtime/operators/table/schema-text.js'
import { PtliteError } from '../index.js'
import type { OptionTable } from './options.js'
import { type Command, parse, UsageError } from './usage.js'

const OPTIONS = {
  ops: {
    type: 'string',
    multiple: true,
    value: 'FILE.yaml',
    isRequired: true,
    help: "declarations: operators in the syntax of PyTorch's native_functions.yaml, kernels, and functions in C",
  },
  out: {
    type: 'string',
    value: 'DIR',
    isRequired: true,
    help: 'gets operators.ts, kernels.ts and custom_kernels.h where kernels are declared, and c_functions.ts where functions in C are',
  },
  natives: {
    type: 'string',
    default: './natives.js',
    value: 'MODULE',
    help: "module of the native functions as DIR's files import it (./natives.js)",
  },
} as const satisfies OptionTable

export const codegen: Command = {
  synopsis: 'codegen',
  about: `Writes wrappers for custom operators and frames for custom kernels.`,
  options: OPTIONS,

  async run(args) {
    const { values } = parse({ args, options: OPTIONS })
    const { ops, out, natives } = values
    if (ops === undefined || out === undefined) throw new UsageError('name the declarations with --ops and the output folder with --out')
    const absent = ops.find((path) => !existsSync(path))
    if (absent !== undefined) throw new PtliteError('INVALID_ARGUMENT', `${absent}: no such file`)
    const written = await writeFiles(generate(ops, natives), out)
    console.log(written.length === 0 ? `${out}: nothing changed` : `${out}: wrote ${written.join(', ')}`)
  },
}

function generate(paths: readonly string[], natives: string): ReadonlyMap<string, string> {
  try {
    return generateCustom({ paths, natives, known })
  } catch (error) {
    if (error instanceof CodegenError) throw new PtliteError('INVALID_ARGUMENT', error.message, { cause: error })
    throw error
  }
}

function known(qualifiedName: string): KnownOperator | undefined {
  const entry = findOperator(qualifiedName)
  if (entry === undefined) return undefined
  const [file, line] = [declarations.places[2 * entry.index]!, declarations.places[2 * entry.index + 1]!]
  return { schema: schemaText(qualifiedName, entry.schema), source: `${declarations.files[file]!}:${line}` }
}
