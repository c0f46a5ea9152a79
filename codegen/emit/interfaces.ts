import { isInplace, type Backend, type Operator, outNames } from '../model/operator.js'
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
  const members = new Map<string, Member>()
  for (const operator of operators)
    for (const branch of operator.branches) if (branch.backend === backend) addMember(members, operator, branch)
  const lines = [...members]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, m]) => `  ${name}: ${[...m.types].map((t) => (m.types.size > 1 ? `(${t})` : t)).join(' & ')}\n`)
  return `export interface ${backend} {
${lines.join('')}}
export type ${backend}Module = Provides<${backend}, typeof ${folder.replace('-', '_')}Module>
`
}

interface Member {
  readonly types: Set<string>
}

/** One function may serve several operators; then it must have all their types. */
function addMember(members: Map<string, Member>, operator: Operator, branch: Operator['branches'][number]): void {
  const outs = outNames(operator.schema).length
  const count = branch.structured ? Math.max(outs, isInplace(operator.schema) ? 1 : operator.schema.returns.length) : 0
  const type = nativeType(operator, branch, count)
  const member = members.get(branch.kernel)
  if (member === undefined) members.set(branch.kernel, { types: new Set([type]) })
  else member.types.add(type)
}
