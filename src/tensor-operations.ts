import type { Operand, TensorOperations } from '../runtime/tensor/operations.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Input } from './values/convert.js'
import { callOperator } from './values/operators.js'

type Method = keyof TensorOperations

/** One function for each method, which takes the tensor first. */
type Functions = {
  readonly [M in Method]: (self: Tensor, ...args: Parameters<TensorOperations[M]>) => ReturnType<TensorOperations[M]>
}

const call = (name: string, ...args: Input[]): Tensor => callOperator<Tensor>(`aten::${name}`, args)
/** With a tensor, or with a number, for which there are overloads of their own. */
const arithmetic =
  (name: string) =>
  (self: Tensor, other: Operand): Tensor =>
    call(typeof other === 'number' || typeof other === 'bigint' ? `${name}.Scalar` : `${name}.Tensor`, self, other)
const listOf = (dims: number | readonly number[] | undefined): readonly number[] => (typeof dims === 'number' ? [dims] : (dims ?? []))
const reduction =
  (whole: string, along: string) =>
  (self: Tensor, dims?: number | readonly number[], keepdim = false): Tensor =>
    dims === undefined && !keepdim ? call(whole, self) : call(along, self, listOf(dims), keepdim)

const FUNCTIONS: Functions = {
  reshape: (self, shape) => call('reshape', self, shape),
  flatten: (self, from = 0, to = -1) => call('flatten.using_ints', self, from, to),
  permute: (self, dims) => call('permute', self, dims),
  transpose: (self, dim0, dim1) => call('transpose.int', self, dim0, dim1),
  squeeze: (self, dim) => (dim === undefined ? call('squeeze', self) : call('squeeze.dim', self, dim)),
  unsqueeze: (self, dim) => call('unsqueeze', self, dim),
  slice: (self, dim, start = null, end = null, step = 1) => call('slice.Tensor', self, dim, start, end, step),
  select: (self, dim, index) => call('select.int', self, dim, index),
  indexSelect: (self, dim, indices) => call('index_select', self, dim, indices),
  to: (self, dtype) => call('to.dtype', self, dtype),
  clone: (self) => call('clone', self),
  add: arithmetic('add'),
  sub: arithmetic('sub'),
  mul: arithmetic('mul'),
  div: arithmetic('div'),
  matmul: (self, other) => call('matmul', self, other),
  sum: reduction('sum', 'sum.dim_IntList'),
  mean: reduction('mean', 'mean.dim'),
  amax: reduction('amax', 'amax'),
  amin: reduction('amin', 'amin'),
  argmax: (self, dim, keepdim = false) => call('argmax', self, dim ?? null, keepdim),
  softmax: (self, dim = -1) => call('softmax.int', self, dim),
  sigmoid: (self) => call('sigmoid', self),
  topk: (self, k, dim = -1) => callOperator<[Tensor, Tensor]>('aten::topk', [self, k, dim]),
}

/** Calls a method of a tensor. Arguments are checked by the operator. */
export function tensorOperation(method: Method, self: Tensor, args: readonly unknown[]): unknown {
  return (FUNCTIONS[method] as (self: Tensor, ...args: readonly unknown[]) => unknown)(self, ...args)
}
