import t from 'tap'
import { PtliteError } from '../../../runtime/error.js'
import { loadProgram } from '../../../engine/load-program.js'
import { ZipArchive } from '../../../formats/containers/zip/archive.js'
import { openSource } from '../../../formats/containers/bytes.js'
import { errorOf, fixturePath } from '../../module/fixtures.js'
import { loadScript, method, scriptArchive } from './archive.js'

const repeat = (text: string, count: number): string => text.repeat(count)

t.test('code that is nested without end', (t) => {
  const cases = {
    parentheses: method('', 'int', `return ${repeat('(', 2e4)}1${repeat(')', 2e4)}`),
    minus: method('', 'int', `return ${repeat('-', 2e4)}x`),
    not: method('', 'bool', `return ${repeat('not ', 2e4)}True`),
    sum: method('x: int', 'int', `return ${repeat('x + ', 2e4)}x`),
    and: method('x: bool', 'bool', `return ${repeat('x and ', 2e4)}x`),
    power: method('x: int', 'int', `return ${repeat('x ** ', 2e4)}x`),
    choice: method('x: bool', 'bool', `return ${repeat('x if x else ', 2e4)}x`),
    attributes: method('', 'int', `return self${repeat('.a', 2e4)}`),
    calls: method('', 'int', `return self${repeat('()', 2e4)}`),
    lists: method('', 'int', `return ${repeat('[', 2e4)}`),
    types: method(`x: ${repeat('List[', 1e4)}int${repeat(']', 1e4)}`, 'int', 'return 1'),
    blocks: method('x: bool', 'int', ...Array.from({ length: 2000 }, (_, i) => `${repeat(' ', i)}if x:`), `${repeat(' ', 2000)}pass`),
    elif: method('x: bool', 'int', 'if x:', '  pass', ...Array.from({ length: 5000 }, () => ['elif x:', '  pass']).flat(), 'return 1'),
  }
  for (const [name, code] of Object.entries(cases)) {
    const error = errorOf(() => loadScript(code))
    t.match(error.code, /_FILE$/, name)
    t.match(error.message, /code\/__torch__\.py, line \d+: /, name)
  }
  t.end()
})

t.test('functions that call each other without end', (t) => {
  const itself = method('x: int', 'int', 'return (self).forward(x, )')
  t.match(errorOf(() => loadScript(itself)).message, /calls itself/)
  // each calls the next one twice: written out they would be 2 to the 60th
  const doubling = Array.from(
    { length: 60 },
    (_, i) => `def f${i}(x: int) -> int:\n  return torch.add(__torch__.f${i + 1}(x), __torch__.f${i + 1}(x))\n`,
  )
  const last = 'def f60(x: int) -> int:\n  return x\n'
  const code = method('x: int', 'int', 'return __torch__.f0(x)')
  const many = loadScript(code + doubling.join('') + last)
  t.ok(many.functions.length > 1, 'calls stay where there would be too much in their place')
  many.dispose()
  // a chain, which is run
  const chain = Array.from({ length: 500 }, (_, i) => `def f${i}(x: int) -> int:\n  return torch.add(__torch__.f${i + 1}(x), 1)\n`)
  const long = loadScript(code + chain.join('') + 'def f500(x: int) -> int:\n  return x\n')
  t.equal(long.call(long.method('forward'), [5]), 505)
  long.dispose()
  t.end()
})

t.test('expressions that are deep over many statements', (t) => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `x${i + 1} = torch.neg(x${i})`)
  const module = loadScript(method('x0: int', 'int', ...lines, 'return x20000'))
  t.equal(module.call(module.method('forward'), [3]), 3)
  module.dispose()
  const tuples = Array.from({ length: 200 }, (_, i) => `x${i + 1} = (x${i}, x${i})`)
  t.match(errorOf(() => loadScript(method('x0: int', 'Any', ...tuples, 'return x200'))).message, /too many parts/)
  t.end()
})

t.test('what the code names and the archive has not', (t) => {
  const fails = (returns: string, statement: string, message: RegExp): void => {
    const error = errorOf(() => loadScript(method('x: Tensor', returns, statement)))
    t.match(error.message, message)
    t.match(error.message, /code\/__torch__\.py, line 5: /, 'tells the line')
  }
  fails('int', 'return y', /the name y stands for nothing/)
  fails('int', 'return CONSTANTS.c3', /no constant c3/)
  fails('int', 'return __torch__.other.f(x)', /cannot be called/)
  fails('int', 'return self.missing', /no attribute or method missing/)
  fails('Tensor', 'return torch.relu(x, 1, 2)', /no form of aten::relu of this build takes \(Tensor, int, int\)/)
  fails('Tensor', 'return 5', /expected Tensor, found int/)
  fails('int', 'return 99999999999999999999', /more than 64 bits/)
  fails('str', "return 'abc", /a text without an end/)
  fails('int', 'return $', /unexpected character/)
  const missing = errorOf(() => loadScript(method('x: Tensor', 'Tensor', 'y = torch.no_such(x)', 'return torch.nor_this(y)')))
  t.equal(missing.code, 'MISSING_OPERATOR')
  t.match(missing.message, /aten::no_such/)
  t.match(missing.message, /aten::nor_this/)
  t.end()
})

/** A random number below `n`, the same ones in each run. */
function randomNumbers(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

t.test('changed code ends in a module or in a PtliteError', (t) => {
  const zip = new ZipArchive(openSource(fixturePath('torchscript/programs-2.13.pt')))
  const code = zip.contentOf('code/__torch__.py').toString()
  const words = code.match(/\w+|[^\w\s]|\s+/g)!
  const random = randomNumbers(Number(process.env['PTLITE_SEED'] ?? 1))
  const changes = Number(process.env['PTLITE_MUTATIONS'] ?? 300)
  let loaded = 0
  for (let i = 0; i < changes; i++) {
    const changed = [...words]
    for (let k = random(4); k >= 0; k--) {
      const at = random(changed.length)
      const other = words[random(words.length)]!
      if (random(3) === 0) changed.splice(at, 1)
      else if (random(2) === 0) changed.splice(at, 0, other)
      else changed[at] = other
    }
    const text = changed.join('').replaceAll('__torch__.Programs', '__torch__.M').replace('class Programs(', 'class M(')
    try {
      loadProgram(scriptArchive(text)).dispose()
      loaded++
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
      if (error.code === 'INTERNAL' || error.message.includes('the file is damaged (')) t.fail(`change ${i}: ${error.message}`)
    }
  }
  t.ok(loaded < changes, 'some changes are found')
  t.end()
})
