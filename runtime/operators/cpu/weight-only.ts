import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { keptDerived } from '../support/kept-derived.js'

/** Products of float activations with weights of 8 and 4 bits, which stay as they are in memory. */

const HALF_OR_SINGLE: readonly DType[] = [DType.float32, DType.float16, DType.bfloat16]

function checkActivations(what: string, a: Tensor): [number, number] {
  check(a.dim === 2, () => `${what}: expected a matrix of activations, found shape [${a.shape.join(', ')}]`)
  if (!HALF_OR_SINGLE.includes(a.type)) {
    throw new PtliteError('INVALID_DTYPE', `${what}: expected float32, float16 or bfloat16 activations, found ${a.dtype}`)
  }
  return a.shape as [number, number]
}

function checkType(what: string, name: string, t: Tensor, type: DType): void {
  if (t.type !== type) throw new PtliteError('INVALID_DTYPE', `${what}: ${name} must not be of dtype ${t.dtype}`)
}

/** out[m, n] = scales[n] * sum of activations[m, k] weight[n, k], weight int8 (at::_weight_int8pack_mm). */
export function _weight_int8pack_mm(a: Tensor, weight: Tensor, scales: Tensor): Tensor {
  const what = '_weight_int8pack_mm'
  const [m, k] = checkActivations(what, a)
  checkType(what, 'weight', weight, DType.int8)
  check(
    weight.dim === 2 && weight.shape[1] === k && weight.isContiguous,
    () => `${what}: expected a dense weight of rows of ${k}, found shape [${weight.shape.join(', ')}]`,
  )
  check(a.strides[1] === 1 || k <= 1, () => `${what}: expected dense rows of activations`)
  const n = weight.shape[0]!
  check(scales.dim === 1 && scales.shape[0] === n, () => `${what}: expected ${n} scales, found shape [${scales.shape.join(', ')}]`)
  checkType(what, 'scales', scales, a.type)
  const out = empty([m, n], a.type)
  kernels.int8_mm({
    m,
    n,
    k,
    a_stride: a.strides[0]!,
    dtype: a.type,
    a: a.address,
    w: weight.address,
    scales: contiguousOf(scales).address,
    out: out.address,
  })
  return out
}

/** The form of packed weights that int4_mm reads. */
const READ_FORM = { block: 64, halves: 1 } as const

/**
 * Weights [n, k] of 4 bits, given as int32, two a byte: [n, k / 2] bytes in the form that PyTorch's kernels of this machine's
 * instruction set read (at::_convert_weight_to_int4pack_for_cpu). `_tiles` are for GPUs.
 */
export function _convert_weight_to_int4pack_for_cpu(weight: Tensor, _tiles: number): Tensor {
  const what = '_convert_weight_to_int4pack_for_cpu'
  check(weight.dim === 2, () => `${what}: expected a matrix, found shape [${weight.shape.join(', ')}]`)
  checkType(what, 'weight', weight, DType.int32)
  const [n, k] = weight.shape as [number, number]
  check(n % 16 === 0 && k % 2 === 0, () => `${what}: expected a multiple of 16 rows and an even number of columns, found [${n}, ${k}]`)
  const out = empty([n, k / 2], DType.uint8)
  kernels.int4_pack({ n, k, ...kernels.int4_form({}), w: contiguousOf(weight).address, out: out.address })
  return out
}

/**
 * out[m, n] = sum of activations[m, k] ((q[n, k] - 8) scale + zero), with a scale and a zero point for each `group` of a row:
 * scalesAndZeros [k / group, n, 2] (at::_weight_int4pack_mm_for_cpu). The weights say nothing about the machine that packed them: they are
 * taken for this one's, as by PyTorch, unless PTLITE_INT4_PACKING names another.
 */
export function _weight_int4pack_mm_for_cpu(a: Tensor, weight: Tensor, group: number, scalesAndZeros: Tensor): Tensor {
  const what = '_weight_int4pack_mm_for_cpu'
  const [m, k] = checkActivations(what, a)
  checkType(what, 'weight', weight, DType.uint8)
  check(a.isContiguous && weight.isContiguous && scalesAndZeros.isContiguous, () => `${what}: expected dense tensors`)
  check([32, 64, 128, 256].includes(group), () => `${what}: expected groups of 32, 64, 128 or 256, found ${group}`)
  check(k % group === 0, () => `${what}: expected rows of a multiple of ${group}, found ${k}`)
  check(
    weight.dim === 2 && weight.shape[1] === k / 2 && weight.shape[0]! % 16 === 0,
    () => `${what}: expected a multiple of 16 weight rows of ${k / 2} bytes, found shape [${weight.shape.join(', ')}]`,
  )
  const n = weight.shape[0]!
  const { shape } = scalesAndZeros
  check(
    shape.length === 3 && shape[0]! >= k / group && shape[1] === n && shape[2] === 2,
    () => `${what}: expected scales and zero points of shape [${k / group}, ${n}, 2], found [${shape.join(', ')}]`,
  )
  checkType(what, 'scales and zero points', scalesAndZeros, a.type)
  const out = empty([m, n], a.type)
  if (out.numel === 0) return out
  kernels.int4_mm({
    m,
    n,
    k,
    group,
    dtype: a.type,
    a: a.address,
    w: readable(weight, n, k),
    scales_zeros: scalesAndZeros.address,
    out: out.address,
  })
  return out
}

/** Address of packed weights in the form that the kernel reads. */
function readable(weight: Tensor, n: number, k: number): number {
  const form = kernels.int4_form({})
  if (form.block === READ_FORM.block && form.halves === READ_FORM.halves) return weight.address
  return keptDerived(weight, `int4:${form.block}:${form.halves}`, (n * k) / 2, (out) => {
    kernels.int4_repack({ n, k, ...form, to_block: READ_FORM.block, to_halves: READ_FORM.halves, w: weight.address, out })
  }).address
}

/** The same with the group's size in a tensor. */
export function int4mm_packed_weight_cpu(a: Tensor, weight: Tensor, group: Tensor, scalesAndZeros: Tensor): Tensor {
  check(group.numel === 1, () => `int4mm_packed_weight_cpu: expected one group size, found ${group.numel}`)
  return _weight_int4pack_mm_for_cpu(a, weight, readInts(group)[0]!, scalesAndZeros)
}
