import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import type { PerTensorQuant } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import type { Arg, GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, isDecomposed, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'

/* The operators `quantized_decomposed::quantize_per_tensor` and `dequantize_per_tensor` with parameters that are known. */

/**
 * A scale and a zero point for integers from 0 to 255, of which those from `min` to `max` are used. The kernels multiply such integers; those of
 * int8 are moved up.
 */
export interface Parameters extends PerTensorQuant {
  readonly min: number
  readonly max: number
}

/** What moves the integers of int8 into the range of uint8. */
const UP = 128

/** One half of a pair. */
export interface Half {
  /** The floats that are quantized, or the integers that are dequantized. */
  readonly input: ValueId
  readonly result: ValueId
  readonly parameters: Parameters
  /** The plain integers are those of int8. */
  readonly isSigned: boolean
}

const SPACE = 'quantized_decomposed::'

export function isDequantization(node: GraphNode): node is OperatorNode {
  return isDecomposed(node) && node.op.startsWith(`${SPACE}dequantize_per_`)
}

/** The smallest and the largest integer of a plain dtype of 8 bits. */
export function rangeOf(dtype: number | undefined): readonly [min: number, max: number] | null {
  if (dtype === DType.uint8) return [0, 255]
  return dtype === DType.int8 ? [-128, 127] : null
}

/** A number that is an argument, or the only element of a constant tensor. */
export function knownNumber(arg: Arg, analysis: Analysis): number | undefined {
  const id = valueArg(arg)
  if (id === undefined) return numberArg(arg)
  const tensor = analysis.tensor(id)
  return tensor?.numel === 1 ? Number(readTensor(tensor)[0]) : undefined
}

export function quantizationOf(node: OperatorNode, analysis: Analysis): Half | null {
  return node.op.startsWith(`${SPACE}quantize_per_tensor`) ? halfOf(node, analysis) : null
}

export function dequantizationOf(node: OperatorNode, analysis: Analysis): Half | null {
  if (!node.op.startsWith(`${SPACE}dequantize_per_tensor`)) return null
  const type = named(node, 'out_dtype')
  return isNone(type) || numberArg(type) === DType.float32 ? halfOf(node, analysis) : null
}

/** Both halves have the same arguments in the same places. */
function halfOf(node: OperatorNode, analysis: Analysis): Half | null {
  const [input, result] = [inputOf(node), onlyResult(node)]
  const [scale, zeroPoint, min, max, type] = node.args.slice(1, 6).map((arg) => knownNumber(arg, analysis))
  const range = rangeOf(type)
  if (input === undefined || result === undefined || range === null || !analysis.isPure(node)) return null
  if (scale === undefined || zeroPoint === undefined || min === undefined || max === undefined) return null
  const isUsable =
    scale > 0 && Number.isFinite(scale) && min >= range[0] && max <= range[1] && min < max && zeroPoint >= min && zeroPoint <= max
  if (!isUsable || !Number.isInteger(zeroPoint)) return null
  const isSigned = type === DType.int8
  const up = isSigned ? UP : 0
  return { input, result, isSigned, parameters: { scale, zeroPoint: zeroPoint + up, min: min + up, max: max + up } }
}
