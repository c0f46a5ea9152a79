import { type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, isDecomposed, valueArg } from '../analysis.js'
import { madeBy } from '../expression.js'
import { knownNumber, rangeOf } from './pairs.js'

const SPACE = 'quantized_decomposed::'

/** What gives all elements of its argument under other dimensions. */
const ARRANGING = new Set(['reshape', 'permute', 'contiguous', 'clone'].map((name) => `aten::${name}`))

export interface DynamicInput {
  readonly floats: ValueId
  /** Operators that arrange the elements behind that, the first one first. */
  readonly arranging: readonly OperatorNode[]
}

/** The floats that a value is, quantized by their own range to all integers of 8 bits and dequantized; null for any other value. */
export function dynamicInput(id: ValueId, analysis: Analysis): DynamicInput | null {
  const dequantization = madeBy(value(id), analysis)
  if (dequantization !== undefined && ARRANGING.has(dequantization.op)) {
    const input = inputOf(dequantization)
    const found = input === undefined ? null : dynamicInput(input, analysis)
    return found === null ? null : { floats: found.floats, arranging: [...found.arranging, dequantization] }
  }
  if (dequantization?.op !== `${SPACE}dequantize_per_tensor.tensor`) return null
  const quantization = madeBy(dequantization.args[0], analysis)
  if (quantization?.op !== `${SPACE}quantize_per_tensor.tensor`) return null
  const [scale, zeroPoint] = [1, 2].map((place) => valueArg(quantization.args[place]))
  if (scale === undefined || [1, 2].some((place) => valueArg(dequantization.args[place]) !== [0, scale, zeroPoint][place])) return null
  const chosen = analysis.producer(scale)
  if (chosen === undefined || !isDecomposed(chosen) || chosen.op !== `${SPACE}choose_qparams.tensor` || !analysis.isPure(chosen))
    return null
  const [first, second] = chosen.results
  const isOne = first?.kind === 'value' && first.id === scale && second?.kind === 'value' && second.id === zeroPoint
  const [source, from] = [inputOf(quantization), inputOf(chosen)]
  if (!isOne || source === undefined || source !== from) return null
  const isWhole = [chosen.args, quantization.args.slice(2), dequantization.args.slice(2)].every((args) => {
    const [min, max] = [1, 2].map((place) => knownNumber(args[place]!, analysis))
    const range = rangeOf(knownNumber(args[args === chosen.args ? 4 : 3]!, analysis))
    return range !== null && range[0] === min && range[1] === max
  })
  return isWhole ? { floats: source, arranging: [] } : null
}
