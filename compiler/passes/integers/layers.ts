import { DType } from '../../../runtime/tensor/dtype.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../../runtime/tensor/value.js'
import { named } from '../../graph/arguments.js'
import { type Arg, NONE, type OperatorNode, type ValueId } from '../../graph/graph.js'
import { type Analysis, integersArg, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { convolutionSettings } from '../layers.js'
import { packedOnce, quantizedWeight, transposed } from './weights.js'

/** A layer whose weights are integers: the floats that it reads, and its packed weights. */
export interface IntegerLayer {
  readonly input: ValueId
  readonly packed: CustomObject
  /** Names of operators by what they do behind the product; null where there is none. */
  readonly requantizing: string
  readonly rectifying: string | null
  readonly floating: string
}

/** A convolution, transposed convolution or linear layer with such weights. */
export function integerLayer(node: OperatorNode, analysis: Analysis): IntegerLayer | null {
  if (onlyResult(node) === undefined || !analysis.isPure(node)) return null
  return linearLayer(node, analysis) ?? convolution(node, analysis)
}

/** A constant bias of float32 or None; undefined for any other. */
function constantBias(arg: Arg | undefined, analysis: Analysis): Tensor | null | undefined {
  if (isNone(arg)) return null
  const id = valueArg(arg)
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  return tensor?.type === DType.float32 && tensor.dim === 1 ? tensor : undefined
}

interface Operands {
  readonly input: ValueId | undefined
  readonly weight: ValueId | null | undefined
  readonly bias: Arg | undefined
}

/** The operands of a product with a transposed matrix, which has a row for each output, and its bias. */
function operandsOf(node: OperatorNode, analysis: Analysis): Operands | null {
  const [a, b, c] = node.args.map(valueArg)
  const turned = (id: ValueId | undefined): ValueId | null => (id === undefined ? null : transposed(id, analysis))
  switch (node.op) {
    case 'aten::linear':
      return { input: a, weight: b, bias: named(node, 'bias') }
    case 'aten::matmul':
      return { input: a, weight: turned(b), bias: NONE }
    case 'aten::addmm': {
      const factors = ['beta', 'alpha'].map((name) => numberArg(named(node, name)))
      return factors.every((factor) => factor === 1) ? { input: b, weight: turned(c), bias: node.args[0] } : null
    }
    default:
      return null
  }
}

function linearLayer(node: OperatorNode, analysis: Analysis): IntegerLayer | null {
  const { input, weight: id, bias: arg } = operandsOf(node, analysis) ?? {}
  if (input === undefined || id === undefined || id === null || analysis.type(input).shape.length < 2) return null
  const weight = quantizedWeight(id, 0, analysis)
  const bias = constantBias(arg, analysis)
  if (weight?.dim !== 2 || bias === undefined || (bias !== null && bias.numel !== weight.shape[0])) return null
  return {
    input,
    packed: packedOnce('quantized::linear_prepack', weight, bias, []),
    requantizing: 'quantized::linear',
    rectifying: 'quantized::linear_relu',
    floating: 'ptlite::quantized_linear',
  }
}

function convolution(node: OperatorNode, analysis: Analysis): IntegerLayer | null {
  const name = /^aten::(conv(?:_transpose)?)([123])d(?:\.input)?$/.exec(node.op)
  const [input, id] = node.args.map(valueArg)
  if (name === null || input === undefined || id === undefined) return null
  const dims = Number(name[2])
  const isTransposed = name[1] === 'conv_transpose'
  const weight = quantizedWeight(id, isTransposed ? 1 : 0, analysis)
  const bias = constantBias(named(node, 'bias'), analysis)
  const groups = numberArg(named(node, 'groups'))
  const settings = isTransposed ? transposedSettings(node, dims) : convolutionSettings(node)
  if (weight?.dim !== dims + 2 || bias === undefined || groups === undefined || settings === null) return null
  // an image without a batch, and what the kernels cannot do
  if (analysis.type(input).shape.length !== dims + 2 || (isTransposed && groups > 1)) return null
  const lists = Array.isArray(settings) ? settings : [settings.stride, settings.padding, settings.dilation]
  const suffix = dims === 1 || isTransposed ? '' : '.new'
  const base = `quantized::${name[1]}${dims}d`
  return {
    input,
    packed: packedOnce(`${base}_prepack`, weight, bias, [...lists, groups]),
    requantizing: `${base}${suffix}`,
    rectifying: isTransposed ? null : `${base}_relu${suffix}`,
    floating: `ptlite::quantized_convolution`,
  }
}

/** Stride, padding, output padding and dilation, one number per dimension. */
function transposedSettings(node: OperatorNode, dims: number): number[][] | null {
  const lists = ['stride', 'padding', 'output_padding', 'dilation'].map((name) => {
    const list = integersArg(named(node, name))
    return list?.length === 1 ? new Array<number>(dims).fill(list[0]!) : list
  })
  return lists.every((list) => list !== undefined) ? lists : null
}
