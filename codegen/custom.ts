import { readFileSync } from 'node:fs'
import { bindCFunction, isCFunction, withoutC } from './c-functions/bind.js'
import { emitCFunctions } from './emit/c-functions.js'
import { customBanner, type CustomFile, emitCustomKernels, emitCustomOperators } from './emit/custom.js'
import { emitCustomKernelsHeader } from './emit/kernels-header.js'
import { at, CodegenError, failAt } from './error.js'
import { parseKernels } from './kernel-abi/parse.js'
import { checkDispatch } from './model/check-dispatch.js'
import type { Operator } from './model/operator.js'
import { parseEntry } from './model/parse-entry.js'
import { resolveOperators } from './model/resolve.js'
import { backendsFrom, type BuildOptions, DEVICE_BACKENDS, everything } from './options.js'
import type { GeneratedFiles } from './generate.js'
import { defaultLiteral } from './types/default-value.js'
import type { FunctionSchema } from './schema/model.js'
import { parseSchema } from './schema/parser.js'
import { printSchema, printType } from './schema/printer.js'
import { type Entry, parseEntries } from './yaml-file.js'

export interface CustomRequest {
  /** The user's YAML files: operators in PyTorch's syntax, and `kernel` and `enum` entries. */
  readonly paths: readonly string[]
  /** Module of the native functions, as seen from the output folder. */
  readonly natives: string
  /** An operator that the library has; undefined for others. */
  readonly known: (qualifiedName: string) => KnownOperator | undefined
}

export interface KnownOperator {
  readonly schema: string
  /** file:line of its declaration. */
  readonly source: string
}

/** What `ptlite codegen --ops` writes. Throws CodegenError naming file and line. */
export function generateCustom(request: CustomRequest): GeneratedFiles {
  const entries = request.paths.flatMap((path) => parseEntries(readFileSync(path, 'utf8'), path))
  const input = request.paths.join(', ')
  const isKernel = (entry: Entry): boolean => entry.fields.some((f) => ['kernel', 'enum', 'mixin'].includes(f.key))
  const declared = entries.filter((e) => !isKernel(e))
  const natives = declared.map((entry) => parseEntry(isCFunction(entry) ? withoutC(entry) : entry))
  const cFunctions = declared.flatMap((entry, i) => (isCFunction(entry) ? [bindCFunction(entry, natives[i]!.schema)] : []))
  checkDispatch(natives)
  const operators = resolveOperators(natives)
  const abi = parseKernels(entries.filter(isKernel))
  if (operators.length === 0 && abi.kernels.length === 0) throw new CodegenError(`${input}: declares neither operators nor kernels`)
  for (const operator of operators) checkReplacement(operator, request)

  const file: CustomFile = {
    input,
    natives: request.natives,
    isKnown: (name) => request.known(name) !== undefined,
    isC: (name) => cFunctions.some((f) => f.qualifiedName === name),
  }
  const files = new Map<string, string>()
  if (operators.length > 0) files.set('operators.ts', emitCustomOperators(operators, OPTIONS, file))
  if (cFunctions.length > 0) files.set('c_functions.ts', emitCFunctions(cFunctions, file))
  if (abi.kernels.length > 0) {
    files.set('kernels.ts', emitCustomKernels(abi, file))
    files.set('custom_kernels.h', emitCustomKernelsHeader(abi, customBanner(file)))
  }
  return files
}

// everything is in one file, so calls need no namespace but that of the native functions
const OPTIONS: BuildOptions = {
  backends: backendsFrom(DEVICE_BACKENDS),
  selector: everything,
  names: { modules: { CPU: 'natives', QuantizedCPU: 'natives', Composite: 'natives', Builtin: 'natives' }, dispatched: '', derived: '' },
}

/**
 * A kernel that replaces the library's own names its backend, so that nobody replaces one by accident, and must be for
 * the same schema, or a model would call it with other arguments.
 */
function checkReplacement({ native, qualifiedName, schema }: Operator, request: CustomRequest): void {
  const known = request.known(qualifiedName)
  if (known === undefined) return
  const { source } = native
  if (signature(parseSchema(known.schema)) !== signature(schema)) {
    failAt(source, qualifiedName, `the library has ${known.schema} (${known.source}), ${at(source)} declares ${printSchema(schema)}`)
  }
  if (native.dispatch.length === 0) {
    failAt(
      source,
      qualifiedName,
      `declared twice: at ${known.source} and at ${at(source)}; 'dispatch' says for which backend to replace its kernel`,
    )
  }
}

/** Argument and result types, names and defaults as compared text; SymInt is int. */
function signature(schema: FunctionSchema): string {
  const args = schema.arguments.map((a) => {
    const value = a.defaultValue === null ? '' : `=${defaultLiteral(a.defaultValue, a.type) ?? '?'}`
    return `${a.kwargOnly ? '*' : ''}${printType(a.type)} ${a.name}${value}`
  })
  return `${args.join()} -> ${schema.returns.map((r) => printType(r.type)).join()}`.replaceAll('SymInt', 'int')
}
