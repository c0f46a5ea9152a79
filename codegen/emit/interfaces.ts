import { type Backend, BACKEND_FOLDERS, type Branch, isInplace, type Operator, outNames } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { banner, OPERATOR_INPUTS, typeImports } from './file.js'
import { nativeType } from './signature.js'

/** runtime/operators/support/generated/interfaces.ts: the types of each backend's native functions. */
export function emitInterfaces(operators: readonly Operator[], options: BuildOptions): string {
  const sections = modulesOf(options).map(
    ([backend]) => `export interface ${backend} {\n${interfaceMembers(operators, (b) => b === backend)}}\n`,
  )
  const body = sections.join('\n')
  return `${banner('interfaces.ts', OPERATOR_INPUTS)}${typeImports(body, '../../../tensor')}\n${body}`
}

/** runtime/operators/generated/modules.ts: that each backend's module exports what its interface says. Types only. */
export function emitModules(options: BuildOptions): string {
  const modules = modulesOf(options)
  const imports = modules.map(([, folder]) => `import type * as ${nameOf(folder)} from '../${folder}/index.js'\n`)
  const checks = modules.map(([backend, folder]) => `export type ${backend}Module = Provides<${backend}, typeof ${nameOf(folder)}>\n`)
  return `${banner('interfaces.ts', OPERATOR_INPUTS)}${imports.join('')}import type { ${modules.map(([backend]) => backend).join(', ')} } from '../support/generated/interfaces.js'

/** Fails to compile, naming the function, where a module lacks a native function or has it with another type. */
type Provides<Interface, Module extends Interface> = Module
${checks.join('')}`
}

function modulesOf(options: BuildOptions): [Backend, string][] {
  return [...BACKEND_FOLDERS].filter(([backend]) => options.backends.has(backend))
}

function nameOf(folder: string): string {
  return `${folder}Module`
}

/** A line per native function of the chosen backends. One that serves several operators must have all their types. */
export function interfaceMembers(operators: readonly Operator[], chosen: (backend: Backend) => boolean): string {
  const members = new Map<string, Set<string>>()
  for (const operator of operators) {
    for (const branch of operator.branches) {
      if (!chosen(branch.backend)) continue
      const types = members.get(branch.kernel) ?? new Set<string>()
      members.set(branch.kernel, types.add(typeOf(operator, branch)))
    }
  }
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, types]) => `  ${name}: ${[...types].map((t) => (types.size > 1 ? `(${t})` : t)).join(' & ')}\n`).join('')
}

function typeOf(operator: Operator, branch: Branch): string {
  const outs = outNames(operator.schema).length
  const count = branch.structured ? Math.max(outs, isInplace(operator.schema) ? 1 : operator.schema.returns.length) : 0
  return nativeType(operator, branch, count)
}
