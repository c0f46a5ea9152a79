import { guarded } from '../../program/file-error.js'
import { Flow, type Step } from './flow.js'
import type { Kernel } from './kernel.js'
import type { Instruction, Plan } from './plan.js'
import { type Effects, Variables } from './variables.js'

/** What serves an instruction; null for those that are no calls. */
export type KernelFor = (instruction: Instruction) => Kernel | null

/** What is known of a method before it is written. */
export interface Analysis {
  readonly plan: Plan
  readonly variables: Variables
  readonly kernels: readonly (Kernel | null)[]
  readonly flow: Flow
  /** Variables that are read before the method writes them: what outlives its calls, and numbers that it begins with. */
  readonly live: ReadonlySet<string>
  /** Variables whose memory is written to in part, or that may share it with one. */
  readonly shared: ReadonlySet<string>
  /** A value of each variable that is a tensor, by key: one that has data, where there is one. */
  readonly tensors: ReadonlyMap<string, number>
}

const NOTHING: Effects = { reads: [], writes: [] }

export function analyse(plan: Plan, kernelFor: KernelFor): Analysis {
  const variables = new Variables(plan)
  const kernels = plan.instructions.map((item, i) => guarded(`instruction ${i}`, () => kernelFor(item)))
  const effects = plan.instructions.map((item, i) => guarded(`instruction ${i}`, () => effectsOf(item, kernels[i]!, variables)))
  const used = new Set(effects.flatMap(({ reads }) => reads.flatMap((index) => [...variables.items(index)])))
  // numbers that no instruction uses have the one value that the model was exported for
  variables.markWritten(plan.inputs.filter((input) => used.has(input) || variables.isTensor(input)))
  for (const { writes } of effects) variables.markWritten(writes)
  const steps = plan.instructions.map((item, i): Step => {
    const { reads, writes } = effects[i]!
    return {
      reads: variables.keysOf(reads),
      writes: writes.flatMap((index) => {
        const key = variables.keyOf(index)
        return key === null ? [] : [[key, variables.likeOf(index)] as const]
      }),
      next: nextOf(item, i, plan, variables),
    }
  })
  const flow = new Flow(steps)
  const live = new Set(flow.liveAtStart(variables.keysOf(plan.outputs)))
  for (const key of variables.keysOf(plan.inputs)) live.delete(key)
  return { plan, variables, kernels, flow, live, shared: sharedIn(effects, variables), tensors: tensorsIn(plan, variables) }
}

function effectsOf(item: Instruction, kernel: Kernel | null, variables: Variables): Effects {
  switch (item.kind) {
    case 'kernel':
    case 'delegate':
      return kernel!.effects(item.args, variables)
    case 'move':
      return { reads: [item.from], writes: [item.to], aliases: [[item.from, item.to]] }
    case 'jump':
      return { reads: [item.condition], writes: [] }
    case 'free':
      return NOTHING
  }
}

function nextOf(item: Instruction, at: number, { values }: Plan, variables: Variables): number[] {
  if (item.kind !== 'jump') return [at + 1]
  const condition = values[item.condition]!
  if (condition.kind !== 'bool' || variables.keyOf(item.condition) !== null) return [...new Set([item.destination, at + 1])]
  return [condition.value ? at + 1 : item.destination]
}

function sharedIn(effects: readonly Effects[], variables: Variables): Set<string> {
  const shared = new Set(effects.flatMap(({ updates }) => variables.keysOf(updates ?? [])))
  const pairs = effects.flatMap(({ aliases }) => (aliases ?? []).map((pair) => pair.map((index) => variables.keyOf(index))))
  for (let before = -1; before < shared.size;) {
    before = shared.size
    for (const pair of pairs)
      if (pair.some((key) => key !== null && shared.has(key))) for (const key of pair) if (key !== null) shared.add(key)
  }
  return shared
}

function tensorsIn({ values }: Plan, variables: Variables): Map<string, number> {
  const tensors = new Map<string, number>()
  values.forEach((value, i) => {
    const key = value.kind === 'tensor' ? variables.keyOf(i) : null
    if (key === null || value.kind !== 'tensor') return
    const known = tensors.get(key)
    const weight = (index: number): number => {
      const { data, name } = variables.tensor(index)
      return data !== null ? 2 : name !== '' ? 1 : 0
    }
    if (known === undefined || weight(i) > weight(known)) tensors.set(key, i)
  })
  return tensors
}
