import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { customBanner, type CustomFile, emitCustomKernels, emitCustomOperators } from './emit/custom.js'
import { emitCustomKernelsHeader } from './emit/kernels-header.js'
import { at, CodegenError, failAt } from './error.js'
import { parseKernels } from './kernel-abi/parse.js'
import type { Operator } from './model/operator.js'
import { parseEntry } from './model/parse-entry.js'
import { resolveOperators } from './model/resolve.js'
import { backendsFrom, type BuildOptions, DEVICE_BACKENDS, everything } from './options.js'
import type { GeneratedFiles } from './generate.js'
import { defaultLiteral } from './emit/default-value.js'
import type { FunctionSchema } from './schema/model.js'
import { parseSchema } from './schema/parser.js'
import { printSchema, printType } from './schema/printer.js'
import { type Entry, parseEntries } from './yaml-file.js'

export interface CustomRequest {
  /** The user's YAML: operators in PyTorch's syntax, and `kernel` and `enum` entries. */
  readonly path: string
  /** Module of the native functions, as seen from the output folder. */
  readonly natives: string
  /** The schema of an operator that the library has; undefined for others. */
  readonly knownSchema: (qualifiedName: string) => string | undefined
}

/** What `ptlite codegen --ops` writes. Throws CodegenError naming file and line. */
export function generateCustom(request: CustomRequest): GeneratedFiles {
  const entries = parseEntries(readFileSync(request.path, 'utf8'), basename(request.path))
  const isKernel = (entry: Entry): boolean => entry.fields.some((f) => f.key === 'kernel' || f.key === 'enum')
  const operators = resolveOperators(entries.filter((e) => !isKernel(e)).map(parseEntry))
  const abi = parseKernels(entries.filter(isKernel))
  if (operators.length === 0 && abi.kernels.length === 0) throw new CodegenError(`${request.path}: declares neither operators nor kernels`)
  for (const operator of operators) checkReplacement(operator, request)

  const file: CustomFile = {
    input: basename(request.path),
    natives: request.natives,
    isKnown: (name) => request.knownSchema(name) !== undefined,
  }
  const files = new Map<string, string>()
  if (operators.length > 0) files.set('operators.ts', emitCustomOperators(operators, OPTIONS, file))
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

/** A kernel that replaces the library's own must be for the same schema, or a model would call it with other arguments. */
function checkReplacement(operator: Operator, request: CustomRequest): void {
  const text = request.knownSchema(operator.qualifiedName)
  if (text === undefined || signature(parseSchema(text)) === signature(operator.schema)) return
  const { source } = operator.native
  failAt(source, operator.qualifiedName, `the library has ${text}, ${at(source)} declares ${printSchema(operator.schema)}`)
}

/** Argument and result types, names and defaults as compared text; SymInt is int. */
function signature(schema: FunctionSchema): string {
  const args = schema.arguments.map((a) => {
    const value = a.defaultValue === null ? '' : `=${defaultLiteral(a.defaultValue, a.type) ?? '?'}`
    return `${a.kwargOnly ? '*' : ''}${printType(a.type)} ${a.name}${value}`
  })
  return `${args.join()} -> ${schema.returns.map((r) => printType(r.type)).join()}`.replaceAll('SymInt', 'int')
}
