import { JitAlgorithm } from '../../runtime/native/generated/kernels.js'
import type { Arg, GraphNode } from '../graph/graph.js'
import { isNone, numberArg } from './analysis.js'

/** One step of a fused chain, before its operands are numbered. */
export interface ElementwiseStep {
  /** JitAlgorithm. */
  readonly op: number
  /** Tensors, or numbers. */
  readonly a: Arg
  readonly b: Arg | null
  /** alpha and beta of the algorithm: bounds, slope. */
  readonly numbers: readonly [number, number] | null
}

const UNARY: Readonly<Record<string, number>> = {
  'aten::relu': JitAlgorithm.relu,
  'aten::sigmoid': JitAlgorithm.sigmoid,
  'aten::tanh': JitAlgorithm.tanh,
  'aten::neg': JitAlgorithm.neg,
  'aten::abs': JitAlgorithm.abs,
  'aten::square': JitAlgorithm.square,
  'aten::exp': JitAlgorithm.exp,
  'aten::log': JitAlgorithm.log,
  'aten::sqrt': JitAlgorithm.sqrt,
  'aten::rsqrt': JitAlgorithm.rsqrt,
  'aten::reciprocal': JitAlgorithm.reciprocal,
  'aten::sin': JitAlgorithm.sin,
  'aten::cos': JitAlgorithm.cos,
  'aten::erf': JitAlgorithm.erf,
  'aten::silu': JitAlgorithm.silu,
  'aten::hardswish': JitAlgorithm.hardswish,
  'aten::hardsigmoid': JitAlgorithm.hardsigmoid,
  'aten::mish': JitAlgorithm.mish,
}

const BINARY: Readonly<Record<string, number>> = {
  'aten::add.Tensor': JitAlgorithm.add,
  'aten::add.Scalar': JitAlgorithm.add,
  'aten::sub.Tensor': JitAlgorithm.sub,
  'aten::sub.Scalar': JitAlgorithm.sub,
  'aten::mul.Tensor': JitAlgorithm.mul,
  'aten::mul.Scalar': JitAlgorithm.mul,
  'aten::div.Tensor': JitAlgorithm.div,
  'aten::div.Scalar': JitAlgorithm.div,
  'aten::minimum': JitAlgorithm.min,
  'aten::maximum': JitAlgorithm.max,
}

/** The step that an operator stands for in a float32 chain; null for operators that have none. */
export function elementwiseStep({ op, args }: GraphNode): ElementwiseStep | null {
  const unary = UNARY[op]
  if (unary !== undefined) return { op: unary, a: args[0]!, b: null, numbers: null }
  const binary = BINARY[op]
  if (binary !== undefined) {
    // a factor of the second operand would be a step of its own, with a rounding of its own
    if ((binary === JitAlgorithm.add || binary === JitAlgorithm.sub) && numberArg(args[2]) !== 1) return null
    return args.slice(0, 2).every((arg) => arg.kind === 'value' || numberArg(arg) !== undefined)
      ? { op: binary, a: args[0]!, b: args[1]!, numbers: null }
      : null
  }
  const bounded = (min: number | undefined, max: number | undefined): ElementwiseStep | null =>
    min === undefined || max === undefined ? null : { op: JitAlgorithm.clamp, a: args[0]!, b: null, numbers: [min, max] }
  switch (op) {
    case 'aten::gelu':
      if (args[1]?.kind !== 'constant') return null
      return { op: args[1].value === 'tanh' ? JitAlgorithm.gelu_tanh : JitAlgorithm.gelu_erf, a: args[0]!, b: null, numbers: null }
    case 'aten::relu6':
      return bounded(0, 6)
    case 'aten::hardtanh':
      return bounded(numberArg(args[1]), numberArg(args[2]))
    case 'aten::clamp':
      return bounded(isNone(args[1]) ? -Infinity : numberArg(args[1]), isNone(args[2]) ? Infinity : numberArg(args[2]))
    case 'aten::clamp_min':
      return bounded(numberArg(args[1]), Infinity)
    case 'aten::clamp_max':
      return bounded(-Infinity, numberArg(args[1]))
    case 'aten::elu': {
      const alpha = numberArg(args[1])
      if (alpha === undefined || numberArg(args[2]) !== 1 || numberArg(args[3]) !== 1) return null
      return { op: JitAlgorithm.elu, a: args[0]!, b: null, numbers: [alpha, 0] }
    }
    case 'aten::softplus': {
      const [beta, threshold] = [numberArg(args[1]), numberArg(args[2])]
      if (beta === undefined || threshold === undefined) return null
      return { op: JitAlgorithm.softplus, a: args[0]!, b: null, numbers: [beta, threshold] }
    }
    case 'aten::leaky_relu': {
      const slope = numberArg(args[1])
      return slope === undefined ? null : { op: JitAlgorithm.relu, a: args[0]!, b: null, numbers: [slope, 0] }
    }
    default:
      return null
  }
}
