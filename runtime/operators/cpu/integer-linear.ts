import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { RowBytes, ScaleFormat, WeightFormat, ZeroPoints } from '../../native/generated/kernels.js'
import { postFields, postOpsOf, takesPostOps } from '../../shapes/post-ops.js'
import { packedBytes } from '../../shapes/packed-weight.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { discardPages, Storage } from '../../tensor/storage.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { derivedIn } from '../support/kept-derived.js'
import type { CPU } from '../support/generated/interfaces.js'
import { type RoundedWeight, roundedLinear, type RowRounding } from '../support/rounded-weight.js'
import { applySteps } from './compiled.js'
import { limitsOf } from './support/limits.js'

/**
 * x weight^T + bias over the last dimension, clamped to [min, max], with integers that are a module's: int8 [n, k], of `bits` 8, or 4 where they are from -8
 * to 7, with scales in float32, bfloat16 or float16 and int8 zero points [n, groups]; or uint8 as at::_weight_int4pack_mm_for_cpu takes them, with its scales. `group` numbers of a row
 * share a scale, all of them where it is 0. x is float32; rows of it become bytes from `least` on, with scales of `eps` or more, where `rounding` says how.
 * Steps as those of ptlite::linear.
 */
export const integer_linear: CPU['integer_linear'] = (
  input,
  weight,
  scales,
  zeros,
  bits,
  group,
  rounding,
  least,
  eps,
  bias,
  min,
  max,
  ...steps
) => {
  const operator = 'ptlite::integer_linear'
  const post = postOpsOf(operator, ...steps)
  const rows = rowsOf(rounding, least, eps)
  const packed = { ...packedOf(weight, scales, zeros, bits, group), ...(rows === null ? {} : { rows }) }
  check(
    input.type === DType.float32 && input.dim > 0 && input.shape.at(-1) === packed.k,
    () => `${operator}: expected a float32 input with ${packed.k} features, found ${input.dtype}[${input.shape.join(', ')}]`,
  )
  check(
    bias === null || (bias.type === DType.float32 && bias.dim === 1 && bias.numel === packed.n && bias.isContiguous),
    () => `${operator}: expected ${packed.n} float32 biases`,
  )
  const shape = [...input.shape.slice(0, -1), packed.n]
  const axes = { row: 0, column: shape.length - 1 }
  const limits = limitsOf(min, max)
  if (post === null) return roundedLinear(input, packed, bias, limits)
  if (takesPostOps(post, shape, axes)) return roundedLinear(input, packed, bias, limits, postFields(post, shape, axes))
  return applySteps(roundedLinear(input, packed, bias, limits), post)
}

function rowsOf(rounding: string | null, least: number, eps: number): RowRounding | null {
  if (rounding === null) return null
  const kind =
    rounding === 'none' || rounding === 'blocks' ? undefined : (RowBytes as Readonly<Record<string, number | undefined>>)[rounding]
  check(
    kind !== undefined && least >= -128 && least < 0 && eps > 0,
    () =>
      `ptlite::integer_linear: expected how rows become bytes from -128 to -1 on, found '${rounding.slice(0, 40)}', ${least} and ${eps}`,
  )
  return { kind: kind!, least, eps }
}

/** What scales may be. */
const SCALES: Readonly<Partial<Record<DType, number>>> = {
  [DType.float32]: ScaleFormat.float32,
  [DType.bfloat16]: ScaleFormat.bfloat16,
  [DType.float16]: ScaleFormat.float16,
}

function packedOf(weight: Tensor, scales: Tensor, zeros: Tensor | null, bits: number, group: number): RoundedWeight {
  const operator = 'ptlite::integer_linear'
  const isPacked = weight.type === DType.uint8
  check(
    weight.dim === 2 && weight.isContiguous && (isPacked ? bits === 4 : weight.type === DType.int8 && (bits === 8 || bits === 4)),
    () => `${operator}: expected a dense matrix of integers of 8 or 4 bits, found ${weight.dtype}[${weight.shape.join(', ')}]`,
  )
  const n = weight.shape[0]!
  const k = weight.shape[1]! * (isPacked ? 2 : 1)
  check(
    group >= 0 && group % 32 === 0 && (group === 0 || k % group === 0),
    () => `${operator}: expected groups of a multiple of 32 that fill a row, found ${group}`,
  )
  const groups = group === 0 ? 1 : k / group
  const count = n * groups
  const scale = SCALES[scales.type]
  check(
    scale !== undefined &&
      (scale === ScaleFormat.float32 || !isPacked) &&
      scales.isContiguous &&
      scales.numel === (isPacked ? 2 * count : count),
    () => `${operator}: expected ${count} scales in float32, bfloat16 or float16, found ${scales.dtype}[${scales.shape.join(', ')}]`,
  )
  check(
    zeros === null || (!isPacked && zeros.type === DType.int8 && zeros.isContiguous && zeros.numel === count),
    () => `${operator}: expected ${count} int8 zero points`,
  )
  const form = { format: bits === 8 ? WeightFormat.int8 : WeightFormat.int4, n, k, group, scale: scale! }
  const zero = isPacked ? pairsKind(scales) : zeros === null ? ZeroPoints.none : ZeroPoints.integers
  const key = ['integers', bits, group, weight.offset, n, k, placeOf(scales), zeros === null ? '' : placeOf(zeros)].join(':')
  const packed = derivedIn(weight.storage, key, () => {
    const out = Storage.allocate(packedBytes(form.format, n, k, group, form.scale, zero))
    const source = isPacked ? fromPairs(weight, scales, groups) : { integers: weight, scales, zeros }
    kernels.weight_pack_integers({
      ...form,
      zero,
      src: source.integers.address,
      scales: source.scales.address,
      zeros: source.zeros === null ? 0 : source.zeros.address,
      dst: out.address,
    })
    // a mapped file keeps the integers
    discardPages(weight.storage)
    return out
  })
  return { ...form, zero, bytes: false, address: packed.address }
}

/** What tells constants apart that stand beside a weight. */
function placeOf({ storage, offset }: Tensor): string {
  return `${storage.startAddress}+${offset}.${storage.version}`
}

/** Whether something is added to the numbers of pairs [groups, n, 2] of a scale and what is added. */
function pairsKind(pairs: Tensor): number {
  return (readTensor(pairs) as Float32Array).some((value, i) => i % 2 === 1 && value !== 0) ? ZeroPoints.offsets : ZeroPoints.none
}

interface Integers {
  readonly integers: Tensor
  readonly scales: Tensor
  readonly zeros: Tensor | null
}

/** The same in tensors of their own for a weight [n, k / 2] that PyTorch has packed, with pairs [groups, n, 2]. */
function fromPairs(weight: Tensor, pairs: Tensor, groups: number): Integers {
  const [n, half] = weight.shape as [number, number]
  const integers = empty([n, 2 * half], DType.int8)
  kernels.int4_unpack({ n, k: 2 * half, ...kernels.int4_form({}), w: weight.address, out: integers.address })
  const values = readTensor(pairs) as Float32Array
  const [scales, offsets] = [0, 1].map((part) => {
    const made = empty([n, groups], DType.float32)
    writeTensor(
      made,
      Float32Array.from({ length: n * groups }, (_, i) => values[2 * ((i % groups) * n + Math.floor(i / groups)) + part]!),
    )
    return made
  }) as [Tensor, Tensor]
  return { integers, scales, zeros: offsets }
}
