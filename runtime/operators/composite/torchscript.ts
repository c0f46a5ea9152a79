import { check } from '../../error.js'
import type { DType } from '../../tensor/dtype.js'
import { type Device, type RandomGenerator, Tuple, type Value } from '../../tensor/value.js'
import { Float } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { transpose } from '../../tensor/view.js'
import * as at from '../generated/dispatch.js'
import { conj } from './complex-views.js'
import { cat, stack } from './cat.js'
import { convert } from './convert.js'
import { einsum } from './einsum.js'
import type { Composite } from '../support/generated/interfaces.js'

/** Tensor operators that only TorchScript has. */

/** torch.as_tensor of a tensor: itself unless the dtype differs. */
export function as_tensor(data: Tensor, dtype: DType | null, _device: Device | null): Tensor {
  return convert(data, dtype, false, null)
}

/** Dequantizes the tensors of a list or tuple; whatever else a tuple holds stays. */
export function dequantize_any(tensors: Value): Value {
  const real = (v: Value): Value => (v instanceof Tensor ? at.dequantize_self(v) : v)
  if (tensors instanceof Tuple) return new Tuple(tensors.items.map(real))
  check(
    Array.isArray(tensors) && tensors.every((v) => v instanceof Tensor),
    () => 'dequantize expects a tensor, or a list or tuple of tensors',
  )
  return tensors.map(real)
}

function tensorsBeforeDim(rest: readonly Value[]): [Tensor[], number] {
  const tensors = rest.slice(0, -1)
  const dim = rest.at(-1)
  check(typeof dim === 'number' && areTensors(tensors), () => 'expected tensors and then a dimension')
  return [tensors, dim]
}

function areTensors(values: Value[]): values is Tensor[] {
  return values.every((v) => v instanceof Tensor)
}

/** cat of its arguments but the last, which is the dimension. */
export function VarConcat(rest: Value[]): Tensor {
  return cat(...tensorsBeforeDim(rest))
}

/** stack of its arguments but the last, which is the dimension. */
export function VarStack(rest: Value[]): Tensor {
  return stack(...tensorsBeforeDim(rest))
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function letters(list: Value | undefined, position: number): string {
  check(Array.isArray(list), () => `einsum: expected a list of subscripts as argument ${position}`)
  return list
    .map((n) => {
      const letter = typeof n === 'number' ? LETTERS[n] : undefined
      check(letter !== undefined, () => `einsum: expected subscripts of 0 to ${LETTERS.length - 1}, found ${String(n)}`)
      return letter
    })
    .join('')
}

/** torch.einsum(tensor, subscripts, tensor, subscripts, ..., result subscripts): operands with lists of numbers for letters. */
export function einsum_sublist(a: Tensor, rest: Value[]): Tensor {
  const args: readonly Value[] = [a, ...rest]
  check(args.length >= 2, () => 'einsum: expected at least one tensor and its subscripts')
  const operands: Tensor[] = []
  const inputs: string[] = []
  for (let i = 0; i + 1 < args.length; i += 2) {
    const operand = args[i]
    check(operand instanceof Tensor, () => `einsum: expected a tensor as argument ${i}`)
    operands.push(operand)
    inputs.push(letters(args[i + 1], i + 1))
  }
  const result = args.length % 2 === 1 ? `->${letters(args.at(-1), args.length - 1)}` : ''
  return einsum(inputs.join(',') + result, operands, null)
}

/** The last two dimensions exchanged. */
export function mT_a(self: Tensor): Tensor {
  check(self.dim >= 2, () => `expected a tensor of at least two dimensions, found ${self.dim}`)
  return transpose(self, -2, -1)
}

export function mH_a(self: Tensor): Tensor {
  return conj(mT_a(self))
}

export { mH_a as matrix_H_a }

export function _no_grad_fill_(tensor: Tensor, val: number): Tensor {
  return at.fill__Scalar(tensor, new Float(val))
}

export function _no_grad_zero_(tensor: Tensor): Tensor {
  return at.zero_(tensor)
}

export function _no_grad_normal_(tensor: Tensor, mean: number, std: number, generator: RandomGenerator | null): Tensor {
  return at.normal_(tensor, mean, std, generator)
}

export function _no_grad_uniform_(tensor: Tensor, a: number, b: number, generator: RandomGenerator | null): Tensor {
  return at.uniform_(tensor, a, b, generator)
}

export function _no_grad_embedding_renorm_(weight: Tensor, input: Tensor, maxNorm: number, normType: number): Tensor {
  return at.embedding_renorm_(weight, input, maxNorm, normType)
}

/** The fields of a PackedSequence, as they are. */
export const _pack_sequence: Composite['_pack_sequence'] = (output, batchSizes, sortedIndices, unsortedIndices) => [
  output,
  batchSizes,
  sortedIndices,
  unsortedIndices,
]
