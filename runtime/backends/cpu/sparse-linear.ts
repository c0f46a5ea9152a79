import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { sparseKernel } from './support/sparse-weight.js'

/**
 * x weight^T + bias over the last dimension, clamped to [min, max], by the non-zero blocks of the weight. Contiguous float32
 * input [..., k], weight [n, k] and bias [n]. Sums run over k in order, as those of the dense kernel within a part do not.
 */
export function sparse_linear(input: Tensor, weight: Tensor, bias: Tensor | null, min: number, max: number): Tensor {
  const tensors = bias === null ? [input, weight] : [input, weight, bias]
  for (const t of tensors) {
    check(t.type === DType.float32 && t.isContiguous, () => `ptlite::sparse_linear: expected contiguous float32 tensors, found ${t.dtype}`)
  }
  const k = input.shape[input.dim - 1]
  check(
    weight.dim === 2 && k === weight.shape[1],
    () => `ptlite::sparse_linear: a weight of shape [${weight.shape.join(', ')}] for rows of ${k}`,
  )
  const n = weight.shape[0]!
  check(bias === null || (bias.dim === 1 && bias.shape[0] === n), () => 'ptlite::sparse_linear: expected a bias with one value per output')
  const result = empty([...input.shape.slice(0, -1), n], DType.float32)
  if (result.numel === 0) return result
  const m = result.numel / n
  const handle = sparseKernel(weight, m, bias !== null, min, max)
  if (handle === 0) throw new PtliteError('OUT_OF_MEMORY', 'ptlite::sparse_linear: no memory for the blocks of the weight')
  kernels.sparse_gemm({
    handle,
    x: input.address,
    out: result.address,
    bias: bias === null ? 0 : bias.address,
    m,
    x_stride: k!,
    out_stride: n,
    operands: [],
    operand_strides: [],
  })
  return result
}
