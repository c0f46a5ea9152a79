/** Strides of a result [..., heads, queries, width] of attention whose rows are outside of the heads in memory. */
export function rowsFirstStrides(lead: readonly number[], queries: number, width: number): number[] {
  const heads = lead.at(-1)!
  const batch = lead.length === 2 ? [queries * heads * width] : []
  return [...batch, width, heads * width, 1]
}
