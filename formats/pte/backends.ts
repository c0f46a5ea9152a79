import * as features from '../../runtime/features.js'
import type { Plan } from './plan.js'
import { XNNPACK } from './xnnpack/kernel.js'

/** What gives parts of a model to a backend when it is exported, by the name that files have for the backend. */
const PARTITIONERS: Readonly<Record<string, string>> = {
  CoreMLBackend: 'CoreMLPartitioner',
  CudaBackend: 'CudaPartitioner',
  EnnBackend: 'EnnPartitioner',
  EthosUBackend: 'EthosUPartitioner',
  MLXBackend: 'MLXPartitioner',
  MPSBackend: 'MPSPartitioner',
  MetalBackend: 'MetalPartitioner',
  NativeBackend: 'NativePartitioner',
  NeuropilotBackend: 'NeuropilotPartitioner',
  NeutronBackend: 'NeutronPartitioner',
  OpenvinoBackend: 'OpenvinoPartitioner',
  QnnBackend: 'QnnPartitioner',
  TOSABackend: 'TOSAPartitioner',
  VgfBackend: 'VgfPartitioner',
  VulkanBackend: 'VulkanPartitioner',
}

/** Backends other than XNNPACK that a method comes to. */
function foreignIn({ delegates, instructions }: Plan): string[] {
  const ids = instructions.flatMap((item) => (item.kind === 'delegate' ? [delegates[item.delegate]!.id] : []))
  return [...new Set(ids)].filter((id) => id !== XNNPACK)
}

/**
 * Why methods cannot be run, by plan: they come to another backend than XNNPACK. null for those that can. Each says which methods the backend serves, since exporting without
 * it is one step for all.
 */
export function refusalsOf(plans: readonly Plan[]): Map<Plan, string | null> {
  const foreign = new Map(plans.map((plan) => [plan, foreignIn(plan)]))
  return new Map(
    plans.map((plan) => {
      const ids = foreign.get(plan)!
      return [plan, ids.length === 0 ? null : refusalText(ids, plans, foreign)]
    }),
  )
}

function refusalText(ids: readonly string[], plans: readonly Plan[], foreign: ReadonlyMap<Plan, readonly string[]>): string {
  const served = plans.filter((plan) => foreign.get(plan)!.some((id) => ids.includes(id))).map(({ name }) => `'${name}'`)
  const others = plans.filter((plan) => foreign.get(plan)!.length === 0).map(({ name }) => `'${name}'`)
  const partitioners = features.advice ? ids.flatMap((id) => (Object.hasOwn(PARTITIONERS, id) ? [PARTITIONERS[id]!] : [])) : []
  const without = partitioners.length === 0 ? 'its partitioner' : partitioners.join(' and ')
  const methods = `method${served.length > 1 ? 's' : ''} ${served.join(', ')}`
  const rest = others.length === 0 ? '' : `; ${others.join(', ')} can be called`
  return `${methods} ${served.length > 1 ? 'were' : 'was'} lowered to the backend ${ids.join(', ')}, which this runtime has not got${rest}; export the model without ${without}, or with XnnpackPartitioner: to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])`
}
