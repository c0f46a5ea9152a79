import { check } from '../../error.js'
import { type AnyScalar, Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { index_Tensor } from '../cpu/advanced-index.js'
import { embedding } from '../cpu/embedding.js'
import { index_select } from '../cpu/masked-select.js'
import { constant_pad_nd as padConstant, pad, reflection_pad1d as reflect1d, reflection_pad2d as reflect2d } from '../cpu/padding.js'
import * as reduction from '../cpu/reduction.js'
import * as order from '../cpu/sort.js'
import { writeOut } from '../support/write-out.js'
import { asQuantized, integersOf, perTensor } from '../support/quantization.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'
import { adopt } from './support/adopt.js'

/**
 * Operators that pick, order or move elements: they run on the integers, which are in the order of the values they stand for
 * (a scale is positive), and the result keeps the parameters of the input.
 */

function finish(integers: Tensor, self: Tensor, out?: Tensor): Tensor {
  const result = asQuantized(integers, self.quant!)
  return out === undefined ? result : adopt(out, result)
}

type Pair = [Tensor, Tensor]

function finishPair([values, indices]: Pair, self: Tensor, outValues?: Tensor, outIndices?: Tensor): Pair {
  const picked = finish(values, self, outValues)
  return [picked, outIndices === undefined ? indices : adopt(outIndices, indices)]
}

function integers(self: Tensor, what: string): Tensor {
  perTensor(self, what)
  return integersOf(self)
}

export const quantized_sort_stable: QuantizedCPU['quantized_sort_stable'] = (self, stable, dim, descending, outValues, outIndices) =>
  finishPair(order.sort_stable(integers(self, 'sort'), stable, dim, descending), self, outValues, outIndices)

export function quantized_sort(self: Tensor, dim: number, descending: boolean, outValues?: Tensor, outIndices?: Tensor): Pair {
  return quantized_sort_stable(self, false, dim, descending, outValues, outIndices)
}

/** Sorted along the first dim. */
export function quantized_msort(self: Tensor, out?: Tensor): Tensor {
  return writeOut(finish(order.msort(integers(self, 'msort')), self), out)
}

export function argsort_stable(self: Tensor, stable: boolean, dim: number, descending: boolean, out?: Tensor): Tensor {
  return order.argsort_stable(integers(self, 'argsort'), stable, dim, descending, out)
}

export function argsort(self: Tensor, dim: number, descending: boolean): Tensor {
  return order.argsort(integers(self, 'argsort'), dim, descending)
}

export const quantized_topk: QuantizedCPU['quantized_topk'] = (self, k, dim, largest, sorted, outValues, outIndices) =>
  finishPair(order.topk(integers(self, 'topk'), k, dim, largest, sorted), self, outValues, outIndices)

export function quantized_max(self: Tensor): Tensor {
  return finish(reduction.max(integers(self, 'max')), self)
}

export function quantized_min(self: Tensor): Tensor {
  return finish(reduction.min(integers(self, 'min')), self)
}

export function quantized_max_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): Pair {
  return finishPair(reduction.max_dim(integers(self, 'max'), dim, keepdim), self, outValues, outIndices)
}

export function quantized_min_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): Pair {
  return finishPair(reduction.min_dim(integers(self, 'min'), dim, keepdim), self, outValues, outIndices)
}

export function quantized_index_select(self: Tensor, dim: number, index: Tensor, out?: Tensor): Tensor {
  return finish(index_select(integers(self, 'index_select'), dim, index), self, out)
}

export function quantized_index(self: Tensor, indices: (Tensor | null)[], out?: Tensor): Tensor {
  return finish(index_Tensor(integers(self, 'index'), indices), self, out)
}

/** Rows of a quantized table: `quantized::embedding_byte` reads packed ones. */
export const quantized_embedding: QuantizedCPU['quantized_embedding'] = (weight, indices, paddingIdx, scaleByFrequency, sparse) =>
  finish(embedding(integers(weight, 'embedding'), indices, paddingIdx, scaleByFrequency, sparse), weight)

/** The value for the padding is quantized with the parameters of `self`. */
export function constant_pad_nd(self: Tensor, pad: number[], value: AnyScalar, out?: Tensor): Tensor {
  perTensor(self, 'constant_pad_nd')
  const result = padConstant(self, pad, value)
  return out === undefined ? result : adopt(out, result)
}

export function reflection_pad1d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return finish(reflect1d(integers(self, 'reflection_pad1d'), padding), self, out)
}

export function reflection_pad2d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return finish(reflect2d(integers(self, 'reflection_pad2d'), padding), self, out)
}

/** torch.nn.functional.pad in the modes 'constant' and 'reflect'. */
export function quantized_pad(self: Tensor, padding: number[], mode: string, value: number | null): Tensor {
  if (mode === 'constant') return constant_pad_nd(self, padding, new Float(value ?? 0))
  check(mode === 'reflect', () => `pad: quantized tensors take the modes constant and reflect, found '${mode}'; use dequantize`)
  return finish(pad(integers(self, 'pad'), padding, mode, value), self)
}
