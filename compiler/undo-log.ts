import { generatorAddress } from '../runtime/operators/support/generator.js'
import * as kernels from '../runtime/native/generated/kernels.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { CapturedRun } from './capture/captured.js'
import { isTotal } from './capture/total-frames.js'
import type { Graph } from './graph/graph.js'

/** Inputs of a graph whose memory some node writes to. */
export function writtenInputs({ nodes, inputs, values }: Graph): number[] {
  const written = new Set(nodes.flatMap(({ writes }) => writes.map((id) => values.get(id)!.storage)))
  return inputs.flatMap((id, i) => (written.has(values.get(id)!.storage) ? [i] : []))
}

export function drawsRandom({ nodes }: Graph): boolean {
  return nodes.some((node) => node.draws === true)
}

/** True where a run could fail after it has written to some of these inputs, or drawn random numbers. */
export function mayFailMidway({ frames }: CapturedRun, written: readonly number[]): boolean {
  const first = frames.findIndex(
    ({ layout, pointers }) => layout.random || pointers.some(({ target }) => target.kind === 'input' && written.includes(target.index)),
  )
  return first >= 0 && frames.slice(first).some((frame) => !isTotal(frame))
}

/** What memory holds, and where the random generator stands, to be put back. */
export class UndoLog {
  private readonly copies = new Map<Storage, Uint8Array>()
  private readonly generator: { readonly address: number; readonly state: Uint8Array } | null

  constructor(tensors: readonly Tensor[], draws: boolean) {
    const address = draws ? generatorAddress() : 0
    this.generator = address === 0 ? null : { address, state: read(address, kernels.random_state_bytes({})) }
    for (const { storage } of tensors) {
      if (this.copies.has(storage) || storage.byteLength === 0) continue
      this.copies.set(storage, read(storage.address, storage.byteLength))
    }
  }

  restore(): void {
    for (const [storage, bytes] of this.copies) {
      kernels.mem_write({ address: storage.address, bytes: bytes.length }, bytes)
      storage.version++
    }
    if (this.generator === null) return
    const { address, state } = this.generator
    kernels.mem_write({ address, bytes: state.length }, state)
  }
}

/** Where the random generator stands, if a run `draws`. */
export function generatorState(draws: boolean): Pick<UndoLog, 'restore'> {
  return new UndoLog([], draws)
}

function read(address: number, bytes: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  kernels.mem_read({ address, bytes }, copy)
  return copy
}
