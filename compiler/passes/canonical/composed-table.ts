import { type Arg, constant, NONE } from '../../graph/graph.js'
import { anyOf, axis, call, clamped, difference, given, type Match, named, type Pattern, product, sum } from './pattern.js'

/** An expression that is an operator. */
export interface Composed {
  /** `x` is the input. */
  readonly pattern: Pattern
  readonly op: string
  /** The arguments behind the input. */
  readonly args?: (match: Match) => readonly Arg[]
  /** Each element depends on one element of the input, so that memory may have any order. */
  readonly pointwise: boolean
}

const x = named('x')
const exp = (of: Pattern): Pattern => call('aten::exp', of)

/** 1 + exp(-x). */
const decay = sum(exp(call('aten::neg', x)), 1)

const SIGMOID = anyOf(call('aten::sigmoid', x), call('aten::reciprocal', decay))

/** relu6(x + 3). */
const ramp = clamped(sum(x, 3), 0, 6)

const HARDSIGMOID = anyOf(product(1 / 6, ramp), clamped(sum(product(1 / 6, x), 0.5), 0, 1), clamped(product(1 / 6, sum(x, 3)), 0, 1))

const SOFTPLUS = anyOf(call('aten::softplus', x, given(1), given(20)), call('aten::log', sum(exp(x), 1)), call('aten::log1p', exp(x)))

/** √(2/π) (x + 0.044715 x³), or √(2/π) x (1 + 0.044715 x²). */
const cubic = anyOf(
  product(Math.sqrt(2 / Math.PI), sum(x, product(0.044715, x, x, x))),
  product(Math.sqrt(2 / Math.PI), x, sum(product(0.044715, x, x), 1)),
)

/** exp(x - max(x)). */
const powers = exp(difference(x, call('aten::amax', x, axis('dim', 'x'), given(true))))

const pointwise = (op: string, pattern: Pattern): Composed => ({ op: `aten::${op}`, pattern, pointwise: true })
const gelu = (approximate: string, pattern: Pattern): Composed => ({ ...pointwise('gelu', pattern), args: () => [constant(approximate)] })
const alongAxis = (op: string, pattern: Pattern): Composed => ({
  op: `aten::${op}`,
  pattern,
  args: (match) => [constant(match.axis('dim')), NONE],
  pointwise: false,
})

/**
 * Operators written out, each with the expression of canonical operators that it is. Factors and terms may stand in any order. The first row that fits
 * an operator counts.
 */
export const COMPOSED_FORMS: readonly Composed[] = [
  pointwise('silu', anyOf(product(1, x, SIGMOID), call('aten::div.Tensor', x, decay))),
  pointwise('sigmoid', call('aten::reciprocal', decay)),
  pointwise('hardswish', anyOf(product(1 / 6, x, ramp), product(1, x, anyOf(call('aten::hardsigmoid', x), HARDSIGMOID)))),
  pointwise('hardsigmoid', HARDSIGMOID),
  pointwise('mish', product(1, x, call('aten::tanh', SOFTPLUS))),
  pointwise('rsqrt', call('aten::reciprocal', call('aten::sqrt', x))),
  // Hendrycks and Gimpel, "Gaussian Error Linear Units"
  gelu('none', product(0.5, x, sum(call('aten::erf', product(Math.SQRT1_2, x)), 1))),
  gelu('tanh', product(0.5, x, sum(call('aten::tanh', cubic), 1))),
  // the maximum has to be subtracted: without it large numbers would give another result
  alongAxis(
    'softmax.int',
    call(
      'aten::div.Tensor',
      named('powers', powers),
      call('aten::sum.dim_IntList', named('powers'), axis('dim', 'x'), given(true), given(null)),
    ),
  ),
  alongAxis('log_softmax.int', difference(x, call('aten::logsumexp', x, axis('dim', 'x'), given(true)))),
]
