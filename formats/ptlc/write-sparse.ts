import type { Offset } from 'flatbuffers'
import { describeSparse, type SparseDescription } from '../../runtime/operators/cpu/support/sparse-weight.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { CapturedFrame, StoredBlocks } from '../../compiler/capture/captured.js'
import { fieldOf } from '../../compiler/capture/frame-layout.js'
import type { Encoder } from './encode.js'
import { Field } from './schema.js'

/** The block-sparse weights of a file, each once. */
export class SparseSection {
  private readonly entries: StoredBlocks[] = []
  private readonly numbers = new Map<string, number>()

  /** `addBytes` puts contents among the constants and returns their number. */
  constructor(private readonly addBytes: (content: Uint8Array) => number) {}

  /** Rows of frame and weight, for the frames that have one. */
  rowsOf(frames: readonly CapturedFrame[]): number[] {
    return frames.flatMap((frame, i) => (frame.layout.fields.has('handle') ? [i, this.add(frame)] : []))
  }

  private add({ layout, bytes }: CapturedFrame): number {
    const handle = fieldOf(layout, bytes, 'handle')
    const description = describeSparse(handle)!
    const { length } = kernels.sparse_gemm_store({ handle, capacity: 0 }, new Uint8Array(1))
    const content = new Uint8Array(length)
    const { blocks, width } = kernels.sparse_gemm_store({ handle, capacity: length }, content)
    const stored = { constant: this.addBytes(content), blocks, width, description }
    const key = JSON.stringify(stored, (_, value: unknown) => (typeof value === 'number' ? exact(value) : value))
    const known = this.numbers.get(key)
    if (known !== undefined) return known
    this.numbers.set(key, this.entries.length)
    return this.entries.push(stored) - 1
  }

  encode(e: Encoder): Offset {
    return e.offsets(this.entries.map((stored) => encodeStored(e, stored)))
  }
}

/** As text, with the sign of zero and infinities, which JSON leaves out. */
const exact = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))

function encodeStored(e: Encoder, { constant, blocks, width, description }: StoredBlocks): Offset {
  const { n, k, dtype, m, form, has_bias: hasBias, p0, p1 } = description
  const [ops, access] = [description.ops, description.access].map((list: SparseDescription['ops']) => e.uint32s(list))
  const numbers = e.float64s([...p0, ...p1])
  const at = Field.sparse
  return e.table(12, (b) => {
    b.addFieldInt32(at.constant, constant, 0)
    b.addFieldInt64(at.blocks, BigInt(blocks), 0n)
    b.addFieldInt32(at.width, width, 0)
    b.addFieldInt64(at.n, BigInt(n), 0n)
    b.addFieldInt64(at.k, BigInt(k), 0n)
    b.addFieldInt8(at.dtype, dtype, 0)
    b.addFieldInt64(at.rows, BigInt(m), 0n)
    b.addFieldInt8(at.form, form, 0)
    b.addFieldInt8(at.hasBias, hasBias, 0)
    b.addFieldOffset(at.ops, ops!, 0)
    b.addFieldOffset(at.access, access!, 0)
    b.addFieldOffset(at.numbers, numbers, 0)
  })
}
