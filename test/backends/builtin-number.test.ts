import t from 'tap'
import { callOperator, float, int, type Input, PtliteError } from '../../src/index.js'

const run = (op: string, ...args: Input[]): unknown => callOperator(op, args)
const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

t.test('ints are exact and wrap around at 64 bits', (t) => {
  t.equal(run('aten::add.int', int(2 ** 53 - 1), int(2)), 2n ** 53n + 1n)
  t.equal(run('aten::add.int', int(MAX), int(1)), MIN)
  t.equal(run('aten::sub.int', int(MIN), int(1)), MAX)
  t.equal(run('aten::mul.int', int(3037000500), int(3037000500)), -9223372036709301616n)
  t.equal(run('aten::mul.int', int(-5), int(0)), 0)
  t.equal(run('aten::neg.int', int(MIN)), MIN)
  t.equal(run('aten::eq.int', int(2n ** 53n + 1n), int(2 ** 53)), false)
  t.equal(run('aten::eq.int_float', int(2n ** 53n + 1n), float(2 ** 53)), true, 'in doubles they are equal')
  t.equal(run('aten::sum.int', [int(2 ** 31 - 1), int(1)]), -(2 ** 31), 'sums are of 32 bits, as in PyTorch')
  t.end()
})

t.test('division rounds down and remainders have the sign of the divisor', (t) => {
  const cases = [
    [7, 2, 3, 1],
    [-7, 2, -4, 1],
    [7, -2, -4, -1],
    [-7, -2, 3, -1],
    [-6, 3, -2, 0],
    [0, -3, 0, 0],
  ] as const
  for (const [a, b, quotient, remainder] of cases) {
    t.equal(run('aten::floordiv.int', int(a), int(b)), quotient, `${a} // ${b}`)
    t.equal(run('aten::remainder.int', int(a), int(b)), remainder, `${a} % ${b}`)
    t.strictSame(run('aten::divmod.int', int(a), int(b)), [quotient, remainder])
  }
  t.equal(run('aten::floordiv.int', int(MIN), int(3)), -3074457345618258603n)
  t.equal(run('aten::remainder.int', int(MAX), int(-2)), -1)
  t.equal(run('aten::__round_to_zero_floordiv.int', int(-7), int(2)), -3)
  t.equal(run('aten::floordiv.float', float(7.5), float(-2)), -4)
  t.equal(run('aten::remainder.float', float(-7.5), float(2)), 0.5)
  t.ok(Number.isNaN(run('aten::remainder.float', float(5), float(Infinity))), 'the intermediate sum is infinite')
  for (const op of ['floordiv.int', 'remainder.int', 'divmod.int', '__round_to_zero_floordiv.int']) {
    t.throws(() => run(`aten::${op}`, int(1), int(0)), { code: 'MODEL_ERROR', message: /ZeroDivisionError/ })
  }
  t.equal(run('aten::div.int', int(1), int(0)), Infinity)
  t.end()
})

t.test('numbers of unknown type keep it', (t) => {
  t.equal(run('aten::add', int(2n ** 60n), int(1)), 2n ** 60n + 1n)
  t.equal(run('aten::add', int(1), float(0.5)), 1.5)
  t.equal(run('aten::str', callOperator('aten::list.t', [[float(2)]]) as Input), '[2]', 'results leave as plain numbers')
  t.equal(run('aten::format', '{} {}', int(2), float(2)), '2 2.')
  t.end()
})

t.test('shifts take the count modulo 64', (t) => {
  t.equal(run('aten::__lshift__.int', int(1), int(63)), MIN)
  t.equal(run('aten::__lshift__.int', int(1), int(64)), 1)
  t.equal(run('aten::__rshift__.int', int(-8), int(65)), -4)
  t.equal(run('aten::__and__.int', int(-1), int(MAX)), MAX)
  t.equal(run('aten::__xor__.int', int(6), int(-3)), -5)
  t.end()
})

t.test('rounding', (t) => {
  const cases = [0.5, 0, 1.5, 2, 2.5, 2, -0.5, -0, -1.5, -2, 0.49999999999999994, 0, 4503599627370497, 4503599627370497]
  for (let i = 0; i < cases.length; i += 2) t.ok(Object.is(run('aten::round.float', float(cases[i]!)), cases[i + 1]!), `round(${cases[i]})`)
  t.equal(run('aten::floor.float', float(-1.5)), -2)
  t.equal(run('aten::ceil.float', float(-1.5)), -1)
  t.throws(() => run('aten::floor.float', float(1e300)), PtliteError)
  t.equal(run('aten::Int.float', float(1e300)), MIN, 'a conversion does not check')
  t.equal(run('aten::Int.float', float(-1.9)), -1)
  t.equal(run('aten::mathremainder.float', float(5), float(3)), -1)
  t.equal(run('aten::fmod.float', float(-7), float(3)), -1)
  t.end()
})

t.test('powers, and zero to a negative one', (t) => {
  t.equal(run('aten::pow.int', int(2), int(-1)), 0.5)
  t.equal(run('aten::pow.float', float(1), float(NaN)), 1)
  t.equal(run('aten::pow.float', float(-1), float(Infinity)), 1)
  t.throws(() => run('aten::pow.float', float(0), float(-1)), { code: 'MODEL_ERROR' })
  t.end()
})

t.test('special functions', (t) => {
  const close = (op: string, x: number, want: number): void => {
    const got = run(`aten::${op}.float`, float(x)) as number
    t.ok(Math.abs(got - want) <= 4e-15 * Math.abs(want), `${op}(${x}): ${got}, expected ${want}`)
  }
  // values of C's math library
  close('erf', 0.5, 0.5204998778130465)
  close('erf', -1.7, -0.9837904585907746)
  close('erf', 3.1, 0.9999883513426328)
  close('erfc', 0.3, 0.6713732405408726)
  close('erfc', 5, 1.5374597944280347e-12)
  close('erfc', 20, 5.395865611607901e-176)
  close('gamma', 5.5, 52.34277778455352)
  close('gamma', -1.5, 2.3632718012073544)
  close('gamma', 171, 7.257415615307999e306)
  close('lgamma', 100.5, 361.4355404677776)
  close('lgamma', -0.5, 1.2655121234846454)
  t.equal(run('aten::gamma.float', float(0)), Infinity)
  t.ok(Number.isNaN(run('aten::gamma.float', float(-1))))
  t.equal(run('aten::factorial.int', int(20)), 2432902008176640000n)
  t.equal(run('aten::factorial.int', int(21)), -4249290049419214848n, 'wraps around')
  t.strictSame(run('aten::frexp', float(5e-324)), [0.5, -1073])
  t.strictSame(run('aten::frexp', float(-6)), [-0.75, 3])
  t.equal(run('aten::ldexp', float(0.75), int(-1074)), 5e-324)
  t.equal(run('aten::ldexp', float(1.5), int(2000)), Infinity)
  t.strictSame(run('aten::modf', float(-2.5)), [-0.5, -2])
  t.end()
})

t.test('the first argument wins only if it is less', (t) => {
  t.equal(run('prim::min.float', float(NaN), float(1)), 1)
  t.ok(Number.isNaN(run('prim::min.float', float(1), float(NaN))))
  t.equal(run('prim::max', int(3), float(2)), 3)
  t.end()
})

t.test('ranges', (t) => {
  t.equal(run('aten::__range_length', int(0), int(10), int(3)), 4)
  t.equal(run('aten::__range_length', int(10), int(0), int(-3)), 4)
  t.equal(run('aten::__range_length', int(5), int(0), int(1)), 0)
  t.equal(run('aten::__derive_index', int(2), int(10), int(-3)), 4)
  t.throws(() => run('aten::__range_length', int(0), int(1), int(0)), { code: 'MODEL_ERROR' })
  t.end()
})
