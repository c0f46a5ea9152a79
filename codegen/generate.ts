import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { emitDeclarations } from './emit/declarations.js'
import { emitDerived } from './emit/derived.js'
import { dispatchFiles } from './emit/dispatch.js'
import { emitExtents } from './emit/extents.js'
import { emitInterfaces, emitModules } from './emit/interfaces.js'
import { emitKernelFields } from './emit/kernel-fields.js'
import { emitKernelLayouts } from './emit/kernel-layouts.js'
import { emitKernelHeaders, emitStatusHeader } from './emit/kernels-header.js'
import { kernelFiles } from './emit/kernels-ts.js'
import { emitTables } from './emit/table.js'
import type { KernelAbi } from './kernel-abi/model.js'
import { parseKernels } from './kernel-abi/parse.js'
import { checkDispatch } from './model/check-dispatch.js'
import type { Operator } from './model/operator.js'
import { parseEntry } from './model/parse-entry.js'
import { resolveOperators } from './model/resolve.js'
import { expandTemplates } from './model/template.js'
import { type BuildOptions, tableOf, TABLES } from './options.js'
import { type Entry, readEntries } from './yaml-file.js'
import { emitKernelNumbers } from './emit/kernel-numbers.js'
import { emitMoves, emitOperatorFacts, emitPointwise } from './emit/operator-facts.js'
import { checkFacts } from './model/facts.js'

/** Path, relative to the output folder, and text of each generated file. */
export type GeneratedFiles = ReadonlyMap<string, string>

/** Entries of all YAML files of a folder, in the order of file names. `root` shortens paths in messages. */
export function readFolder(folder: string, root: string): Entry[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return files.sort().flatMap((name) => readEntries(join(folder, name), relative(root, join(folder, name))))
}

export function readOperators(folder: string, root: string): Operator[] {
  const natives = expandTemplates(readFolder(folder, root)).map(parseEntry)
  checkDispatch(natives)
  const operators = resolveOperators(natives)
  checkFacts(operators)
  return operators
}

export function readKernels(folder: string, root: string): KernelAbi {
  return parseKernels(readFolder(folder, root), true)
}

/** Everything that operator declarations give. */
export function emitOperators(all: readonly Operator[], options: BuildOptions): GeneratedFiles {
  const inOrder = TABLES.flatMap((table) => all.filter((o) => tableOf(o, options) === table))
  const operators = inOrder.filter((o) => options.selector.operator(o))
  return new Map([
    ...emitTables(operators, options),
    ['runtime/operators/table/generated/derived.ts', emitDerived(operators, options)],
    ['runtime/operators/table/generated/moves.ts', emitMoves(operators)],
    ['compiler/generated/operator-facts.ts', emitOperatorFacts(operators)],
    ['compiler/generated/pointwise.ts', emitPointwise(operators)],
    ['runtime/operators/table/generated/declarations.ts', emitDeclarations(operators)],
    // composite functions call operators that a model does not name, so these two are never cut
    ...dispatchFiles(inOrder, options),
    ['runtime/operators/support/generated/interfaces.ts', emitInterfaces(all, options)],
    ['runtime/operators/generated/modules.ts', emitModules(options)],
  ])
}

/** Both sides of the kernel ABI. */
export function emitKernels(abi: KernelAbi, options: BuildOptions): GeneratedFiles {
  const { selector } = options
  const selected = { ...abi, kernels: abi.kernels.filter((k) => selector.kernel(k.name)) }
  const absent = abi.kernels.filter((k) => !selector.kernel(k.name))
  const headers = emitKernelHeaders(selected, absent, selector)
  return new Map([
    ...kernelFiles(selected, absent, options),
    ['runtime/native/generated/kernel-fields.ts', emitKernelFields(selected)],
    ['runtime/native/generated/layouts.ts', emitKernelLayouts(selected)],
    ['runtime/native/generated/extents.ts', emitExtents(selected)],
    ['runtime/native/generated/numbers.ts', emitKernelNumbers(abi)],
    ['kernels/include/ptlite_status.h', emitStatusHeader(abi)],
    ...[...headers].map(([path, text]): [string, string] => [`kernels/generated/${path}`, text]),
  ])
}
