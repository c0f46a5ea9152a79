import t from 'tap'
import { readDefinitions } from '../../../formats/torchscript/definitions.js'
import { Parser } from '../../../formats/torchscript/parser.js'
import { SourceFile } from '../../../formats/torchscript/source.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { errorOf } from '../../module/fixtures.js'

/** Trees as texts: every operation in parentheses, with its kind or operator first. */
function shown(tree: unknown): string {
  if (tree === null) return 'None'
  if (Array.isArray(tree)) return `[${tree.map(shown).join(' ')}]`
  if (typeof tree !== 'object') return String(tree)
  if (tree instanceof Float) return `${tree.value}f`
  const { kind, at: _, ...parts } = tree as { kind?: string; at?: number }
  const values = Object.values(parts)
  return kind === 'name' || kind === 'constant' ? shown(values[0]) : `(${[kind ?? 'item', ...values.map(shown)].join(' ')})`
}

const parsed = (text: string): string => new Parser(new SourceFile('code/x.py', text)).blockAt(0).map(shown).join(' ')

t.test('expressions', (t) => {
  t.equal(parsed('a + b * -c ** 2'), '(expression (binary + a (binary * b (unary - (binary ** c 2)))))')
  t.equal(parsed('a - b - c'), '(expression (binary - (binary - a b) c))')
  t.equal(
    parsed('not a in b and c is not d or e'),
    '(expression (logical or (logical and (unary not (binary in a b)) (binary is not c d)) e))',
  )
  t.equal(parsed('x if a else y'), '(expression (choice a x y))')
  t.equal(parsed('(x)[0][1:, ::2]'), '(expression (subscript (subscript x [0]) [(slice 1 None None) (slice None None 2)]))')
  t.equal(parsed('f(a, *b, k=-1.5, )'), '(expression (call f [a (starred b)] [(item k -1.5f)]))')
  t.equal(parsed('[i for i in x if i]'), '(expression (comprehension None i (item i x i)))')
  t.equal(parsed('{"a": 1, "b": 2}'), '(expression (dict [a b] [1 2]))')
  t.equal(parsed("'a' 'b'"), '(expression ab)')
  t.equal(parsed('-9223372036854775808'), '(expression -9223372036854775808)')
  t.end()
})

t.test('statements', (t) => {
  t.equal(parsed('x, y, = f()'), '(assign [(tuple [x y])] None (call f [] []))')
  t.equal(parsed('x : Optional[Tensor] = None'), '(assign [x] (subscript Optional [Tensor]) None)')
  t.equal(parsed('a = b = c'), '(assign [a b] None c)')
  t.equal(parsed('a += 1'), '(augment a + 1)')
  t.equal(parsed('if a:\n  b\nelif c:\n  pass\nelse:\n  d'), '(if a [(expression b)] [(if c [(pass)] [(expression d)])])')
  t.equal(parsed('for i, j in x:\n  break'), '(for (tuple [i j]) x [(break)])')
  t.equal(parsed('while a: pass'), '(while a [(pass)])')
  t.equal(parsed('with a as b, c:\n  return'), '(with [(item a b) (item c None)] [(return None)])')
  t.equal(parsed('assert a, "b"'), '(assert a b)')
  t.end()
})

t.test('definitions', (t) => {
  const { classes, functions } = readDefinitions(
    new SourceFile(
      'code/x.py',
      `op_version_set = 1
import __torch__.y
class M(Module):
  __parameters__ = ["w", ]
  w : Tensor
  __annotations__["0"] = int
  n : Final[int] = 3
  def forward(self: __torch__.M,
    x: Tensor,
    *, k: int=2) -> Tensor:
    return x
class E(Enum):
  A = 1
def f() -> None:
  pass
`,
    ),
  )
  t.same([...classes.keys()], ['M', 'E'])
  const { members, methods, base } = classes.get('M')!
  t.equal(base, 'Module')
  t.same(
    members.map(({ name, type, value }) => `${name} ${shown(type)} ${shown(value)}`),
    ['__parameters__ None (list [w])', 'w Tensor None', '0 int None', 'n (subscript Final [int]) 3'],
  )
  t.same(
    methods[0]!.parameters.map(({ name, keywordOnly }) => [name, keywordOnly]),
    [
      ['self', false],
      ['x', false],
      ['k', true],
    ],
  )
  t.equal(methods[0]!.body().map(shown).join(), '(return x)')
  t.equal(functions.get('f')!.body().map(shown).join(), '(pass)')
  t.end()
})

t.test('what is no code', (t) => {
  for (const text of ['a =', 'f(', 'f(a b)', '[a b]', 'if a\n  b', 'x :', 'a.1', 'f(k=1, a)', 'return )']) {
    const error = errorOf(() => parsed(text))
    t.equal(error.code, 'INVALID_FILE', text)
    t.match(error.message, /code\/x\.py, line 1: expected /)
  }
  t.match(errorOf(() => parsed('a < b < c')).code, /UNSUPPORTED_FILE/)
  t.match(errorOf(() => readDefinitions(new SourceFile('code/x.py', 'x = 1'))).message, /expected 'class' or 'def'/)
  t.end()
})
