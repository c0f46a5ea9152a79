/**
 * Parts of readers that selective builds can be without, by the names that traces have for them. A program says which of them reading its file took; the
 * flags of runtime/features.ts say which there are.
 */
export const READER_PARTS = [
  /** Operators of ExecuTorch on numbers: sizes, and what follows from them. */
  'executorch-numbers',
  /** Operators of ExecuTorch for quantized weights, language models and training. */
  'executorch-operators',
  /** Graphs that programs of ExecuTorch leave to XNNPACK. */
  'xnnpack',
  /** Programs that are bundled with test cases. */
  'test-cases',
  /** Files with data that belong to a model. */
  'data-files',
] as const

export type ReaderPart = (typeof READER_PARTS)[number]
