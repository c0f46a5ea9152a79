import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { numelOf, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { applySteps } from './compiled.js'
import { castTo } from '../support/copy.js'
import type { CPU } from '../support/generated/interfaces.js'
import { type PostOps, postOpsOf } from '../../shapes/post-ops.js'
import { injected, NO_CHAIN, type SparseOrder, type SparseStep } from '../../shapes/sparse-steps.js'
import { sizesOf, type SparseForm, sparseKernel, stepsOf } from './support/sparse-weight.js'

const LINEAR_FORMS: readonly SparseForm[] = ['rows', 'unrolled', 'vectors']

/**
 * x weight^T + bias over the last dimension, clamped to [min, max], by the non-zero blocks of the weight. Contiguous float32
 * input [..., k], weight [n, k] and bias [n]; form is 'rows', 'unrolled' or 'vectors'. Sums run over k in order, as those of
 * the dense kernel within a part do not. Steps are carried out in registers where they are a chain. With all of them in bfloat16, the sums are
 * float32 and rounded once, behind limits and steps.
 */
export const sparse_linear: CPU['sparse_linear'] = (input, weight, bias, form, min, max, ...steps) => {
  const name = 'ptlite::sparse_linear'
  const post = postOpsOf(name, ...steps)
  const type = input.type === DType.bfloat16 ? DType.bfloat16 : DType.float32
  checkOperands(name, input, weight, bias, 2, type)
  const known = LINEAR_FORMS.find((f) => f === form)
  if (known === undefined) throw new PtliteError('INVALID_ARGUMENT', `${name}: expected one of the forms ${LINEAR_FORMS.join(', ')}`)
  const [n, k] = weight.shape as [number, number]
  check(
    input.dim > 0 && input.shape[input.dim - 1] === k,
    () => `${name}: a weight of shape [${n}, ${k}] for an input [${input.shape.join(', ')}]`,
  )
  const result = empty([...input.shape.slice(0, -1), n], DType.float32)
  const rows = numelOf(input.shape.slice(0, -1))
  const layout: Layout = { order: 'rows', batch: 1, rows, xStride: k, outStride: n, xGroup: 16, outGroup: 16 }
  const [x, b] = [castTo(input, DType.float32), bias === null ? null : castTo(bias, DType.float32)]
  return castTo(multiply({ name, form: known, input: x, weight, bias: b, residual: null, min, max, post }, result, layout), type)
}

/**
 * Convolution by a pointwise filter [n, k, 1, 1] with bias, clamped to [min, max], by the non-zero blocks of the filter. Contiguous
 * float32 input [batch, k, h, w].
 */
export const sparse_convolution: CPU['sparse_convolution'] = (input, weight, bias, min, max, ...steps) => {
  const name = 'ptlite::sparse_convolution'
  const post = postOpsOf(name, ...steps)
  checkOperands(name, input, weight, bias, 4)
  check(
    input.dim === 4 && input.shape[1] === weight.shape[1] && weight.shape[2] === 1 && weight.shape[3] === 1,
    () => `${name}: a filter of shape [${weight.shape.join(', ')}] for an input [${input.shape.join(', ')}]`,
  )
  const [batch, , h, w] = input.shape as [number, number, number, number]
  const result = empty([batch, weight.shape[0]!, h, w], DType.float32)
  const layout: Layout = { order: 'channels', batch, rows: h * w, xStride: h * w, outStride: h * w, xGroup: 0, outGroup: 0 }
  return multiply({ name, form: 'channels', input, weight, bias, residual: null, min, max, post }, result, layout)
}

/**
 * The same for channels in blocks of 16: input [batch, k / 16, h, w, 16], filter [n / 16, 1, 1, k, 16], bias of n and, added before the
 * clamp, a residual of the result's shape. Operands of steps are in blocks, too.
 */
export const sparse_blocked_convolution: CPU['sparse_blocked_convolution'] = (input, filter, bias, residual, min, max, ...steps) => {
  const name = 'ptlite::sparse_blocked_convolution'
  const post = postOpsOf(name, ...steps)
  for (const t of [input, filter, bias, residual]) {
    check(t === null || (t.type === DType.float32 && t.isContiguous), () => `${name}: expected contiguous float32 tensors`)
  }
  const [blocks, kh, kw, k] = filter.shape as [number, number, number, number]
  check(
    filter.dim === 5 &&
      kh === 1 &&
      kw === 1 &&
      filter.shape[4] === 16 &&
      input.dim === 5 &&
      input.shape[4] === 16 &&
      input.shape[1] === Math.ceil(k / 16),
    () => `${name}: a filter of shape [${filter.shape.join(', ')}] for an input [${input.shape.join(', ')}]`,
  )
  check(bias === null || (bias.dim === 1 && bias.shape[0] === blocks * 16), () => `${name}: expected a bias with one value per output`)
  const [batch, , h, w] = input.shape as [number, number, number, number]
  const result = empty([batch, blocks, h, w, 16], DType.float32)
  check(
    residual === null || sameShape(residual.shape, result.shape),
    () => `${name}: expected a residual of shape [${result.shape.join(', ')}]`,
  )
  const group = h * w * 16
  const layout: Layout = { order: 'blocks', batch, rows: h * w, xStride: 16, outStride: 16, xGroup: group, outGroup: group }
  return multiply({ name, form: 'vectors', input, weight: filter, bias, residual, min, max, post }, result, layout)
}

function checkOperands(name: string, input: Tensor, weight: Tensor, bias: Tensor | null, dims: number, type: DType = DType.float32): void {
  for (const t of bias === null ? [input, weight] : [input, weight, bias]) {
    check(t.type === type && t.isContiguous, () => `${name}: expected contiguous ${dtypeName(type)} tensors, found ${t.dtype}`)
  }
  check(weight.dim === dims, () => `${name}: expected a weight with ${dims} dimensions, found ${weight.dim}`)
  check(bias === null || (bias.dim === 1 && bias.shape[0] === weight.shape[0]), () => `${name}: expected a bias with one value per output`)
}

interface Layout {
  /** Of the result's dimensions. */
  readonly order: SparseOrder
  readonly batch: number
  /** Rows of the matrix x, or pixels of an image. */
  readonly rows: number
  readonly xStride: number
  readonly outStride: number
  /** From 16 channels of a row to the next; 16 where rows are whole. */
  readonly xGroup: number
  readonly outGroup: number
}

interface Product {
  readonly name: string
  readonly form: SparseForm
  readonly input: Tensor
  readonly weight: Tensor
  readonly bias: Tensor | null
  readonly residual: Tensor | null
  readonly min: number
  readonly max: number
  readonly post: PostOps | null
}

/** How a step's operand is read, as frames of sparse_gemm say it. */
function operandAccess({ operand, access }: SparseStep): number {
  const { none, full, row, scalar } = kernels.SparseOperand
  if (operand === null) return none
  return access === kernels.JitAccess.scalar ? scalar : access === kernels.JitAccess.row ? row : full
}

/** Into `result`. Steps that are no chain, or whose operands the kernel cannot read, follow in a pass of their own. */
function multiply(product: Product, result: Tensor, layout: Layout): Tensor {
  const { name, form, input, weight, bias, residual, min, max, post } = product
  const { order, batch, rows, xStride, outStride, xGroup, outGroup } = layout
  const chain = post === null ? NO_CHAIN : injected(post, order, result.shape)
  if (chain === null) return applySteps(multiply({ ...product, post: null }, result, layout), post!)
  if (result.numel === 0) return result
  check(weight.numel > 0, () => `${name}: a weight without elements`)
  const use = { form, rows, hasBias: bias !== null, residual: residual !== null, min, max, steps: chain.steps }
  const kernel = sparseKernel(weight, use)
  if (kernel === null) throw new PtliteError('OUT_OF_MEMORY', `${name}: no memory for the blocks of the weight`)
  const steps = stepsOf(use)
  const own = ({ operand }: SparseStep): Tensor | null => (operand === null ? null : operand < 0 ? residual : chain.operands[operand]!)
  const like = { stride: outStride, batch: result.numel / batch, group: outGroup }
  const places = steps.map(({ operand }) => (operand === null || operand < 0 ? like : chain.places[operand]!))
  kernels.sparse_gemm({
    handle: kernel.handle,
    ...sizesOf(weight),
    form: kernels.SparseForm[form],
    post_ops: steps.length,
    access: steps.map(operandAccess),
    x: input.address,
    out: result.address,
    bias: bias === null ? 0 : bias.address,
    m: rows,
    x_stride: xStride,
    out_stride: outStride,
    batch,
    x_batch: input.numel / batch,
    out_batch: result.numel / batch,
    x_group: xGroup,
    out_group: outGroup,
    operands: steps.map((step) => own(step)?.address ?? 0),
    operand_strides: places.map((p) => p.stride),
    operand_batches: places.map((p) => p.batch),
    operand_groups: places.map((p) => p.group),
  })
  return result
}
