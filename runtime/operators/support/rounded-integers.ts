import * as kernels from '../../native/generated/kernels.js'
import { BLOCK_NUMBERS, packedBytes, PANEL_ROWS, scalesOfRow } from '../../shapes/packed-weight.js'
import { bfloat16ToNumber } from '../../tensor/half.js'
import { Storage } from '../../tensor/storage.js'
import type { Tensor } from '../../tensor/tensor.js'

/** The numbers of a matrix [n, k] as integers by rows, and their scales, [n, groups]. */
export interface RoundedIntegers {
  readonly integers: Int8Array
  readonly scales: Float32Array
}

/** What products with a float32 matrix of two dimensions round it to; a group of 0 is a whole row. */
export function integersOf(weight: Tensor, name: 'int8' | 'int4', group: number): RoundedIntegers {
  const [n, k] = weight.shape as [number, number]
  const [nStride, kStride] = weight.strides as [number, number]
  const format = kernels.WeightFormat[name]
  const packed = Storage.allocate(packedBytes(format, n, k, group))
  kernels.weight_pack({ format, n, k, group, n_stride: nStride, k_stride: kStride, src: weight.address, dst: packed.address })
  const bytes = new Uint8Array(packed.byteLength)
  packed.read(0, bytes)
  packed.free()
  const [blocks, count] = [Math.ceil(k / BLOCK_NUMBERS), scalesOfRow(format, k, group)]
  const blockBytes = (PANEL_ROWS * BLOCK_NUMBERS) / (name === 'int8' ? 1 : 2)
  const bits = new Uint16Array(bytes.buffer, Math.ceil(n / PANEL_ROWS) * blocks * blockBytes)
  const integers = new Int8Array(n * k)
  const scales = new Float32Array(n * count)
  for (let row = 0; row < n; row++) {
    const [panel, r] = [Math.floor(row / PANEL_ROWS), row % PANEL_ROWS]
    for (let g = 0; g < count; g++) scales[row * count + g] = bfloat16ToNumber(bits[(panel * count + g) * PANEL_ROWS + r]!)
    for (let i = 0; i < k; i++) {
      const [block, place] = [Math.floor(i / BLOCK_NUMBERS), i % BLOCK_NUMBERS]
      const start = (panel * blocks + block) * blockBytes
      integers[row * k + i] = name === 'int8' ? int8At(bytes, start, place, r) : int4At(bytes, start, place, r)
    }
  }
  return { integers, scales }
}

// codegen/kernels/packed_weight.yaml says where numbers lie

function int8At(bytes: Uint8Array, block: number, place: number, row: number): number {
  return (bytes[block + (place >> 2) * 4 * PANEL_ROWS + row * 4 + (place & 3)]! << 24) >> 24
}

function int4At(bytes: Uint8Array, block: number, place: number, row: number): number {
  const byte = bytes[block + (place >> 3) * 4 * PANEL_ROWS + row * 4 + (place & 3)]!
  return ((place & 4) === 0 ? byte & 15 : byte >> 4) - 8
}
