import t from 'tap'
import { numberValue, stringValue, tokenize } from '../../../formats/torchscript/lexer.js'
import { SourceFile } from '../../../formats/torchscript/source.js'
import { Complex, Float } from '../../../runtime/tensor/scalar.js'
import { errorOf } from '../../module/fixtures.js'

const kinds = (text: string): string => tokenize(new SourceFile('code/x.py', text)).kinds.join(' ')

function literal(text: string): unknown {
  const source = new SourceFile('code/x.py', text)
  const { starts, ends } = tokenize(source)
  return /^['"]/.test(text) ? stringValue(source, starts[0]!, ends[0]!) : numberValue(source, starts[0]!, ends[0]!, false)
}

t.test('tokens', (t) => {
  t.equal(kinds('x0, y, = f(a, )'), 'NAME , NAME , = NAME ( NAME , ) NEWLINE END')
  t.equal(
    kinds('if a:\n  b\nelse:\n  # nothing\n\n  pass\nc'),
    'if NAME : NEWLINE INDENT NAME NEWLINE DEDENT else : NEWLINE INDENT pass NEWLINE DEDENT NAME NEWLINE END',
  )
  t.equal(kinds('f(a,\n    b)'), 'NAME ( NAME , NAME ) NEWLINE END', 'lines go on in parentheses')
  t.equal(kinds('a //= b ** -c -> d'), 'NAME //= NAME ** - NAME -> NAME NEWLINE END')
  t.equal(kinds('é_1 = 1.5e-3j'), 'NAME = NUMBER NEWLINE END')
  t.equal(kinds(''), 'END')
  const { kinds: all, closes } = tokenize(new SourceFile('code/x.py', 'if a:\n  if b:\n    c\n'))
  for (const [i, kind] of all.entries()) t.equal(closes[i]! > 0, kind === 'INDENT')
  t.equal(all[closes[all.indexOf('INDENT')]!], 'DEDENT')
  t.end()
})

t.test('literals', (t) => {
  t.equal(literal('9223372036854775807'), 9223372036854775807n)
  t.equal(literal('0x10'), 16)
  t.same(literal('4.1351665567423561'), new Float(4.1351665567423561))
  for (const [text, value] of [['0.', 0], ['.5', 0.5], ['1e-05', 1e-5], ['2E+3', 2000]] as const) t.same(literal(text), new Float(value)) // prettier-ignore
  t.same(literal('2.5j'), new Complex(0, 2.5))
  t.equal(literal(`'a\\n\\t\\'\\"\\\\\\x41\\101'`), 'a\n\t\'"\\AA')
  t.equal(literal(`"\\303\\251 é"`), 'é é', 'bytes of UTF-8')
  t.end()
})

t.test('what no token is', (t) => {
  for (const text of ['a $ b', "'abc", "'a\nb'", '1.2.3', '12abc', `'\\303'`, `'\\q'`, '9223372036854775808', 'if a:\n    b\n  c']) {
    const error = errorOf(() => {
      const source = new SourceFile('code/x.py', text)
      const { kinds, starts, ends } = tokenize(source)
      if (kinds[0] === 'NUMBER') numberValue(source, starts[0]!, ends[0]!, false)
      if (kinds[0] === 'STRING') stringValue(source, starts[0]!, ends[0]!)
    })
    t.equal(error.code, 'INVALID_FILE', text)
    t.match(error.message, /code\/x\.py, line \d: /)
  }
  t.end()
})
