import { existsSync } from 'node:fs'
import { generateCustom } from '../../codegen/custom.js'
import { CodegenError } from '../../codegen/error.js'
import { writeFiles } from '../../codegen/write.js'
import { findOperator } from '../../runtime/operators/registry.js'
import { schemaText } from '../../runtime/operators/schema-text.js'
import { PtliteError } from '../index.js'
import { type Command, parse, UsageError } from './usage.js'

export const codegen: Command = {
  usage: 'codegen --ops custom_ops.yaml --out DIR [--natives MODULE]',
  help: `Writes wrappers for custom operators and frames for custom kernels.

      --ops FILE        declarations: operators in the syntax of PyTorch's native_functions.yaml, and kernels
      --out DIR         gets operators.ts, and kernels.ts and custom_kernels.h where kernels are declared
      --natives MODULE  module of the native functions as DIR's files import it (./natives.js)`,

  run(args) {
    const { values } = parse({
      args,
      options: { ops: { type: 'string' }, out: { type: 'string' }, natives: { type: 'string', default: './natives.js' } },
    })
    const { ops, out, natives } = values
    if (ops === undefined || out === undefined) throw new UsageError('name the declarations with --ops and the output folder with --out')
    if (!existsSync(ops)) throw new PtliteError('INVALID_ARGUMENT', `${ops}: no such file`)
    const written = writeFiles(generate(ops, natives), out)
    console.log(written.length === 0 ? `${out}: nothing changed` : `${out}: wrote ${written.join(', ')}`)
  },
}

function generate(path: string, natives: string): ReadonlyMap<string, string> {
  try {
    return generateCustom({ path, natives, knownSchema })
  } catch (error) {
    if (error instanceof CodegenError) throw new PtliteError('INVALID_ARGUMENT', error.message, { cause: error })
    throw error
  }
}

function knownSchema(qualifiedName: string): string | undefined {
  const entry = findOperator(qualifiedName)
  return entry === undefined ? undefined : schemaText(qualifiedName, entry.schema)
}
