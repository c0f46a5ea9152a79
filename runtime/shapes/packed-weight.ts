import { WeightFormat } from '../native/generated/kernels.js'

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

/** Scales of a row of k numbers; a group of 0 is the whole row. Formats of floats have none. */
export function scalesOfRow(format: number, k: number, group: number): number {
  if (format === WeightFormat.bfloat16 || format === WeightFormat.float16) return 0
  return group === 0 ? 1 : Math.ceil(k / group)
}

/** Bytes of a weight [n, k] as weight_pack writes it (codegen/kernels/packed_weight.yaml). */
export function packedBytes(format: number, n: number, k: number, group: number): number {
  const panels = Math.ceil(n / PANEL_ROWS)
  return panels * (BLOCK_BYTES[format]! * Math.ceil(k / BLOCK_NUMBERS) + 2 * PANEL_ROWS * scalesOfRow(format, k, group))
}
