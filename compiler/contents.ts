import * as kernels from '../runtime/native/generated/kernels.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { CapturedRun } from './capture/captured.js'
import type { Graph } from './graph/graph.js'

/** Kernels that succeed for all contents of tensors; those that look for elements by index, among others, do not. */
const SURE = new Set([
  'activation',
  'attention',
  'batch_norm',
  'conv',
  'copy',
  'fill',
  'fused',
  'gemm',
  'group_norm',
  'jit_elementwise',
  'join_rows',
  'layer_norm',
  'linear',
  'pool',
  'reduce',
  'rms_norm',
  'rotary',
  'softmax',
  'special',
  'ternary',
  'unary',
])

/** Inputs of a graph whose memory some node writes to. */
export function writtenInputs({ nodes, inputs, values }: Graph): number[] {
  const written = new Set(nodes.flatMap(({ writes }) => writes.map((id) => values.get(id)!.storage)))
  return inputs.flatMap((id, i) => (written.has(values.get(id)!.storage) ? [i] : []))
}

/** True where a run could fail after it has written to some of these inputs. */
export function mayFailMidway({ frames }: CapturedRun, written: readonly number[]): boolean {
  const first = frames.findIndex(({ pointers }) => pointers.some(({ target }) => target.kind === 'input' && written.includes(target.index)))
  return first >= 0 && frames.slice(first).some(({ layout }) => !SURE.has(layout.name))
}

/** What memory holds, to be put back. */
export class Contents {
  private readonly copies = new Map<Storage, Uint8Array>()

  constructor(tensors: readonly Tensor[]) {
    for (const { storage } of tensors) {
      if (this.copies.has(storage) || storage.byteLength === 0) continue
      const bytes = new Uint8Array(storage.byteLength)
      kernels.mem_read({ address: storage.address, bytes: bytes.length }, bytes)
      this.copies.set(storage, bytes)
    }
  }

  restore(): void {
    for (const [storage, bytes] of this.copies) {
      kernels.mem_write({ address: storage.address, bytes: bytes.length }, bytes)
      storage.version++
    }
  }
}
