import { named } from '../graph/arguments.js'
import type { ConvolutionNode, LinearNode } from '../graph/compiled.js'
import { type Clamp, NO_CLAMP } from '../graph/fields.js'
import type { GraphNode, OperatorNode, ValueId } from '../graph/graph.js'
import { baseOf } from '../graph/node.js'
import { floatFormat, floatWeight, type PackedWeight } from '../graph/packed-weight.js'
import { type Analysis, integersArg, isNone, numberArg, valueArg } from './analysis.js'

/** Stride, padding and dilation, one per dimension. */
export interface Settings {
  readonly stride: number[]
  readonly padding: number[]
  readonly dilation: number[]
}

/** Those of an aten::conv1d, conv2d or conv3d; null for other operators, and for paddings by name. */
export function convolutionSettings(node: OperatorNode): Settings | null {
  const name = /^aten::conv([123])d$/.exec(node.op)
  if (name === null) return null
  const dims = Number(name[1])
  const [stride, padding, dilation] = ['stride', 'padding', 'dilation'].map((setting) => {
    const list = integersArg(named(node, setting))
    return list?.length === 1 ? new Array<number>(dims).fill(list[0]!) : list
  })
  return stride === undefined || padding === undefined || dilation === undefined ? null : { stride, padding, dilation }
}

/** A constant or computed weight of floats; null for one of another dtype. */
export function weightOf(values: ValueId, analysis: Analysis): PackedWeight | null {
  const format = floatFormat(analysis.type(values).dtype)
  return format === undefined ? null : floatWeight(values, format)
}

/** A convolution, whether or not a pass has seen it already. */
export function asConvolution(node: GraphNode, analysis: Analysis): ConvolutionNode | null {
  if (node.kind === 'convolution') return node
  const settings = node.kind === 'operator' ? convolutionSettings(node) : null
  if (node.kind !== 'operator' || settings === null) return null
  const [input, values, bias] = node.args.map(valueArg)
  const groups = numberArg(named(node, 'groups'))
  const filter = values === undefined ? null : weightOf(values, analysis)
  if (input === undefined || filter === null || groups === undefined || (bias === undefined && !isNone(named(node, 'bias')))) return null
  return {
    ...baseOf(node),
    ...settings,
    kind: 'convolution',
    ...{ input, filter, bias: bias ?? null, residual: null, groups, perGroup: [], layout: 'planes', strategy: 'product' },
    clamp: NO_CLAMP,
    post: null,
  }
}

/** A linear layer with a matrix as its weight, whether or not a pass has seen it already. */
export function asLinear(node: GraphNode, analysis: Analysis): LinearNode | null {
  if (node.kind === 'linear') return node
  if (node.op !== 'aten::linear') return null
  const [input, values, bias] = node.args.map(valueArg)
  const weight = values === undefined ? null : weightOf(values, analysis)
  if (input === undefined || weight === null || (bias === undefined && !isNone(named(node, 'bias')))) return null
  if (analysis.type(weight.values).shape.length !== 2) return null
  return { ...baseOf(node), kind: 'linear', input, weight, bias: bias ?? null, form: 'dense', clamp: NO_CLAMP, post: null }
}

/** The bounds of a clamp behind another one. */
export function clampTo(before: Clamp, { min, max }: Clamp): Clamp {
  const between = (x: number): number => Math.min(Math.max(x, min), max)
  return { min: between(before.min), max: between(before.max) }
}

/** True for one tap that reads each pixel once. */
export function isPointwise({ stride, padding }: Pick<ConvolutionNode, 'stride' | 'padding'>, kernel: readonly number[]): boolean {
  return kernel.every((size) => size === 1) && stride.every((s) => s === 1) && padding.every((p) => p === 0)
}
