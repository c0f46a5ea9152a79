import t from 'tap'
import { firstOf, lastOf, splitAt } from '../../runtime/operators/builtin/support/search.js'
import { callOperator, int, loadModule, PtliteError, tuple, type Input, type Output } from '../../src/index.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'

/* Operators on lists, tuples, dicts and texts whose work is not in proportion to what they are given: none goes on for long behind its limit of time. */

const MILLISECONDS = 200
/** What a loaded machine, the garbage collector and the last step may take beyond. */
const LATE = 2500

const text = (n: string): string => `torch.ljust('', ${n}, 'a')`

/** `forward` of so many elements or characters. */
const PROGRAMS: Readonly<Record<string, readonly [n: number, returns: string, ...lines: readonly string[]]>> = {
  'texts of tuples in tuples': [3e5, 'int', 'a : Any = 0', 'for i in range(n):', '  a = (a, 1)', '  if i % 100 == 0:', '    b = str(a)', 'return n'],
  'the last place of a long text': [4e6, 'int', `a = ${text('n')}`, `b = torch.add(${text('n // 2')}, 'b')`, 'return torch.rfind(a, b, 0, -1)'],
  'a text in one that is nearly the same': [4e6, 'int', `a = ${text('n')}`, `h = ${text('n // 4')}`, "return torch.find(a, torch.add(torch.add(h, 'b'), h), 0, -1)"],
  'parts from the right': [4e6, 'int', `a = torch.replace(${text('n')}, 'a', 'ab', -1)`, "return torch.len(torch.rsplit(a, 'b'))"],
  'a text without any of many characters': [2e6, 'int', `a = ${text('n')}`, "b = torch.add(torch.replace(a, 'a', 'b', -1), 'a')", 'return torch.len(torch.strip(a, b))'],
  'one long text in a list of others': [1e6, 'int', `s = ${text('n')}`, 'x = torch.mul([s], 100000)', `return torch.count(x, torch.add(${text('n - 1')}, 'b'))`],
  'the same text joined many times': [1e6, 'int', `s = torch.replace(${text('n')}, 'a', 'ä', -1)`, 'x = torch.mul([s], 1000)', "return torch.len(torch.join(',', x))"],
  'a number of many digits': [2e7, 'int', "return int(torch.ljust('', n, '7'))"],
  'no number of many digits': [2e7, 'float', "return float(torch.add(torch.ljust('', n, '7'), 'x'))"],
  'the hash of a long text': [2e7, 'int', `return torch.hash(${text('n')})`],
  'letters of a long text': [2e7, 'int', `return torch.len(torch.upper(${text('n')}))`],
  'complex keys': [1e6, 'int', 'd = annotate(Dict[complex, int], {})', 'for i in range(n):', '  d[complex(float(i), 1.0)] = i', 'return torch.len(d)'],
  'a long list that is stored': [2e7, 'int', 'x = torch.mul([1], n)', 'y = x', 'for i in range(n):', '  y = x', '  if i < 0:', '    y = [1]', 'return torch.len(y)'],
  'the type of a long list': [1e7, 'int', 'x = torch.mul([1], n)', 'k = 0', 'a : Any = x', 'for i in range(n):', '  if isinstance(a, List[int]):', '    k = torch.add(k, 1)', 'return k'],
  'an order of tuples': [3e5, 'int', 'x = [(1, (1, (1, 1)))]', 'for i in range(n):', '  torch.append(x, (1, (1, (1, -i))))', 'y = torch.sorted(x)', 'return n'],
  'lists without elements': [2 ** 28, 'int', 'x = torch.zeros([n, 0], dtype=6)', 'y = annotate(List[List[float]], x.tolist())', 'return torch.len(y)'],
} // prettier-ignore

function attempt(run: () => Output): string {
  try {
    return `gives ${String(run()).length} characters`
  } catch (error) {
    if (!(error instanceof PtliteError)) throw error
    return error.code
  }
}

t.test('work on values ends with its time', async (t) => {
  for (const [name, [n, returns, ...lines]] of Object.entries(PROGRAMS)) {
    const module = await loadModule(scriptArchive(method('n: int', returns, ...lines)), { compile: 'off' })
    const begin = performance.now()
    const found = attempt(() => module.call('forward', [int(n)], { limits: { milliseconds: MILLISECONDS } }))
    const took = performance.now() - begin
    t.match(found, /^(LIMIT_EXCEEDED|MODEL_ERROR|gives)/, name)
    t.ok(took < MILLISECONDS + LATE, `${name}: ${found} after ${Math.round(took)} ms`)
    module.dispose()
  }
})

t.test('texts of values in values take time in proportion to them', async (t) => {
  const code = method('n: int', 'str', 'a : Any = 0', 'for i in range(n):', '  a = (a, 1)', 'return str(a)')
  const module = await loadModule(scriptArchive(code), { limits: { milliseconds: 20_000 } })
  t.equal((module.call('forward', [int(100_000)]) as string).length, 1 + 5 * 100_000)
  module.dispose()
  let nested: Input = 0
  const begin = performance.now()
  for (let i = 0; i < 20_000; i++) nested = tuple(nested, 1)
  t.equal((callOperator('aten::str', [nested]) as string).length, 1 + 5 * 20_000)
  t.ok(performance.now() - begin < 4000, 'of those that are made one by one, too')
})

t.test('an operator by itself makes no more than there is room for', (t) => {
  const empty = callOperator('aten::zeros', [[2 ** 22, 0]])
  t.equal(attempt(() => callOperator('aten::unbind.int', [empty as Input])), 'LIMIT_EXCEEDED') // prettier-ignore
  const ones = Array.from({ length: 5000 }, () => callOperator('aten::zeros', [[1]])) as Input[]
  t.equal(attempt(() => callOperator('aten::meshgrid', [ones])), 'LIMIT_EXCEEDED') // prettier-ignore
  t.equal((callOperator('aten::unbind.int', [callOperator('aten::zeros', [[1000, 1]]) as Input]) as Output[]).length, 1000)
  t.end()
})

t.test('messages are of a bounded length', async (t) => {
  const within = (error: Error): void => {
    const bytes = Buffer.byteLength(error.message)
    t.ok(bytes <= 4096, `${bytes} bytes`)
    t.notOk(/\p{Surrogate}/u.test(error.message), 'whole characters')
  }
  for (const letter of ['a', 'ä', '☃', '😀']) {
    for (let length = 1000; length < 1010; length++) within(new PtliteError('MODEL_ERROR', letter.repeat(length) + 'the end'))
    const long = new PtliteError('MODEL_ERROR', `begin ${letter.repeat(1e6)} end`)
    within(long)
    t.match(long.message, /^begin [^]*characters are left out here[^]* end$/)
  }
  t.equal(new PtliteError('MODEL_ERROR', 'x'.repeat(4096)).message.length, 4096, 'what fits is whole')
  const code = method('n: int', 'int', `raise Exception(${text('n')})`, 'return 1')
  const module = await loadModule(scriptArchive(code))
  await t.rejects(module.run('forward', [int(1e6)]), { code: 'MODEL_ERROR', message: /^[^]{3000,4096}$/ })
  t.throws(() => module.call('forward', [int(1e6)]), { message: /^a+[^]*Traceback of TorchScript[^]*line \d+, in forward/ })
  module.dispose()
})

t.test('searches find what the engine finds', (t) => {
  let state = 1
  const random = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  // long enough for the algorithm of our own
  const word = (length: number, letters: number): string => Array.from({ length }, () => 'abc'[random(letters)]!).join('')
  for (let i = 0; i < 40; i++) {
    const letters = 1 + random(3)
    const wanted = word(1 + random(40), letters).repeat(60 + random(60))
    const around = word(3000, letters)
    const bytes = around + wanted.slice(random(wanted.length)) + (i % 3 > 0 ? wanted : '') + around + wanted.slice(1) + around
    const from = random(bytes.length)
    if ((bytes.length - from) * wanted.length < 2 ** 22) continue
    t.equal(firstOf(bytes, wanted, from), bytes.indexOf(wanted, from))
    t.equal(lastOf(bytes, wanted), bytes.lastIndexOf(wanted))
    t.strictSame(splitAt(bytes, wanted), bytes.split(wanted))
  }
  t.end()
})
