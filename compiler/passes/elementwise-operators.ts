import { FusedOp } from '../../runtime/native/generated/kernels.js'
import type { Arg, GraphNode } from '../graph/graph.js'
import { isNone, numberArg } from './analysis.js'

/** One step of a fused chain, before its operands are numbered. */
export interface ElementwiseStep {
  readonly op: number
  /** Tensors, or numbers. */
  readonly a: Arg
  readonly b: Arg | null
  /** Bounds or slope. */
  readonly numbers: readonly [number, number] | null
}

const UNARY: Readonly<Record<string, number>> = {
  'aten::relu': FusedOp.relu,
  'aten::sigmoid': FusedOp.sigmoid,
  'aten::tanh': FusedOp.tanh,
  'aten::neg': FusedOp.neg,
  'aten::abs': FusedOp.abs,
  'aten::square': FusedOp.square,
  'aten::exp': FusedOp.exp,
  'aten::log': FusedOp.log,
  'aten::sqrt': FusedOp.sqrt,
  'aten::rsqrt': FusedOp.rsqrt,
  'aten::reciprocal': FusedOp.reciprocal,
  'aten::sin': FusedOp.sin,
  'aten::cos': FusedOp.cos,
  'aten::erf': FusedOp.erf,
  'aten::silu': FusedOp.silu,
  'aten::hardswish': FusedOp.hardswish,
  'aten::hardsigmoid': FusedOp.hardsigmoid,
}

const BINARY: Readonly<Record<string, number>> = {
  'aten::add.Tensor': FusedOp.add,
  'aten::add.Scalar': FusedOp.add,
  'aten::sub.Tensor': FusedOp.sub,
  'aten::sub.Scalar': FusedOp.sub,
  'aten::mul.Tensor': FusedOp.mul,
  'aten::mul.Scalar': FusedOp.mul,
  'aten::div.Tensor': FusedOp.div,
  'aten::div.Scalar': FusedOp.div,
  'aten::minimum': FusedOp.minimum,
  'aten::maximum': FusedOp.maximum,
}

/** The step that an operator stands for in a float32 chain; null for operators that have none. */
export function elementwiseStep({ op, args }: GraphNode): ElementwiseStep | null {
  const unary = UNARY[op]
  if (unary !== undefined) return { op: unary, a: args[0]!, b: null, numbers: null }
  const binary = BINARY[op]
  if (binary !== undefined) {
    // a factor of the second operand would be a step of its own, with a rounding of its own
    if ((binary === FusedOp.add || binary === FusedOp.sub) && numberArg(args[2]) !== 1) return null
    return args.slice(0, 2).every((arg) => arg.kind === 'value' || numberArg(arg) !== undefined)
      ? { op: binary, a: args[0]!, b: args[1]!, numbers: null }
      : null
  }
  const bounded = (min: number | undefined, max: number | undefined): ElementwiseStep | null =>
    min === undefined || max === undefined ? null : { op: FusedOp.clamp, a: args[0]!, b: null, numbers: [min, max] }
  switch (op) {
    case 'aten::gelu':
      if (args[1]?.kind !== 'constant') return null
      return { op: args[1].value === 'tanh' ? FusedOp.gelu_tanh : FusedOp.gelu, a: args[0]!, b: null, numbers: null }
    case 'aten::relu6':
      return bounded(0, 6)
    case 'aten::hardtanh':
      return bounded(numberArg(args[1]), numberArg(args[2]))
    case 'aten::clamp':
      return bounded(isNone(args[1]) ? -Infinity : numberArg(args[1]), isNone(args[2]) ? Infinity : numberArg(args[2]))
    case 'aten::leaky_relu': {
      const slope = numberArg(args[1])
      return slope === undefined ? null : { op: FusedOp.leaky_relu, a: args[0]!, b: null, numbers: [slope, 0] }
    }
    default:
      return null
  }
}
