import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import type { PerTensorQuant } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import type { Arg, GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'

/* The operators `quantized_decomposed::quantize_per_tensor` and `dequantize_per_tensor` with parameters that are known. */

/** A scale and a zero point for integers of a quantized dtype, of which those from `min` to `max` are used. */
export interface Parameters extends PerTensorQuant {
  readonly dtype: DType
  readonly min: number
  readonly max: number
}

/** One half of a pair. */
export interface Half {
  /** The floats that are quantized, or the integers that are dequantized. */
  readonly input: ValueId
  readonly result: ValueId
  readonly parameters: Parameters
}

const SPACE = 'quantized_decomposed::'

/** True for an operator whose parameters of quantization are arguments. */
export function isDecomposed(node: GraphNode): node is OperatorNode {
  return node.kind === 'operator' && node.op.startsWith(SPACE)
}

export function isDequantization(node: GraphNode): node is OperatorNode {
  return isDecomposed(node) && node.op.startsWith(`${SPACE}dequantize_per_`)
}

/** The smallest and the largest integer of a quantized dtype of 8 bits. */
export function rangeOf(dtype: DType): readonly [min: number, max: number] {
  return dtype === DType.quint8 ? [0, 255] : [-128, 127]
}

/** The quantized dtype with the integers of a plain one. */
export function quantizedType(dtype: number | undefined): DType | null {
  if (dtype === DType.uint8) return DType.quint8
  return dtype === DType.int8 ? DType.qint8 : null
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
  const dtype = quantizedType(type)
  if (input === undefined || result === undefined || dtype === null || !analysis.isPure(node)) return null
  if (scale === undefined || zeroPoint === undefined || min === undefined || max === undefined) return null
  const [low, high] = rangeOf(dtype)
  const isUsable = scale > 0 && Number.isFinite(scale) && min >= low && max <= high && min < max && zeroPoint >= min && zeroPoint <= max
  return isUsable && Number.isInteger(zeroPoint) ? { input, result, parameters: { scale, zeroPoint, dtype, min, max } } : null
}
