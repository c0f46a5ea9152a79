import type { CallCount, LayoutInfo, MethodLayout, PartitionInfo } from '../../program/layout-info.js'
import type { ProgramData } from './data.js'
import type { Plan } from './plan.js'

/** Kinds of a delegate's nodes; undefined where its graph was not read. */
export type NodesOf = (plan: Plan, delegate: number) => readonly string[] | undefined

/** What `inspect` says of a program beside its operators and parameters. */
export function layoutOf(
  plans: readonly Plan[],
  data: ProgramData,
  version: number,
  refusals: ReadonlyMap<Plan, string | null>,
  nodesOf: NodesOf,
): LayoutInfo {
  const sections = data.sections()
  return {
    versions: { container: 'ET12', program: version },
    methods: plans.map((plan) => methodLayout(plan, refusals.get(plan) ?? null, nodesOf)),
    sections,
    dataBytes: sections.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

function methodLayout(plan: Plan, refusal: string | null, nodesOf: NodesOf): MethodLayout {
  const { name, instructions, delegates, memories } = plan
  const calls = delegates.map(() => 0)
  for (const item of instructions) if (item.kind === 'delegate') calls[item.delegate]!++
  return {
    name,
    operators: counted(instructions.flatMap((item) => (item.kind === 'kernel' ? [item.operator] : []))),
    partitions: delegates.map(({ id, payload }, i): PartitionInfo => ({
      backend: id,
      calls: calls[i]!,
      bytes: payload().size,
      nodes: counted(nodesOf(plan, i) ?? []),
    })),
    memories: memories.slice(1),
    refusal,
  }
}

function counted(names: readonly string[]): CallCount[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name, calls]) => ({ name, calls }))
}
