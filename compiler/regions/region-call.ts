import type { RunOptions } from '../../interpreter/run.js'
import type { ScriptModule } from '../../interpreter/script-module.js'
import type { LinkedFunction } from '../../program/linked.js'
import { visitTensors } from '../../program/reach.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { extentOf } from '../../runtime/tensor/shape.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CompiledCall } from '../compiled-call.js'
import { drawsRandom, generatorState, writtenInputs } from '../undo-log.js'
import type { Graph } from '../graph/graph.js'
import type { ModuleParts } from '../record/module-parts.js'
import type { Refusal } from '../record/recorder.js'
import type { RegionRecording } from '../record/region.js'
import { type StateParts, tensorAt } from '../record/state-signature.js'
import { inputsOf } from './region.js'

/** What regions need of the module that they are of. */
export interface RegionHost {
  readonly script: ScriptModule
  readonly parts: ModuleParts
  /** Of every interpreted call. */
  readonly runOptions: RunOptions
  interpretCall(fn: LinkedFunction, args: readonly Value[]): Value
  /** What tools show of the module has changed. */
  noteChange(): void
  /** `outside`: see `Plan.run`. */
  compileGraph(graph: Graph, inputs: readonly Tensor[], outside: boolean): { readonly call: CompiledCall; readonly result: Value }
  /** A plan was made that reads what `region` guards. */
  compiledRegion(region: RegionRecording): void
  reasonText(refusal: Pick<Refusal, 'reason' | 'origin'>): string
}

/** What the graph of a region returns for a state. */
export function runRegion(region: RegionRecording, call: CompiledCall, parts: StateParts): Tensor[] {
  if (parts.made.length === 0) return call.run(inputsOf(region, parts), false) as Tensor[]
  const moved: { readonly of: Storage; readonly as: Storage }[] = []
  const inputs = region.picks.map((i) => {
    const t = tensorAt(parts, i)
    if (i < parts.tensors.length) return t
    const apart = borrowed(t)
    moved.push({ of: t.storage, as: apart.storage })
    return apart
  })
  try {
    return call.run(inputs, false) as Tensor[]
  } finally {
    for (const { of, as } of moved) if (as.version > 0) of.version++
  }
}

/**
 * Compiles the graph of a region and runs it for a state. A view that is elsewhere in its memory each time is an input of its own, which
 * plans must not take for a part of the tensor that it lies in: they are made with copies of both.
 */
export function compileRegion(
  host: RegionHost,
  region: RegionRecording,
  parts: StateParts,
): { readonly call: CompiledCall; readonly outputs: Tensor[] } {
  const { graph, picks } = region
  if (parts.made.length === 0) {
    const { call, result } = host.compileGraph(graph, inputsOf(region, parts), false)
    return { call, outputs: result as Tensor[] }
  }
  const copies = new Map<Storage, Storage>()
  const written = new Set(writtenInputs(graph))
  const inputs = picks.map((i, at) => {
    const t = tensorAt(parts, i)
    return i >= parts.tensors.length ? copyOf(t) : written.has(at) ? copyOver(t, copies) : t
  })
  const before = generatorState(drawsRandom(graph))
  try {
    const { call, result } = host.compileGraph(graph, inputs, false)
    visitTensors(result, (t) => {
      if (!t.pinned && !inputs.includes(t)) t.release()
    })
    before.restore()
    try {
      return { call, outputs: runRegion(region, call, parts) }
    } catch (error) {
      call.dispose()
      throw error
    }
  } finally {
    for (const [i, t] of inputs.entries()) if (t !== tensorAt(parts, picks[i]!)) t.storage.free()
  }
}

/** The tensor as if its memory were its own. */
function borrowed(t: Tensor): Tensor {
  return heldApart(Storage.borrow(t.address, extentOf(t.shape, t.strides) * t.itemSize, t.storage), 0, t)
}

/** A copy that lies as the tensor does. */
function copyOf(t: Tensor): Tensor {
  const [start, bytes] = [t.offset * t.itemSize, extentOf(t.shape, t.strides) * t.itemSize]
  const storage = Storage.allocate(start + bytes)
  if (bytes > 0) kernels.mem_copy({ to: storage.address + start, from: t.address, bytes })
  return heldApart(storage, t.offset, t)
}

/** The tensor over a copy of its memory, one for all that share it. */
function copyOver(t: Tensor, copies: Map<Storage, Storage>): Tensor {
  const from = t.storage
  let storage = copies.get(from)
  if (storage === undefined) {
    copies.set(from, (storage = Storage.allocate(from.byteLength)))
    if (from.byteLength > 0) kernels.mem_copy({ to: storage.address, from: from.address, bytes: from.byteLength })
  }
  return heldApart(storage, t.offset, t)
}

/** Nobody releases it at its last use. */
function heldApart(storage: Storage, offset: number, { shape, strides, type, quant }: Tensor): Tensor {
  const t = new Tensor(storage, offset, shape, strides, type, quant)
  t.pinned = true
  return t
}
