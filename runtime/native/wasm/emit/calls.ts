/** Bytes from the start of the structures of kernels/jit/elementwise_call.h and sparse_call.h, as 32-bit WebAssembly lays them out. */
export const ELEMENTWISE_CALL = { out: 0, in: 4, rows: 40, length: 48, outStep: 56, inStep: 64, more: 128, moreStep: 144 } as const

export const SPARSE_CALL = {
  panels: 0,
  panelBytes: 8,
  offsets: 16,
  blocks: 24,
  values: 32,
  bias: 36,
  out: 40,
  m: 48,
  outBytes: 56,
  operands: 64,
  operandBytes: 96,
  lanes: 160,
} as const
