import { type Backend, type Branch, isInplace, type Operator, outNames } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { banner, OPERATOR_INPUTS, typeImports } from './file.js'
import { nativeType } from './signature.js'

const MODULES: readonly (readonly [Backend, string])[] = [
  ['CPU', 'cpu'],
  ['QuantizedCPU', 'quantized-cpu'],
  ['Composite', 'composite'],
  ['Builtin', 'builtin'],
]

/** runtime/backends/generated/interfaces.ts: what each backend module must export. Types only. */
export function emitInterfaces(operators: readonly Operator[], options: BuildOptions): string {
  const sections = MODULES.filter(([backend]) => options.backends.has(backend)).map(([backend, folder]) =>
    section(operators, backend, folder),
  )
  const body = sections.join('\n')
  const modules = MODULES.filter(([backend]) => options.backends.has(backend))
    .map(([, folder]) => `import type * as ${folder.replace('-', '_')}Module from '../${folder}/index.js'\n`)
    .join('')
  return `${banner('interfaces.ts', OPERATOR_INPUTS)}${modules}${typeImports(body, '../../tensor')}
/** Fails to compile, naming the function, where a module lacks a native function or has it with another type. */
type Provides<Interface, Module extends Interface> = Module

${body}`
}

function section(operators: readonly Operator[], backend: Backend, folder: string): string {
  const members = interfaceMembers(operators, (b) => b === backend)
  return `export interface ${backend} {
${members}}
export type ${backend}Module = Provides<${backend}, typeof ${folder.replace('-', '_')}Module>
`
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
