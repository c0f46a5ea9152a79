import type { ReaderPart } from '../../../program/reader-parts.js'

/* Which operators' kernels are in a part of the reader that builds can be without. It stands apart from the kernels, which such builds do not hold. */

/** What names of operators of ExecuTorch's own begin with. */
export const PRIM = 'executorch_prim::'
export const QUANTIZED = 'quantized_decomposed::'
const LANGUAGE = ['llama::', 'preprocess::'] as const

/** Numbers that follow from a tensor. */
const TENSOR_NUMBERS = ['aten::sym_size.int', 'aten::sym_numel', 'aten::_local_scalar_dense'] as const
/** What only training calls. */
const TRAINING = [
  'aten::_native_batch_norm_legit.out',
  'aten::convolution_backward.out',
  'aten::max_pool2d_with_indices_backward.grad_input',
] as const

export type TensorNumber = (typeof TENSOR_NUMBERS)[number]
export type TrainingOperator = (typeof TRAINING)[number]

export function isTensorNumber(name: string): name is TensorNumber {
  return (TENSOR_NUMBERS as readonly string[]).includes(name)
}

export function isForTraining(name: string): name is TrainingOperator {
  return (TRAINING as readonly string[]).includes(name)
}

/** The part that an operator is of; undefined for those that every reader of ExecuTorch's programs serves. */
export function partOf(name: string): ReaderPart | undefined {
  if (name.startsWith(PRIM) || isTensorNumber(name)) return 'executorch-numbers'
  const isOwn = name.startsWith(QUANTIZED) || LANGUAGE.some((space) => name.startsWith(space)) || isForTraining(name)
  return isOwn ? 'executorch-operators' : undefined
}
