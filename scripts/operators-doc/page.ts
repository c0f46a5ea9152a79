import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOperators } from '../../codegen/generate.js'
import type { Operator } from '../../codegen/model/operator.js'
import { dtypesOf, PLAIN, type Probed } from './probe.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const GROUPS: readonly (readonly [string, readonly Probed[]])[] = [
  ['all', PLAIN],
  ['floating', ['float16', 'bfloat16', 'float32', 'float64']],
  ['integers', ['uint8', 'int8', 'int16', 'int32', 'int64']],
]

/** Dtypes with groups that are there whole under one name. */
function dtypesText(dtypes: readonly Probed[]): string {
  const words: string[] = []
  let rest = [...dtypes]
  for (const [name, members] of GROUPS) {
    if (!members.every((dtype) => rest.includes(dtype))) continue
    words.push(name)
    rest = rest.filter((dtype) => !members.includes(dtype))
  }
  return [...words, ...rest].join(', ')
}

const BACKENDS: Readonly<Record<string, string>> = { Composite: 'all' }

function row(name: string, overloads: readonly Operator[]): string {
  const backends = new Set(overloads.flatMap((o) => (o.derivation?.from ?? o).branches.map((b) => BACKENDS[b.backend] ?? b.backend)))
  const dtypes = new Set(overloads.flatMap((o) => dtypesOf(o.qualifiedName) ?? []))
  const inOrder = [...new Set<Probed>([...PLAIN, 'complex64', 'quint8', 'qint8', 'qint32'])].filter((dtype) => dtypes.has(dtype))
  const names = overloads.map((o) => (o.schema.overload === '' ? 'default' : o.schema.overload))
  return `| \`${name}\` | ${names.join(', ')} | ${[...backends].sort().join(', ')} | ${dtypesText(inOrder)} |`
}

/** docs/operators.md */
export function operatorsPage(): string {
  const operators = readOperators(join(root, 'codegen/native_functions'), root)
  const byName = new Map<string, Operator[]>()
  for (const operator of operators) {
    const name = operator.qualifiedName.split('.')[0]!
    byName.set(name, [...(byName.get(name) ?? []), operator])
  }
  const namespaces = [...new Set([...byName.keys()].map((name) => name.split('::')[0]!))].sort()
  const sections = namespaces.map((namespace) => {
    const rows = [...byName].filter(([name]) => name.startsWith(`${namespace}::`)).map(([name, overloads]) => row(name, overloads))
    return `## ${namespace}\n\n| operator | overloads | backends | dtypes |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return `# Operators

${byName.size} operators with ${operators.length} overloads, from the declarations in \`codegen/native_functions\`. \`npx tsx scripts/print-operators.ts\` writes this page.

Backends: \`CPU\` has kernels of its own for plain tensors, \`QuantizedCPU\` for quantized ones; \`all\` is made of other operators, or moves data
whatever it means; \`Builtin\` works on numbers, strings, lists and dicts.

Dtypes are those that some overload took when it was called with plain arguments in each of them: \`floating\` stands for float16, bfloat16,
float32 and float64, \`integers\` for uint8, int8, int16, int32 and int64, \`all\` for these and bool. Where the column is empty the operator
takes no tensor, or arguments that only it knows, such as packed weights.

${sections.join('\n')}`
}
