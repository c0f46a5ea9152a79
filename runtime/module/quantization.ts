import type { DType } from '../tensor/dtype.js'
import { Float } from '../tensor/scalar.js'
import { holdsZeroPoint, type Quant } from '../tensor/tensor.js'
import type { Value } from '../tensor/value.js'
import { damaged, describe, integerOf, tupleOf } from './file-error.js'
import { PickleGlobal, SCHEMES } from './pickle-global.js'
import type { TensorPool } from './tensor-pool.js'

/** The quantization of a pickled tensor, (scheme, scale, zero point) or (scheme, scales, zero points, axis). Throws INVALID_FILE. */
export function quantOf(params: Value | undefined, label: string, pool: TensorPool): Quant {
  const items = tupleOf(params, `${label}: quantization of a tensor`)
  const scheme = items[0]
  if (!(scheme instanceof PickleGlobal) || !SCHEMES.has(scheme.name))
    throw damaged(`${label}: unknown quantization scheme: ${describe(scheme)}`)
  if (scheme.name.startsWith('per_tensor')) {
    const [, scale, zeroPoint] = items
    if (!(scale instanceof Float)) throw damaged(`${label}: expected a float as scale, found ${describe(scale)}`)
    return { scale: scale.value, zeroPoint: integerOf(zeroPoint, `${label}: zero point`) }
  }
  const scales = pool.numbers(items[1], `${label}: scales`)
  const zeroPoints = pool.numbers(items[2], `${label}: zero points`)
  const axis = integerOf(items[3], `${label}: quantization axis`, 0)
  return scheme.name === 'per_channel_affine_float_qparams'
    ? { axis, scales, zeroPoints, floatZeroPoints: true }
    : { axis, scales, zeroPoints }
}

/** What is wrong with the quantization of a tensor of these sizes, or undefined. */
export function quantProblem(quant: Quant, type: DType, sizes: readonly number[]): string | undefined {
  if ('axis' in quant) {
    const channels = sizes[quant.axis]
    if (channels === undefined || quant.scales.length !== channels || quant.zeroPoints.length !== channels) {
      const found = `${quant.scales.length} scales and ${quant.zeroPoints.length} zero points on axis ${quant.axis}`
      return `a tensor of shape [${sizes.join(', ')}] has ${found}`
    }
  }
  return holdsZeroPoint(quant, type) ? undefined : 'a quantized tensor has a zero point out of range'
}
