import { check, PtliteError } from '../../error.js'
import { DType, dtypeName, isFloat8 } from '../../tensor/dtype.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { view } from '../../tensor/view.js'
import * as at from '../generated/dispatch.js'
import type { Composite } from '../support/generated/interfaces.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { repeat_interleave_self_int } from './shape.js'
import { filled } from '../support/make.js'

/** Quantization of blocks, by parameters that are arguments (torchao, quantization/quant_primitives.py). */

const BOUNDS: Readonly<Partial<Record<DType, readonly [min: number, max: number]>>> = {
  [DType.uint8]: [0, 255],
  [DType.int8]: [-128, 127],
  [DType.int16]: [-32768, 32767],
  [DType.int32]: [-(2 ** 31), 2 ** 31 - 1],
  [DType.uint16]: [0, 65535],
  [DType.float8_e4m3fn]: [-448, 448],
  [DType.float8_e5m2]: [-57344, 57344],
  [DType.float8_e4m3fnuz]: [-240, 240],
  [DType.float8_e5m2fnuz]: [-57344, 57344],
}

/** Given bounds of quantized elements, or those of the dtype. Throws INVALID_DTYPE for a dtype without, INVALID_ARGUMENT for bounds beyond. */
function boundsOf(type: DType, min: Scalar | null, max: Scalar | null): readonly [min: number, max: number] {
  const bounds = BOUNDS[type]
  if (bounds === undefined) throw new PtliteError('INVALID_DTYPE', `no tensor is quantized to ${dtypeName(type)}`)
  const low = min === null ? bounds[0] : scalarToNumber(min)
  const high = max === null ? bounds[1] : scalarToNumber(max)
  check(low >= bounds[0] && high <= bounds[1], () => `quant_min ${low} and quant_max ${high} are outside of ${dtypeName(type)}`)
  return [low, high]
}

function checkFloating(x: Tensor): void {
  const good = x.type === DType.float32 || x.type === DType.float16 || x.type === DType.bfloat16
  if (!good) throw new PtliteError('INVALID_DTYPE', `expected a float32, float16 or bfloat16 tensor to quantize, found ${x.dtype}`)
}

interface Blocks {
  /** Of the tensor, in which dimensions with several blocks are two: the blocks, and what is in one. */
  readonly shape: number[]
  /** The same with dimensions of size 1 in the place of what is in a block. */
  readonly parameters: number[]
  /** Dimensions within blocks. */
  readonly within: number[]
}

function blocksOf(x: Tensor, size: readonly number[]): Blocks {
  check(size.length === x.dim, () => `expected a block of ${x.dim} dimensions, found [${size.join(', ')}]`)
  const blocks: Blocks = { shape: [], parameters: [], within: [] }
  size.forEach((block, d) => {
    const whole = x.shape[d]!
    check(block > 0 || block === whole, () => `expected sizes of blocks above 0, found ${block}`)
    check(block === 0 || whole % block === 0, () => `${whole} elements of dimension ${d} cannot be cut into blocks of ${block}`)
    const isCut = block !== whole && block > 1
    if (isCut) {
      blocks.shape.push(whole / block)
      blocks.parameters.push(whole / block)
    }
    if (block !== 1) blocks.within.push(blocks.shape.length)
    blocks.shape.push(isCut ? block : whole)
    blocks.parameters.push(block === 1 ? whole : 1)
  })
  return blocks
}

/** A parameter of each block, to be broadcast along it. */
function perBlock(t: Tensor, { parameters }: Blocks): Tensor {
  const count = parameters.reduce((a, b) => a * b, 1)
  check(t.numel === count, () => `expected ${count} parameters, one for each block, found ${t.numel}`)
  return view(contiguousOf(t), parameters)
}

type Domain = 'INT' | 'FLOAT' | 'NONE'

/** What zero points are: integers, numbers of the tensor's own, or nothing. */
function domainOf(text: string | null): Domain {
  if (text === null || text === 'NONE') return 'NONE'
  check(text === 'INT' || text === 'FLOAT', () => `expected the zero point domain INT, FLOAT or NONE, found '${text.slice(0, 40)}'`)
  return text as Domain
}

function middle([min, max]: readonly [number, number]): number {
  return (max + min + 1) / 2
}

export const quantize_affine: Composite['quantize_affine'] = (x, blockSize, scale, zeroPoint, type, min, max, domain) => {
  checkFloating(x)
  const [low, high] = boundsOf(type, min, max)
  const blocks = blocksOf(x, blockSize)
  const source = view(contiguousOf(x), blocks.shape)
  const scales = perBlock(scale, blocks)
  const zero = zeroPoint !== null && zeroPoint.numel > 0 ? perBlock(zeroPoint, blocks) : null
  let steps: Tensor
  if (domainOf(domain) === 'FLOAT' && zero !== null) {
    const least = at.sub_Tensor(zero, at.mul_Scalar(scales, new Float(middle([low, high]))), 1)
    steps = at.round(at.div_Tensor(at.sub_Tensor(source, least, 1), scales))
  } else {
    steps = at.round(at.mul_Tensor(source, at.reciprocal(scales)))
    if (zero !== null) steps = at.add_Tensor(steps, zero, 1)
  }
  return view(castTo(at.clamp(steps, low, high), type), x.shape)
}

export const dequantize_affine: Composite['dequantize_affine'] = (x, blockSize, scale, zeroPoint, type, min, max, outType, domain) => {
  if (x.type !== type) throw new PtliteError('INVALID_DTYPE', `expected a ${dtypeName(type)} tensor to dequantize, found ${x.dtype}`)
  if (outType !== DType.float32 && outType !== DType.float16 && outType !== DType.bfloat16)
    throw new PtliteError('INVALID_DTYPE', `expected float32, float16 or bfloat16 as result, found ${dtypeName(outType)}`)
  const bounds = boundsOf(type, min, max)
  const blocks = blocksOf(x, blockSize)
  const scales = perBlock(scale, blocks)
  const numbers = castTo(view(contiguousOf(x), blocks.shape), outType)
  const zero = zeroPoint !== null && zeroPoint.numel > 0 ? perBlock(zeroPoint, blocks) : null
  if (domainOf(domain) === 'FLOAT' && zero !== null) {
    const scaled = at.mul_Tensor(at.sub_Scalar(numbers, new Float(middle(bounds)), 1), scales)
    return view(castTo(at.add_Tensor(scaled, zero, 1), outType), x.shape)
  }
  const moved = zero === null ? numbers : at.sub_Tensor(numbers, castTo(zero, outType), 1)
  return view(castTo(at.mul_Tensor(moved, scales), outType), x.shape)
}

export const choose_qparams_affine: Composite['choose_qparams_affine'] = (
  input,
  mapping,
  blockSize,
  type,
  min,
  max,
  eps,
  scaleType,
  zeroType,
  keepsDims,
  preservesZero,
  domain,
) => {
  check(input !== null, () => 'expected a tensor, found None')
  const x = input!
  checkFloating(x)
  const [low, high] = boundsOf(type, min, max)
  check(high > low, () => `expected a quant_max above quant_min, found ${low} and ${high}`)
  const blocks = blocksOf(x, blockSize)
  check(x.numel > 0, () => `a tensor of shape ${shapeText(x.shape)} has no range`)
  const source = view(contiguousOf(x), blocks.shape)
  // of blocks of one element all are one, as torchao has it
  const extreme = (operator: typeof at.amin): Tensor => operator(source, blocks.within, false)
  const isAnchored = preservesZero && domainOf(domain) !== 'FLOAT'
  const least = isAnchored ? at.clamp(extreme(at.amin), null, 0) : extreme(at.amin)
  const greatest = isAnchored ? at.clamp(extreme(at.amax), 0, null) : extreme(at.amax)
  const smallest = new Float(eps ?? (x.type === DType.float16 ? 2 ** -14 : 2 ** -126))
  let scale: Tensor
  let zero: Tensor
  if (mapping === 'SYMMETRIC') {
    scale = at.clamp(at.div_Scalar(at.maximum(at.neg(least), greatest), new Float((high - low) / 2)), smallest, null)
    zero = filled(scale.shape, scale.type, Math.trunc(middle([low, high])))
  } else if (mapping === 'SYMMETRIC_NO_CLIPPING_ERR') {
    const [below, above] = [at.div_Scalar(least, new Float(low)), at.div_Scalar(greatest, new Float(high))]
    scale = at.clamp(at.where_self(at.gt_Tensor(below, above), below, above), smallest, null)
    zero = filled(scale.shape, scale.type, Math.trunc(middle([low, high])))
  } else {
    check(
      mapping === 'ASYMMETRIC',
      () => `expected the mapping SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR or ASYMMETRIC, found '${mapping.slice(0, 40)}'`,
    )
    scale = at.clamp(at.div_Scalar(at.sub_Tensor(greatest, least, 1), new Float(high - low)), smallest, null)
    if (domainOf(domain) === 'FLOAT') zero = at.add_Tensor(least, at.mul_Scalar(scale, new Float(middle([low, high]))), 1)
    else zero = at.clamp(at.rsub_Scalar(at.round(at.div_Tensor(least, scale)), low, 1), low, high)
  }
  const shaped = (t: Tensor): Tensor =>
    keepsDims
      ? view(
          contiguousOf(t),
          x.shape.map((whole, d) => whole / blockSize[d]!),
        )
      : t
  const given = zeroType ?? (mapping === 'ASYMMETRIC' && domainOf(domain) === 'INT' ? DType.int32 : x.type)
  return [castTo(shaped(scale), scaleType ?? x.type), castTo(shaped(zero), given)]
}

function greatestOf(type: DType): number {
  if (!isFloat8(type)) throw new PtliteError('INVALID_DTYPE', `expected a float8 dtype, found ${dtypeName(type)}`)
  return BOUNDS[type]![1]
}

export const choose_scale_float8: Composite['choose_scale_float8'] = (x, blockSize, type, scaleType, lower, upper) => {
  const greatest = greatestOf(type)
  if (scaleType !== DType.float32) throw new PtliteError('INVALID_DTYPE', `expected scales in float32, found ${dtypeName(scaleType)}`)
  const blocks = blocksOf(x, blockSize)
  check(x.numel > 0, () => `a tensor of shape ${shapeText(x.shape)} has no range`)
  const magnitudes = at.abs(view(contiguousOf(x), blocks.shape))
  let largest = at.amax(magnitudes, blocks.within, true)
  if (lower !== null || upper !== null)
    largest = at.clamp(largest, lower === null ? null : new Float(lower), upper === null ? null : new Float(upper))
  const scale = at.div_Scalar(largest, new Float(greatest))
  return castTo(
    view(
      contiguousOf(scale),
      x.shape.map((whole, d) => whole / blockSize[d]!),
    ),
    DType.float32,
  )
}

/** Scales as they broadcast to a tensor: those of blocks are repeated along them. */
function expandedScale(scale: Tensor, shape: readonly number[]): Tensor {
  if (scale.numel === 1) return scale
  const fits = scale.dim <= shape.length && scale.shape.every((size, d) => size === 1 || size === shape[shape.length - scale.dim + d])
  if (fits) return scale
  check(scale.dim === shape.length, () => `expected scales of ${shape.length} dimensions, found shape ${shapeText(scale.shape)}`)
  let expanded = scale
  scale.shape.forEach((size, d) => {
    const times = shape[d]! / size
    check(Number.isInteger(times), () => `scales of shape ${shapeText(scale.shape)} do not divide a tensor of shape ${shapeText(shape)}`)
    if (times > 1) expanded = repeat_interleave_self_int(expanded, times, d, null)
  })
  return expanded
}

export function quantize_affine_float8_non_decomposed(x: Tensor, scale: Tensor, type: DType): Tensor {
  const greatest = greatestOf(type)
  const scaled = at.div_Tensor(castTo(x, DType.float32), expandedScale(scale, x.shape))
  return castTo(at.clamp(scaled, new Float(-greatest), new Float(greatest)), type)
}

export function dequantize_affine_float8_non_decomposed(x: Tensor, scale: Tensor, type: DType): Tensor {
  return castTo(at.mul_Tensor(castTo(x, DType.float32), expandedScale(scale, x.shape)), type)
}
