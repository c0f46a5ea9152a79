import t from 'tap'
import { isCondition, isSound, linearIn, namesIn, textOfExpression } from '../../formats/exported/expression.js'
import { parseGuard, parseSympy } from '../../formats/exported/parse-expression.js'

t.test('sizes as sympy prints them', (t) => {
  const s = "Symbol('s0', positive=True, integer=True)"
  const text = (expression: string): string | undefined => {
    const parsed = parseSympy(expression)
    return parsed === null ? undefined : textOfExpression(parsed)
  }
  t.equal(text('Integer(-3)'), '-3')
  t.equal(text(s), 's0')
  t.equal(text(`Add(Mul(Integer(2), ${s}), Integer(1))`), '2*s0 + 1')
  t.equal(text(`Add(${s}, Symbol('u1', integer=True), Integer(-4))`), '(s0 + u1) + -4')
  t.equal(text(`FloorDiv(Add(${s}, Integer(1)), Integer(2))`), '(s0 + 1)//2')
  t.equal(text(`Max(Integer(1), Mod(${s}, Integer(3)))`), 'max(1, s0 % 3)')
  t.equal(text(`Pow(${s}, Integer(2))`), 's0**2')
  for (const other of [
    '',
    's0',
    'Integer(1.5)',
    'Integer(1',
    "Symbol('a",
    'Rational(1, 2)',
    `FloorDiv(${s})`,
    `Add(${s}) x`,
    'Integer(99999999999999999999)',
    'Add('.repeat(300),
  ])
    t.equal(parseSympy(other), null, other.slice(0, 40))
  t.end()
})

t.test("guards in Python's words", (t) => {
  const text = (guard: string): string | undefined => {
    const parsed = parseGuard(guard)
    return parsed === null ? undefined : textOfExpression(parsed)
  }
  t.equal(text("(L['x'].size()[0] % 2) == 0"), '(x.size()[0] % 2) == 0')
  t.equal(text("1 + 2*L['x'].size()[0] > L['batch']['ids'].size()[1]"), "(1 + 2*x.size()[0]) > batch['ids'].size()[1]")
  t.equal(text("not (-L['pair'].left.size()[0] < 3 and L['n'] >= 2)"), 'not((neg(pair.left.size()[0]) < 3) and (n >= 2))')
  t.equal(text("max(L['n'], 3) // 2 != 2**3"), '(max(n, 3)//2) != (2**3)')
  for (const other of [
    '',
    "L['x'",
    'x > 1',
    "L['x'].size()[0] / 2 == 1",
    '1.5 > 1',
    "f(L['x'])",
    "L['x'] is None",
    `${'('.repeat(300)}1${')'.repeat(300)}`,
    '1 +',
  ])
    t.equal(parseGuard(other), null, other.slice(0, 40))
  t.end()
})

t.test('what an expression is', (t) => {
  const of = (text: string) => parseGuard(text)!
  t.ok(isCondition(of("L['n'] > 1 and L['n'] < 3")))
  t.notOk(isCondition(of("L['n'] + 1")))
  t.notOk(isSound(of("(L['n'] > 1) + 2")), 'a condition is no number')
  t.notOk(isSound(of("L['n'] and 2")), 'a number is no condition')
  t.strictSame([...namesIn(of("L['a'] + L['b'] * L['a']"))], ['a', 'b'])
  t.strictSame(linearIn(of("3 * (L['n'] + 2) + 1")), { symbol: 'n', factor: 3, summand: 7 })
  t.equal(linearIn(of("L['n'] * L['n']")), null)
  t.equal(linearIn(of("L['n'] * 0")), null)
  t.equal(linearIn(of("L['n'] // 2")), null)
  t.equal(linearIn(of("L['n'] + L['m']")), null)
  t.end()
})
