import type { Analysis } from './analysis.js'
import type { Attributes } from './attributes.js'
import { isSameForm } from './form.js'
import type { State } from './method-emitter.js'

/** The memory that tensors of a call are in by default: later ones are of buffers that methods may share. */
const OWN_MEMORY = 1

/**
 * The variables of each method that outlive its calls, as attributes. Each method has memory of its own, but for memories that several have in the same size: there one
 * finds what another has left.
 */
export function statesOf(methods: readonly Analysis[], attributes: Attributes): Map<Analysis, Map<string, State>> {
  const shared = sharedMemories(methods)
  const isShared = (key: string): boolean => {
    const memory = memoryOf(key)
    return memory !== undefined && shared.has(memory)
  }
  /** By key, a method and its value. */
  const common = new Map<string, readonly [Analysis, number]>()
  for (const method of methods) {
    for (const key of method.live) {
      const index = method.tensors.get(key)
      if (index === undefined || !isShared(key)) continue
      const known = common.get(key)
      const hasData = (known?.[0].variables.tensor(known[1]).data ?? null) !== null
      if (known === undefined || !hasData) common.set(key, [method, index])
    }
  }
  return new Map(
    methods.map((method) => {
      const states = new Map<string, State>()
      const { plan, variables, tensors, live } = method
      const add = (key: string, index: number, scope: string): void => {
        const value = variables.tensor(index)
        const name =
          value.name !== '' ? value.name : `${methods.length > 1 && scope !== '' ? `${plan.name}.` : ''}buffer_${key.replaceAll(':', '_')}`
        const slot = attributes.state(`state ${scope} ${key}`, name, value, value.data)
        states.set(key, { slot, value: index })
      }
      for (const key of live) {
        const index = tensors.get(key)
        if (index !== undefined && !common.has(key)) add(key, index, `of ${plan.name}`)
      }
      for (const [key, [other, at]] of common) {
        const index = tensors.get(key)
        if (index === undefined) continue
        if (!isSameForm(variables.tensor(index), other.variables.tensor(at))) {
          if (live.has(key)) add(key, index, `of ${plan.name}`)
          continue
        }
        const value = other.variables.tensor(at)
        states.set(key, {
          slot: attributes.state(`state ${key}`, value.name !== '' ? value.name : `buffer_${key.replaceAll(':', '_')}`, value, value.data),
          value: index,
        })
      }
      return [method, states] as const
    }),
  )
}

function memoryOf(key: string): number | undefined {
  const match = /^m(\d+):/.exec(key)
  return match === null ? undefined : Number(match[1])
}

/** Memories beside the default one that all methods which have them have in one size. */
function sharedMemories(methods: readonly Analysis[]): Set<number> {
  const sizes = new Map<number, number[]>()
  for (const { plan } of methods)
    plan.memories.forEach((size, memory) => {
      if (memory > OWN_MEMORY) sizes.set(memory, [...(sizes.get(memory) ?? []), size])
    })
  return new Set([...sizes].filter(([, list]) => list.length > 1 && list.every((size) => size === list[0])).map(([memory]) => memory))
}
