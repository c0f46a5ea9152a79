import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { keptDerived } from '../support/kept-derived.js'
import type { CPU } from '../support/generated/interfaces.js'

/**
 * Products of activations quantized as they come with weights of 4 bits. On x86 PyTorch packs weights as float32: the bytes, two
 * weights in each, then the scales, then the bias. Those packed for KleidiAI on ARM have another size and are refused.
 */

function checkGroup(what: string, group: number, inFeatures: number): void {
  check(
    inFeatures > 0 && inFeatures % 2 === 0 && group > 0 && (group === inFeatures || (group % 32 === 0 && inFeatures % group === 0)),
    () => `${what}: expected groups of ${inFeatures}, or of a multiple of 32 that divides it, found ${group}`,
  )
}

/** at::_dyn_quant_pack_4bit_weight without KleidiAI. */
export const _dyn_quant_pack_4bit_weight: CPU['_dyn_quant_pack_4bit_weight'] = (weights, scales, bias, group, inFeatures) => {
  const what = '_dyn_quant_pack_4bit_weight'
  if (weights.type !== DType.uint8) throw new PtliteError('INVALID_DTYPE', `${what}: expected uint8 weights, found ${weights.dtype}`)
  checkGroup(what, group, inFeatures)
  const parts = bias === null ? [weights, scales] : [weights, scales, bias]
  const out = empty([parts.reduce((sum, t) => sum + t.numel, 0)], DType.float32)
  let at = 0
  for (const part of parts) {
    copyInto(viewOf(out, [part.numel], [1], at), viewOf(contiguousOf(part), [part.numel], [1]))
    at += part.numel
  }
  return out
}

/** Rows of float32 or bfloat16 by weights that _dyn_quant_pack_4bit_weight packed (at::_dyn_quant_matmul_4bit). */
export function _dyn_quant_matmul_4bit(input: Tensor, packed: Tensor, group: number, inFeatures: number, outFeatures: number): Tensor {
  const what = '_dyn_quant_matmul_4bit'
  const half = input.type === DType.bfloat16
  if (!half && input.type !== DType.float32) {
    throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 or bfloat16 input, found ${input.dtype}`)
  }
  checkGroup(what, group, inFeatures)
  check(!half || group === inFeatures, () => `${what}: bfloat16 rows take one scale for a whole row of weights, found groups of ${group}`)
  check(
    input.dim === 2 && input.shape[1] === inFeatures,
    () => `${what}: expected rows of ${inFeatures} features, found shape [${input.shape.join(', ')}]`,
  )
  const bytes = (outFeatures * inFeatures) / 2
  const scales = (outFeatures * inFeatures) / group
  const sizes = [bytes + scales, bytes + scales + outFeatures]
  check(
    outFeatures >= 0 && packed.dim === 1 && sizes.includes(packed.numel),
    () => `${what}: expected ${sizes.join(' or ')} packed weights, found shape [${packed.shape.join(', ')}]`,
  )
  check(isFloating(packed.type) || packed.type === DType.uint8, () => `${what}: expected packed weights of float32, found ${packed.dtype}`)
  const m = input.shape[0]!
  const out = empty([m, outFeatures], input.type)
  if (out.numel === 0) return out
  const numbers = castTo(viewOf(packed, [packed.numel - bytes], packed.strides, packed.offset + bytes * packed.strides[0]!), DType.float32)
  const epilogue = contiguousOf(numbers)
  const weights = keptDerived(packed, `int4:${bytes}`, bytes, (address) => {
    writeBytes(address, viewOf(packed, [bytes], packed.strides))
  })
  kernels.dynamic_int4_mm({
    m,
    n: outFeatures,
    k: inFeatures,
    group,
    dtype: input.type,
    a: contiguousOf(input).address,
    w: weights.address,
    scales: epilogue.address,
    bias: packed.numel === sizes[0] ? 0 : epilogue.address + 4 * scales,
    out: out.address,
  })
  return out
}

/** Bytes that were packed as numbers. */
function writeBytes(address: number, numbers: Tensor): void {
  const bytes = empty(numbers.shape, DType.uint8)
  writeTensor(bytes, Uint8Array.from(readTensor(castTo(numbers, DType.float32)) as Float32Array))
  kernels.mem_copy({ to: address, from: bytes.address, bytes: numbers.numel })
}
