import { generatorAddress } from '../runtime/operators/support/generator.js'
import * as kernels from '../runtime/native/generated/kernels.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Graph } from './graph/graph.js'
import { bytesAt, Contents } from './memory/contents.js'

/** Inputs of a graph whose memory some node writes to. */
export function writtenInputs({ nodes, inputs, values }: Graph): number[] {
  const written = new Set(nodes.flatMap(({ writes }) => writes.map((id) => values.get(id)!.storage)))
  return inputs.flatMap((id, i) => (written.has(values.get(id)!.storage) ? [i] : []))
}

export function drawsRandom({ nodes }: Graph): boolean {
  return nodes.some((node) => node.draws === true)
}

/** What memory holds, and where the random generator stands, to be put back. */
export class UndoLog {
  private readonly contents: Contents
  private readonly generator: { readonly address: number; readonly state: Uint8Array } | null

  constructor(tensors: readonly Tensor[], draws: boolean) {
    const address = draws ? generatorAddress() : 0
    this.generator = address === 0 ? null : { address, state: bytesAt(address, kernels.random_state_bytes({})) }
    this.contents = new Contents(tensors)
  }

  restore(): void {
    this.contents.restore()
    if (this.generator === null) return
    const { address, state } = this.generator
    kernels.mem_write({ address, bytes: state.length }, state)
  }
}

/** Where the random generator stands, if a run `draws`. */
export function generatorState(draws: boolean): Pick<UndoLog, 'restore'> {
  return new UndoLog([], draws)
}
