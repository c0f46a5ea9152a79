import { JitAlgorithm } from '../../../runtime/native/generated/kernels.js'
import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type GraphNode, type OperatorNode } from '../../graph/graph.js'
import { type Analysis, inputArg, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'

/** What a step computes with: an argument of the operator, or the result of one of its steps before. */
export type StepOperand = Arg | { readonly kind: 'step'; readonly index: number }

/** One step of a fused chain, before its operands are numbered. */
export interface ElementwiseStep {
  /** JitAlgorithm. */
  readonly op: number
  /** Tensors, or numbers. */
  readonly a: StepOperand
  readonly b: StepOperand | null
  /** alpha and beta of the algorithm: bounds, slope. */
  readonly numbers: readonly [number, number] | null
}

/** Steps in order, the last of which gives the result. None for a cast that widens, whose result is its argument. */
export type ElementwiseSteps = readonly ElementwiseStep[]

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

const COMPARISONS: Readonly<Record<string, readonly [algorithm: number, swapped: boolean]>> = {
  lt: [JitAlgorithm.less, false],
  le: [JitAlgorithm.less_equal, false],
  gt: [JitAlgorithm.less, true],
  ge: [JitAlgorithm.less_equal, true],
  eq: [JitAlgorithm.equal, false],
  ne: [JitAlgorithm.not_equal, false],
}

const LOGICAL: Readonly<Record<string, number>> = {
  'aten::logical_and': JitAlgorithm.bits_and,
  'aten::bitwise_and.Tensor': JitAlgorithm.bits_and,
  'aten::__and__.Tensor': JitAlgorithm.bits_and,
  'aten::logical_or': JitAlgorithm.bits_or,
  'aten::bitwise_or.Tensor': JitAlgorithm.bits_or,
  'aten::__or__.Tensor': JitAlgorithm.bits_or,
}

const CASTS = new Set(['aten::to.dtype', 'aten::to.other', 'aten::to.dtype_layout', 'aten::_to_copy', 'aten::type_as'])

/** Algorithms whose results a 16-bit float holds where it holds the operands. */
const EXACT = new Set<number>([JitAlgorithm.neg, JitAlgorithm.abs, JitAlgorithm.min, JitAlgorithm.max])

const ROUNDING: Readonly<Partial<Record<DType, number>>> = {
  [DType.bfloat16]: JitAlgorithm.round_bfloat16,
  [DType.float16]: JitAlgorithm.round_float16,
}

const step = (op: number, a: StepOperand, b: StepOperand | null = null): ElementwiseStep => ({ op, a, b, numbers: null })
const of = (index: number): StepOperand => ({ kind: 'step', index })
const number = (x: number): Arg => constant(new Float(x))

/**
 * The steps of a chain that an operator stands for, where its tensors are floats of 16 or 32 bits or bools; null where it has none. Floats are
 * computed in float32; where the result has 16 bits, it is rounded once, by the last step.
 */
export function elementwiseSteps(given: GraphNode, analysis: Analysis): ElementwiseSteps | null {
  const result = onlyResult(given)
  if (given.kind !== 'operator' || result === undefined) return null
  const { dtype } = analysis.type(result)
  const node = withNumbers(given, dtype, analysis)
  if (dtype === DType.bool) return boolSteps(node, analysis)
  if (dtype !== DType.float32 && ROUNDING[dtype] === undefined) return null
  const steps = CASTS.has(node.op)
    ? castSteps(node, analysis)
    : (chosenSteps(node, dtype, analysis) ?? arithmeticSteps(node, dtype, analysis))
  const rounding = ROUNDING[dtype]
  if (steps === null || rounding === undefined) return steps
  const last = steps.at(-1)
  if (last !== undefined && (EXACT.has(last.op) || node.op === 'aten::relu' || isClampIn(last, dtype))) return steps
  if (last === undefined) return [step(rounding, inputArg(node))]
  return last.op === JitAlgorithm.bits_or || last.op === JitAlgorithm.bits_and ? steps : [...steps, step(rounding, of(steps.length - 1))]
}

/** Whether a step has bounds that are numbers of a dtype. */
function isClampIn({ op, numbers }: ElementwiseStep, dtype: DType): boolean {
  return op === JitAlgorithm.clamp && numbers !== null && numbers.every((bound) => holds(dtype, bound))
}

/** The node with constants of no dimensions and another dtype, as tracing records numbers, as numbers. */
function withNumbers(node: OperatorNode, dtype: DType, analysis: Analysis): OperatorNode {
  const numberOf = (arg: Arg): Arg => {
    const id = valueArg(arg)
    const tensor = id === undefined ? undefined : analysis.tensor(id)
    if (tensor?.dim !== 0 || tensor.type === dtype || !NUMBERS.has(tensor.type)) return arg
    return number(Number(readTensor(tensor)[0]))
  }
  return node.args.some((arg) => numberOf(arg) !== arg) ? { ...node, args: node.args.map(numberOf) } : node
}

/** What numbers of a program become as tensors. */
const NUMBERS: ReadonlySet<DType> = new Set([DType.float32, DType.float64, DType.int64, DType.int32])

const dtypeOf = (arg: Arg | undefined, analysis: Analysis): DType | undefined => {
  const id = valueArg(arg)
  return id === undefined ? undefined : analysis.type(id).dtype
}

/** A tensor of floats that count as they are in a result of `dtype`, or a number that it holds. */
function isOperand(arg: Arg | undefined, dtype: DType, analysis: Analysis): boolean {
  const given = dtypeOf(arg, analysis)
  if (given !== undefined) return given === dtype || (dtype === DType.float32 && ROUNDING[given] !== undefined)
  const x = numberArg(arg)
  return x !== undefined && holds(dtype, x)
}

/** Whether a number is the same in a dtype. Any is in float32, to which operators cast numbers. */
function holds(dtype: DType, x: number): boolean {
  if (dtype === DType.float32 || !Number.isFinite(x)) return true
  // of 8 bits of mantissa, which bfloat16 has and float16 too between these bounds
  const bits = new Uint32Array(Float32Array.of(x).buffer)[0]!
  const inRange = dtype === DType.bfloat16 || x === 0 || (Math.abs(x) < 2 ** 15 && Math.abs(x) >= 2 ** -14)
  return Math.fround(x) === x && (bits & 0xffff) === 0 && inRange
}

/** A cast between floats, or of a bool to ones and zeros. */
function castSteps(node: OperatorNode, analysis: Analysis): ElementwiseSteps | null {
  const input = inputArg(node)
  const from = dtypeOf(input, analysis)
  if (from === DType.bool) return [step(JitAlgorithm.bits_and, number(1), input)]
  return from === DType.float32 || ROUNDING[from!] !== undefined ? [] : null
}

/** One of two values by a bool. */
function chosenSteps(node: OperatorNode, dtype: DType, analysis: Analysis): ElementwiseSteps | null {
  const { op, args } = node
  const [first, second, third] = args as [Arg, Arg | undefined, Arg | undefined]
  const choice =
    op.startsWith('aten::where.') && args.length === 3
      ? { mask: first, yes: second, no: third }
      : op === 'aten::masked_fill.Scalar' || op === 'aten::masked_fill.Tensor'
        ? { mask: second, yes: third, no: first }
        : null
  if (choice === null || dtypeOf(choice.mask, analysis) !== DType.bool) return null
  const { mask, yes, no } = choice as { mask: Arg; yes: Arg; no: Arg }
  if (!isOperand(yes, dtype, analysis) || !isOperand(no, dtype, analysis)) return null
  return [step(JitAlgorithm.bits_and, yes, mask), step(JitAlgorithm.bits_and_not, no, mask), step(JitAlgorithm.bits_or, of(0), of(1))]
}

/** Comparisons of floats, and what is computed of bools. */
function boolSteps({ op, args }: OperatorNode, analysis: Analysis): ElementwiseSteps | null {
  const [a, b] = args as [Arg, Arg | undefined]
  const logical = LOGICAL[op]
  const isBool = (arg: Arg | undefined): boolean => dtypeOf(arg, analysis) === DType.bool
  if (logical !== undefined) return isBool(a) && isBool(b) ? [step(logical, a, b)] : null
  if (op === 'aten::logical_not' || op === 'aten::bitwise_not') return isBool(a) ? [step(JitAlgorithm.bits_not, a)] : null
  const comparison = COMPARISONS[/^aten::(\w\w)\.(Tensor|Scalar)$/.exec(op)?.[1] ?? '']
  const dtype = dtypeOf(a, analysis)
  if (comparison === undefined || b === undefined || dtype === undefined) return null
  if ((dtype !== DType.float32 && ROUNDING[dtype] === undefined) || !isOperand(b, dtype, analysis)) return null
  return [comparison[1] ? step(comparison[0], b, a) : step(comparison[0], a, b)]
}

/** An operator from floats to floats. */
function arithmeticSteps(node: OperatorNode, dtype: DType, analysis: Analysis): ElementwiseSteps | null {
  const power = node.op === 'aten::pow.Tensor_Scalar' ? powerSteps(inputArg(node), numberArg(named(node, 'exponent'))) : null
  const one = power === null ? arithmeticStep(node) : null
  const steps = power ?? (one === null ? null : [one])
  // operators round numbers to the dtype that they compute in
  return steps?.every(({ a, b }) => [a, b].every((arg) => arg === null || arg.kind === 'step' || isOperand(arg, dtype, analysis))) === true
    ? steps
    : null
}

/** Powers that are products and roots. */
function powerSteps(x: Arg, exponent: number | undefined): ElementwiseSteps | null {
  switch (exponent) {
    case 2:
      return [step(JitAlgorithm.square, x)]
    case 0.5:
      return [step(JitAlgorithm.sqrt, x)]
    default:
      return null
  }
}

/** Operators that are one step. */
function arithmeticStep(node: OperatorNode): ElementwiseStep | null {
  const { op, args } = node
  const [a, b] = args as [Arg, Arg | undefined]
  const numberOf = (name: string): number | undefined => numberArg(named(node, name))
  const unary = UNARY[op]
  if (unary !== undefined) return { op: unary, a, b: null, numbers: null }
  const binary = BINARY[op]
  if (binary !== undefined) {
    // a factor of the second operand would be a step of its own, with a rounding of its own
    if ((binary === JitAlgorithm.add || binary === JitAlgorithm.sub) && numberOf('alpha') !== 1) return null
    return args.slice(0, 2).every((arg) => arg.kind === 'value' || numberArg(arg) !== undefined)
      ? { op: binary, a, b: b!, numbers: null }
      : null
  }
  if ((op === 'aten::rsub.Scalar' || op === 'aten::rsub.Tensor') && numberOf('alpha') === 1) return step(JitAlgorithm.sub, b!, a)
  const bounded = (min: number | undefined, max: number | undefined): ElementwiseStep | null =>
    min === undefined || max === undefined ? null : { op: JitAlgorithm.clamp, a, b: null, numbers: [min, max] }
  switch (op) {
    case 'aten::gelu': {
      const approximate = named(node, 'approximate')
      if (approximate.kind !== 'constant') return null
      return { op: approximate.value === 'tanh' ? JitAlgorithm.gelu_tanh : JitAlgorithm.gelu_erf, a, b: null, numbers: null }
    }
    case 'aten::relu6':
      return bounded(0, 6)
    case 'aten::hardtanh':
      return bounded(numberOf('min_val'), numberOf('max_val'))
    case 'aten::clamp':
      return bounded(isNone(named(node, 'min')) ? -Infinity : numberOf('min'), isNone(named(node, 'max')) ? Infinity : numberOf('max'))
    case 'aten::clamp_min':
      return bounded(numberOf('min'), Infinity)
    case 'aten::clamp_max':
      return bounded(-Infinity, numberOf('max'))
    case 'aten::elu': {
      const alpha = numberOf('alpha')
      if (alpha === undefined || numberOf('scale') !== 1 || numberOf('input_scale') !== 1) return null
      return { op: JitAlgorithm.elu, a, b: null, numbers: [alpha, 0] }
    }
    case 'aten::softplus': {
      const [beta, threshold] = [numberOf('beta'), numberOf('threshold')]
      if (beta === undefined || threshold === undefined) return null
      return { op: JitAlgorithm.softplus, a, b: null, numbers: [beta, threshold] }
    }
    case 'ptlite::rounded': {
      const rounding = ROUNDING[numberOf('dtype') as DType]
      return rounding === undefined ? null : { op: rounding, a, b: null, numbers: null }
    }
    case 'aten::leaky_relu': {
      const slope = numberOf('negative_slope')
      return slope === undefined ? null : { op: JitAlgorithm.relu, a, b: null, numbers: [slope, 0] }
    }
    default:
      return null
  }
}
