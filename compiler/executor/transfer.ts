import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CapturedBuffer, CapturedRun, Pointer } from '../capture/captured.js'
import { layoutOf } from '../capture/frame-layout.js'
import type { TensorTemplate } from '../capture/result.js'
import type { BufferAssignment } from './buffer-assignment.js'
import { Plan } from './plan.js'

/** How storages, and values with tensors in them, cross to another thread of the process. */
export interface Sender<S, V> {
  storage(storage: Storage): S
  /** The result with its stand-ins for tensors; all calls see the same tensors as the same. */
  value(value: Value): V
  /** A tensor that was there before the run; undefined for one that the other side does not have. */
  known(tensor: Tensor): V | undefined
}

/** The other side. */
export interface Receiver<S, V> {
  storage(sent: S): Storage
  value(sent: V): Value
  known(sent: V): Tensor
}

/** A plan as plain data. */
export interface PlanData<S, V> {
  readonly frames: readonly {
    readonly kernel: number
    readonly bytes: Uint8Array
    readonly host: Uint8Array | null
    readonly pointers: readonly Pointer[]
  }[]
  readonly buffers: readonly CapturedBuffer[]
  readonly constants: readonly S[]
  readonly aliases: readonly number[]
  readonly written: readonly number[]
  readonly result: V
  readonly tensors: readonly (Omit<TensorTemplate, 'same'> & {
    /** What stands for it in `result`. */
    readonly mark: V
    /** The argument itself, another tensor that was there, or a new one. */
    readonly same: 'argument' | 'new' | { readonly tensor: V }
  })[]
  readonly placement: BufferAssignment
}

export function planToData<S, V>({ captured, placement }: Pick<Plan, 'captured' | 'placement'>, to: Sender<S, V>): PlanData<S, V> {
  const { frames, buffers, constants, aliases, written, result } = captured
  return {
    frames: frames.map(({ layout, bytes, host, pointers }) => ({ kernel: layout.kernel, bytes, host, pointers })),
    buffers,
    constants: constants.map(({ storage }) => to.storage(storage)),
    aliases,
    written,
    result: to.value(result.value),
    tensors: [...result.tensors].map(([mark, { same, ...template }]) => ({
      ...template,
      mark: to.value(mark),
      same: same === null ? 'new' : template.target.kind === 'input' ? 'argument' : knownOr(to.known(same)),
    })),
    placement,
  }
}

/** Of a view that the run itself made there is a new one each time. */
function knownOr<V>(tensor: V | undefined): 'new' | { readonly tensor: V } {
  return tensor === undefined ? 'new' : { tensor }
}

/** The plan in this thread; constants have the contents that they had when it was made. */
export function planFromData<S, V>(data: PlanData<S, V>, from: Receiver<S, V>): Plan {
  const value = from.value(data.result)
  const tensors = data.tensors.map(({ mark, same, ...template }): [Tensor, TensorTemplate] => {
    const stand = from.value(mark) as Tensor
    return [stand, { ...template, same: same === 'new' ? null : same === 'argument' ? stand : from.known(same.tensor) }]
  })
  const captured: CapturedRun = {
    frames: data.frames.map(({ kernel, bytes, host, pointers }) => ({ layout: layoutOf(kernel), bytes, host, pointers })),
    buffers: data.buffers,
    constants: data.constants.map((sent) => {
      const storage = from.storage(sent)
      return { storage, version: storage.version }
    }),
    aliases: data.aliases,
    written: data.written,
    result: { value, tensors: new Map(tensors) },
  }
  return new Plan(captured, data.placement)
}
