import { planFromData, planToData } from '../../compiler/executor/transfer.js'
import type { MadePlan, Outcome, PlanData } from '../../compiler/index.js'
import { Guards } from '../../compiler/record/guards.js'
import { tensorShape, type TensorShape } from '../../compiler/record/signature.js'
import type { StateInput } from '../../compiler/regions/state-call.js'
import type { ProgramInstance } from '../../interpreter/run-state.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../../runtime/tensor/value.js'
import type { Encoded, Node } from './nodes.js'
import { ObjectTable } from './object-table.js'
import type { ReceivedPlan } from './steps.js'

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
  /** As in MadePlan, with the forms of the tensors. */
  readonly state: readonly { readonly object: number; readonly slot: number; readonly form: TensorShape }[] | null
  readonly kept: readonly number[]
}

/** The outcome with its plan as `state`, what both threads know of the module, allows to send it. */
export function sendOutcome(outcome: Outcome<MadePlan>, id: number, state: ObjectTable): Outcome<SentPlan> {
  if (outcome.kind !== 'plan') return outcome
  const { plan, guards, kept } = outcome.plan
  const places = outcome.plan.state?.map(({ object, slot }) => ({ object: state.numberOf(object), slot, form: formOf(object.slots[slot]) }))
  const attributes = [...guards.knownAttributes()].map(({ object, slot }) => [state.numberOf(object), slot] as const)
  const storages = [...guards.knownStorages()].map((storage) => state.numberOf(storage))
  if (
    !attributes.every((pair): pair is readonly [number, number] => pair[0] !== undefined) ||
    !storages.every((n) => n !== undefined) ||
    places?.every((place): place is StatePlace => place.object !== undefined && place.form !== null) === false
  ) {
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
  return { ...outcome, plan: { id, data, nodes, attributes, storages, state: (places as StatePlace[] | undefined) ?? null, kept } }
}

type StatePlace = NonNullable<SentPlan['state']>[number]

function formOf(value: Value | undefined): TensorShape | null {
  return value instanceof Tensor ? tensorShape(value) : null
}

/** The plan in this thread, with guards on its module's state as it is now. Null where that holds too much to be compared. */
export function receivePlan(sent: SentPlan, program: ProgramInstance, state: ObjectTable): ReceivedPlan | null {
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
  const places = sent.state?.map(({ object, slot, form }) => ({ object: state.objectOf(object), slot, form }))
  if (places?.every((place): place is StateInput => place.object instanceof ScriptObject) === false) return null
  const marks = new ObjectTable(1, nowhere)
  marks.receive(sent.nodes)
  const plan = planFromData(sent.data, {
    storage: (s) => (typeof s === 'number' ? (state.objectOf(s) as Storage) : Storage.borrow(s.address, s.bytes, null)),
    value: (encoded) => marks.valueOf(encoded),
    known: (encoded) => state.valueOf(encoded) as Tensor,
  })
  return { plan, guards, state: (places as StateInput[] | undefined) ?? null, kept: sent.kept }
}

/** Stand-ins have no memory. */
function nowhere(): Storage {
  return Storage.borrow(0, 0, null)
}
