import { planFromData, planToData } from '../../compiler/executor/transfer.js'
import type { MadePlan, Outcome, Plan, PlanData } from '../../compiler/index.js'
import { Guards } from '../../compiler/record/guards.js'
import type { ProgramInstance } from '../../interpreter/run-state.js'
import { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject } from '../../runtime/tensor/value.js'
import type { Encoded, Node } from './nodes.js'
import { ObjectTable } from './object-table.js'

/** Memory of the module by its number, or of the thread that made the plan, which keeps it until the plan is dropped. */
type SentStorage = number | { readonly address: number; readonly bytes: number }

/** A plan on its way from the worker. */
export interface SentPlan {
  /** What the worker calls it. */
  readonly id: number
  readonly data: PlanData<SentStorage, Encoded>
  /** The stand-ins in its result. */
  readonly nodes: readonly Node[]
  /** Attributes that were read: object and slot. */
  readonly attributes: readonly (readonly [number, number])[]
  readonly storages: readonly number[]
}

/** The outcome with its plan as `state`, what both threads know of the module, allows to send it. */
export function sendOutcome(outcome: Outcome<MadePlan>, id: number, state: ObjectTable): Outcome<SentPlan> {
  if (outcome.kind !== 'plan') return outcome
  const { plan, guards } = outcome.plan
  const attributes = [...guards.knownAttributes()].map(({ object, slot }) => [state.numberOf(object), slot] as const)
  const storages = [...guards.knownStorages()].map((storage) => state.numberOf(storage))
  if (!attributes.every((pair): pair is readonly [number, number] => pair[0] !== undefined) || !storages.every((n) => n !== undefined)) {
    return { kind: 'refused', reason: 'it reads what only the background thread has', origin: null, temporary: true }
  }
  const nodes: Node[] = []
  const marks = new ObjectTable(-1, nowhere)
  const data = planToData<SentStorage, Encoded>(plan, {
    storage: (storage) => state.numberOf(storage) ?? { address: storage.startAddress, bytes: storage.byteLength },
    value: (value) => marks.send(value, nodes),
    known: (tensor) => {
      const ref = state.numberOf(tensor)
      return ref === undefined ? undefined : { ref }
    },
  })
  return { ...outcome, plan: { id, data, nodes, attributes, storages } }
}

/** The plan in this thread, with guards on its module's state as it is now. Null where that holds too much to be compared. */
export function receivePlan(
  sent: SentPlan,
  program: ProgramInstance,
  state: ObjectTable,
): { readonly plan: Plan; readonly guards: Guards } | null {
  const guards = new Guards(program)
  for (const [number, slot] of sent.attributes) {
    const object = state.objectOf(number)
    if (!(object instanceof ScriptObject) || !guards.addAttribute(object, slot)) return null
  }
  for (const number of sent.storages) {
    const storage = state.objectOf(number)
    if (!(storage instanceof Storage) || !storage.live) return null
    guards.addStorage(storage)
  }
  const marks = new ObjectTable(1, nowhere)
  marks.receive(sent.nodes)
  const plan = planFromData(sent.data, {
    storage: (s) => (typeof s === 'number' ? (state.objectOf(s) as Storage) : Storage.borrow(s.address, s.bytes, null)),
    value: (encoded) => marks.valueOf(encoded),
    known: (encoded) => state.valueOf(encoded) as Tensor,
  })
  return { plan, guards }
}

/** Stand-ins have no memory. */
function nowhere(): Storage {
  return Storage.borrow(0, 0, null)
}
