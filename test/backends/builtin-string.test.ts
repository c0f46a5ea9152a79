import t from 'tap'
import { callOperator, float, int, type Input, Tensor, tuple } from '../../src/index.js'

const run = (op: string, ...args: Input[]): unknown => callOperator(`aten::${op}`, args)

t.test('strings are byte strings', (t) => {
  t.equal(run('len.str', 'é'), 2)
  t.equal(run('len.str', '日本😀'), 10)
  t.equal(run('find', 'aé日b', 'b'), 6)
  t.equal(run('slice.str', 'aéb', int(1), int(3)), 'é')
  t.equal(run('upper', 'aé'), 'Aé', 'only ASCII letters have a case')
  t.equal(run('lt.str', '\uffee', '😀'), true, 'ordered by bytes, not by UTF-16 units')
  const halves = [run('__getitem__.str', 'é', int(0)), run('__getitem__.str', 'é', int(1))] as [string, string]
  t.equal(run('add.str', ...halves), 'é', 'two halves make a character')
  t.equal(run('join', '', run('list', 'a日') as Input), 'a日')
  t.equal(run('format', '{}{}', ...halves), 'é')
  t.throws(() => run('ord', 'é'), { code: 'MODEL_ERROR', message: /found 2/ })
  t.throws(() => run('__getitem__.str', 'é', int(2)), { code: 'MODEL_ERROR', message: /IndexError/ })
  t.end()
})

t.test('floats in the shortest form that TorchScript has', (t) => {
  const cases: [number, string][] = [
    [1, '1.'],
    [-0, '0.'],
    [0.1, '0.10000000000000001'],
    [2.5, '2.5'],
    [1e16, '10000000000000000.'],
    [1e30, '1e+30'],
    [1e-7, '9.9999999999999995e-08'],
    [123456.789, '123456.789'],
    [0.0001, '0.0001'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan'],
  ]
  for (const [x, text] of cases) t.equal(run('str', float(x)), text)
  t.end()
})

t.test('values as text', (t) => {
  t.equal(run('str', [float(1), float(2.5)]), '[1., 2.5]')
  t.equal(run('str', tuple(1, 'a', null, true)), '(1, a, None, True)')
  t.equal(run('str', tuple(1)), '(1,)')
  t.equal(run('str', new Map([['a', float(1)]])), '{a: 1.}')
  t.equal(
    run('str', Tensor.fromStorage(new Float32Array([1, 2, 3, 4.5]), { dtype: 'float32', shape: [2, 2] })),
    ' 1.0000  2.0000\n 3.0000  4.5000\n[ CPUFloatType{2,2} ]',
  )
  t.equal(run('str', Tensor.fromStorage(new BigInt64Array([3n]), { dtype: 'int64', shape: [] })), '3\n[ CPULongType{} ]')
  t.equal(run('format', 'a{}b{}', int(1), null), 'a1bNone')
  t.throws(() => run('format', '{}{}', int(1)), { code: 'MODEL_ERROR' })
  t.equal(run('percentFormat', '%d %s %f %%', tuple(float(1e10), 'q', 3)), '-2147483648 q 3.000000 %')
  t.end()
})

t.test('numbers from text', (t) => {
  t.equal(run('Int.str', ' +12'), 12)
  t.equal(run('Int.str', '-9223372036854775808'), -(2n ** 63n))
  for (const text of ['12 ', '1.5', '', '0x12', '9223372036854775808']) t.throws(() => run('Int.str', text), { code: 'MODEL_ERROR' }, text)
  const floats: [string, number][] = [['1.5e+3', 1500], ['.5', 0.5], ['0x1p3', 8], ['-inf', -Infinity], ['nan', NaN], [' 1', 1]] // prettier-ignore
  for (const [text, x] of floats) t.ok(Object.is(run('Float.str', text), x), text)
  for (const text of ['1e', 'abc', '', '1e400', '1 ']) t.throws(() => run('Float.str', text), { code: 'MODEL_ERROR' }, text)
  t.end()
})

t.test('searching', (t) => {
  t.equal(run('find', 'abc', 'b', int(-2), int(-1)), 1)
  t.equal(run('find', 'abc', 'c', int(0), int(-2)), -1, 'an end of -2 leaves the last byte out')
  t.equal(run('rfind', 'aaaa', 'aa'), 2)
  t.equal(run('count', 'aaaa', 'aa', int(0), int(1)), 1, 'a match may go beyond the end')
  t.equal(run('startswith', 'abc', 'b', int(1)), true)
  t.throws(() => run('startswith', 'abc', 'b', int(5)), { code: 'MODEL_ERROR' })
  t.throws(() => run('index.str', 'abc', 'z'), { code: 'MODEL_ERROR', message: /substring not found/ })
  t.end()
})

t.test('splitting', (t) => {
  t.strictSame(run('split.str', '  a  b '), ['a', 'b'])
  t.strictSame(run('split.str', 'a--b---c', '--'), ['a', 'b', '-c'])
  t.strictSame(run('split.str', 'a b c', ' ', int(1)), ['a', 'b c'])
  t.strictSame(run('rsplit', 'a--b---c', '--'), ['a', 'b-', 'c'])
  t.strictSame(run('rsplit', 'a b c', ' ', int(1)), ['a b', 'c'])
  t.strictSame(run('splitlines', 'a\nb\r\nc\n', true), ['a', '\n', 'b', '\r', '', '\n', 'c', '\n'])
  t.strictSame(run('partition', 'a.b.c', '.'), ['a', '.', 'b.c'])
  t.strictSame(run('rpartition', 'abc', 'z'), ['', '', 'abc'])
  t.end()
})

t.test('padding and replacing', (t) => {
  t.equal(run('center', 'abc', int(8), '*'), '**abc***')
  t.equal(run('center', 'ab', int(5), '*'), '**ab*')
  t.equal(run('zfill', '-5', int(4)), '00-5')
  t.equal(run('replace', 'aXaXa', 'X', '-', int(1)), 'a-aXa')
  t.equal(run('replace', 'abc', '', '-', int(2)), '--abc')
  t.equal(run('strip', '  a\t\r '), 'a\t\r', 'a carriage return is not stripped')
  t.equal(run('title', "it's 3rd"), "It'S 3Rd")
  t.end()
})

t.test('hashes are those of PyTorch on Linux', (t) => {
  t.equal(run('hash.generic', 'abc'), 3663726644998027833n)
  t.equal(run('hash.generic', float(1.5)), 4982507072649106663n)
  t.equal(run('hash.generic', tuple(1, 2)), 175247769363)
  t.end()
})

t.test('lengths that no memory holds', (t) => {
  t.throws(() => run('center', 'a', int(2 ** 40)), { code: 'LIMIT_EXCEEDED' })
  t.throws(() => run('mul.left_t', [1], int(2 ** 40)), { code: 'LIMIT_EXCEEDED' })
  t.throws(() => callOperator('prim::rangelist', [int(2 ** 40)]), { code: 'LIMIT_EXCEEDED' })
  t.strictSame(run('mul.left_t', [], int(2 ** 40)), [])
  t.end()
})
