import type { DTypeName } from './dtype.js'
import type { Tensor } from './tensor.js'

/** A tensor, or a number that stands for one of it in all places. */
export type Operand = Tensor | number | bigint

/**
 * What can be done with a tensor by name: the operators that programs around a model most often need, with PyTorch's results, dtypes and
 * errors (`callOperator` calls all others). Negative dimensions count from the last. Results are new tensors, or views that share memory
 * with this one, as said. All throw INVALID_ARGUMENT for arguments that do not fit, and DISPOSED; in selective
 * builds MISSING_OPERATOR, too, where no trace has the operator.
 */
export interface TensorOperations {
  /** The same elements with other sizes, one of which may be -1 (`torch.reshape`). A view where strides allow. */
  reshape(shape: readonly number[]): Tensor
  /** With dimensions `from` to `to` as one (`torch.flatten`). A view where strides allow. */
  flatten(from?: number, to?: number): Tensor
  /** A view with its dimensions in this order (`torch.permute`). */
  permute(dims: readonly number[]): Tensor
  /** A view with two dimensions exchanged (`torch.transpose`). */
  transpose(dim0: number, dim1: number): Tensor
  /** A view without dimension `dim` if it is of size 1, or without all of size 1 (`torch.squeeze`). */
  squeeze(dim?: number): Tensor
  /** A view with a dimension of size 1 at `dim` (`torch.unsqueeze`). */
  unsqueeze(dim: number): Tensor
  /** A view of elements `start` to before `end` along `dim`, each `step`-th of them (`x[start:end:step]`). Negative bounds count from the end. */
  slice(dim: number, start?: number | null, end?: number | null, step?: number): Tensor
  /** A view of what is at `index` along `dim`, without that dimension (`torch.select`). */
  select(dim: number, index: number): Tensor
  /** The elements along `dim` at the indices, an int32 or int64 tensor of one dimension (`torch.index_select`). */
  indexSelect(dim: number, indices: Tensor): Tensor
  /** The elements in another dtype; this tensor itself where it has that dtype (`Tensor.to`). */
  to(dtype: DTypeName): Tensor
  /** A copy (`torch.clone`). */
  clone(): Tensor
  /** Sums element by element; sizes of 1 stand for all that the other has (`torch.add`). */
  add(other: Operand): Tensor
  /** Differences (`torch.sub`). */
  sub(other: Operand): Tensor
  /** Products (`torch.mul`). */
  mul(other: Operand): Tensor
  /** Quotients, of floating-point numbers whatever the dtypes (`torch.div`). */
  div(other: Operand): Tensor
  /** Matrix product (`torch.matmul`). */
  matmul(other: Tensor): Tensor
  /** Sum of all elements, or along dimensions (`torch.sum`). */
  sum(dims?: number | readonly number[], keepdim?: boolean): Tensor
  /** Mean of all elements, or along dimensions, of floating-point numbers (`torch.mean`). */
  mean(dims?: number | readonly number[], keepdim?: boolean): Tensor
  /** Largest of all elements, or along dimensions (`torch.amax`). */
  amax(dims?: number | readonly number[], keepdim?: boolean): Tensor
  /** Least of all elements, or along dimensions (`torch.amin`). */
  amin(dims?: number | readonly number[], keepdim?: boolean): Tensor
  /** Indices, int64, of the largest element of all, or along `dim` (`torch.argmax`). */
  argmax(dim?: number, keepdim?: boolean): Tensor
  /** Along `dim`, the last one if it is left out (`torch.softmax`). */
  softmax(dim?: number): Tensor
  /** `1 / (1 + exp(-x))` of each element (`torch.sigmoid`). */
  sigmoid(): Tensor
  /** The `k` largest elements along `dim`, the last one if it is left out, in descending order, and their indices (`torch.topk`). */
  topk(k: number, dim?: number): [values: Tensor, indices: Tensor]
}
