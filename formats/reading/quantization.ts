import type { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { holdsZeroPoint, type Quant } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { integerOf, tupleOf, unexpected } from '../../program/file-error.js'
import { PickleGlobal, SCHEME } from '../containers/pickle/global.js'
import * as features from '../../runtime/features.js'
import { absent } from '../../runtime/error.js'

/** The quantization of a pickled tensor, (scheme, scale, zero point) or (scheme, scales, zero points, axis); `numbersOf` reads a tensor of the file. Throws INVALID_FILE. */
export function quantOf(params: Value | undefined, numbersOf: (tensor: Value | undefined) => number[]): Quant {
  if (!features.quantized) throw absent('the reader of quantized tensors', 'UNSUPPORTED_FILE')
  const [scheme, scale, zeroPoint, axis] = tupleOf(params)
  const match = scheme instanceof PickleGlobal ? SCHEME.exec(scheme.className) : null
  if (match === null) throw unexpected('a quantization scheme', scheme)
  if (match[1] === 'tensor') {
    if (!(scale instanceof Float)) throw unexpected('a float as scale', scale)
    return { scale: scale.value, zeroPoint: integerOf(zeroPoint) }
  }
  const channels = { axis: integerOf(axis, 0), scales: numbersOf(scale), zeroPoints: numbersOf(zeroPoint) }
  return match[1] === undefined ? { ...channels, floatZeroPoints: true } : channels
}

/** What is wrong with the quantization of a tensor of these sizes, or undefined. */
export function quantProblem(quant: Quant, type: DType, sizes: readonly number[]): string | undefined {
  if (!features.quantized) return 'quantized tensors are not in this build'
  if ('axis' in quant) {
    const channels = sizes[quant.axis]
    if (channels === undefined || quant.scales.length !== channels || quant.zeroPoints.length !== channels) {
      const found = `${quant.scales.length} scales and ${quant.zeroPoints.length} zero points on axis ${quant.axis}`
      return `a tensor of shape [${sizes.join(', ')}] has ${found}`
    }
  }
  return holdsZeroPoint(quant, type) ? undefined : 'a quantized tensor has a zero point out of range'
}
