import { ScaleFormat, WeightFormat, ZeroPoints } from '../native/generated/kernels.js'

/** Rows of a weight that lie together in packed form, and numbers of each. */
export const PANEL_ROWS = 16
export const BLOCK_NUMBERS = 32

/** Bytes of a block of a panel. */
const BLOCK_BYTES: Readonly<Record<number, number>> = {
  [WeightFormat.bfloat16]: 1024,
  [WeightFormat.float16]: 1024,
  [WeightFormat.int8]: 512,
  [WeightFormat.int4]: 256,
}

/** Numbers of a row of a packed filter: the channels of a tap are whole blocks, but for a single tap. */
export function filterRow(channels: number, taps: number): number {
  return taps === 1 ? channels : taps * BLOCK_NUMBERS * Math.ceil(channels / BLOCK_NUMBERS)
}

/** Scales of a row of k numbers; a group of 0 is the whole row. Formats of floats have none. */
export function scalesOfRow(format: number, k: number, group: number): number {
  if (format === WeightFormat.bfloat16 || format === WeightFormat.float16) return 0
  return group === 0 ? 1 : Math.ceil(k / group)
}

/** Bytes of a weight [n, k] as weight_pack and weight_pack_integers write it (codegen/kernels/packed_weight.yaml). */
export function packedBytes(
  format: number,
  n: number,
  k: number,
  group: number,
  scale: number = ScaleFormat.bfloat16,
  zero: number = ZeroPoints.none,
): number {
  const panels = Math.ceil(n / PANEL_ROWS)
  const scaleBytes = scale === ScaleFormat.float32 ? 4 : 2
  const zeroBytes = zero === ZeroPoints.none ? 0 : zero === ZeroPoints.integers ? 1 : scaleBytes
  return (
    panels * (BLOCK_BYTES[format]! * Math.ceil(k / BLOCK_NUMBERS) + (scaleBytes + zeroBytes) * PANEL_ROWS * scalesOfRow(format, k, group))
  )
}
