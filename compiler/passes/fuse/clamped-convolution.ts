import { DType } from '../../../runtime/tensor/dtype.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { constant, type GraphNode, type OperatorNode, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, inputOf, numberArg, onlyResult } from '../analysis.js'

/** Nodes that make a value of the elements of `from`, in order. */
export interface ByteFunction {
  readonly from: ValueId
  readonly nodes: readonly GraphNode[]
}

/** Convolutions whose integers can have other bounds, and whether theirs begin at the zero point. */
const CONVOLUTIONS: Readonly<Record<string, { readonly relu: boolean }>> = {
  'quantized::conv2d.new': { relu: false },
  'quantized::conv2d_relu.new': { relu: true },
}

/**
 * The convolution that gives what `last` makes of the integers of another one, which nothing else reads, where all of that is to clamp them: relu6 and
 * hardtanh with the parameters of the convolution. Null where it is something else. `table` has the result of each byte, by its bits.
 */
export function clampedConvolution(
  last: OperatorNode,
  { from, nodes }: ByteFunction,
  table: Tensor,
  analysis: Analysis,
): OperatorNode | null {
  const producer = analysis.producer(from)
  if (producer?.kind !== 'operator' || CONVOLUTIONS[producer.op] === undefined || !analysis.isPure(producer)) return null
  const steps = nodes.filter((node) => node !== last).flatMap((node) => onlyResult(node) ?? [])
  // the convolution would be computed twice
  if ([from, ...steps].some((id) => analysis.isReturned(id) || !analysis.readersOf(id).every((reader) => nodes.includes(reader))))
    return null
  const [input, result] = [analysis.type(from), analysis.type(onlyResult(last)!)]
  if (input.dtype !== result.dtype || !sameShape(input.strides, result.strides)) return null
  const [scale, zeroPoint] = ['output_scale', 'output_zero_point'].map((name) => numberArg(named(producer, name)))
  if (scale !== numberArg(named(last, 'scale')) || zeroPoint !== numberArg(named(last, 'zero_point')) || zeroPoint === undefined)
    return null
  const bounds = clampOf(table, input.dtype)
  if (bounds === null || inputOf(producer) === undefined) return null
  const { relu } = CONVOLUTIONS[producer.op]!
  const min = relu ? bounds.clamp(zeroPoint) : bounds.min
  return { ...producer, ...baseOf(last), op: 'ptlite::clamped_convolution', args: [...producer.args, constant(min), constant(bounds.max)] }
}

interface Clamp {
  readonly min: number
  readonly max: number
  clamp(integer: number): number
}

/** The bounds of a table that clamps integers; null for other tables. */
function clampOf(table: Tensor, dtype: DType): Clamp | null {
  const bits = table.data() as Uint8Array
  const isSigned = dtype === DType.qint8
  const entries = isSigned ? new Int8Array(bits.buffer, bits.byteOffset, bits.length) : bits
  const [least, most] = isSigned ? [-128, 127] : [0, 255]
  const [min, max] = [entries[least & 255]!, entries[most]!]
  const clamp = (integer: number): number => Math.min(Math.max(integer, min), max)
  for (let integer = least; integer <= most; integer++) if (entries[integer & 255] !== clamp(integer)) return null
  return { min, max, clamp }
}
