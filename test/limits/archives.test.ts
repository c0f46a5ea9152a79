import t from 'tap'
import { inspectModel, type Limits, loadModule, PtliteError } from '../../src/index.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'
import { p, pickle } from '../module/pickle-writer.js'
import { zip } from '../module/zip-writer.js'
import { endless, modelOf } from './programs.js'

/* Small archives that ask for a great deal: loading and inspecting them hold their limits, those of nobody's making among them. */

const repeat = (text: string, count: number): string => text.repeat(count)
const each = (count: number, line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('')
const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

/** Each named tuple holds the one before twice. */
const tuples = (name: string, count: number): string =>
  each(count, (i) => {
    const type = i === 0 ? 'int' : `__torch__.${name}${i - 1}`
    return `class ${name}${i}(NamedTuple):\n  a : ${type}\n  b : ${type}\n`
  })
/** Each function calls the next one twice. */
const doubling = (count: number): string =>
  each(count, (i) => `def f${i}(x: int) -> int:\n  return __torch__.f${i + 1}(__torch__.f${i + 1}(x))\n`) +
  `def f${count}(x: int) -> int:\n  return x\n`
/** Tuples in tuples, each of which is there twice; a constant. */
function nestedConstant(levels: number): Buffer {
  const level = [...p.put(0), ...p.get(0), ...p.tuple2]
  return pickle(p.int(1), ...Array.from({ length: levels }, () => level), p.tuple1)
}

const PROGRAMS: Readonly<Record<string, string>> = {
  'functions in functions': method('x: int', 'int', 'return __torch__.f0(x)') + doubling(2000),
  'methods in methods':
    method('x: int', 'int', 'return (self).g0(x, )') +
    each(200, (i) => `  def g${i}(self: __torch__.M, x: int) -> int:\n    a = (self).g${i + 1}(x, )\n    return (self).g${i + 1}(a, )\n`) +
    '  def g200(self: __torch__.M, x: int) -> int:\n    return x\n',
  'many methods': `class M(Module):\n${each(30_000, (i) => `  def f${i}(self: __torch__.M) -> int:\n    return 1\n`)}`,
  'classes of classes':
    each(20_000, (i) => `class C${i}(Module):\n  a : __torch__.C${(i + 1) % 20_000}\n`) + method('', 'int', 'return 1'),
  'types in types': tuples('T', 40) + method('x: __torch__.T39', 'bool', 'return isinstance(x, __torch__.T39)'),
  'types of two tuples': tuples('T', 40) + tuples('U', 40) + method('x: __torch__.T39, y: __torch__.U39', 'Any', 'z = [x, y]', 'return z'),
  'an argument of such a type': tuples('T', 40) + 'def f(x: __torch__.T39) -> int:\n  return 1\n' + method('x: __torch__.T39', 'int', 'return __torch__.f(x)'),
  'an order of such a type': tuples('T', 40) + method('x: List[__torch__.T39]', 'int', 'torch.sort(x)', 'return 1'),
  'a tuple of a long type many times':
    method(`x: Tuple[${repeat('Tuple[int, int], ', 3500)}int]`, 'Any', `y = (${repeat('x, ', 100_000)})`, 'return y'),
  'a constant that is there many times': method('', 'Any', 'return CONSTANTS.c0'),
  'members of members': each(40, (i) => `class E${i}(Enum):\n  a = ${i === 0 ? '1' : `(__torch__.E${i - 1}.a, __torch__.E${i - 1}.a)`}\n`) + method('', 'Any', 'return __torch__.E39.a'),
  'a member that is itself': 'class E(Enum):\n  a = __torch__.E.a\n' + method('', 'Any', 'return __torch__.E.a'),
  'comprehensions in comprehensions': method('l: List[int]', 'int', `y = ${repeat('[', 30)}x${repeat(' for x in l]', 30)}`, 'return 1'),
  'closures in closures': method(
    '', 'int', 'def g0():', '  x = 1', '  return x',
    ...Array.from({ length: 29 }, (_, i) => [`def g${i + 1}():`, `  y = torch.add(fork(g${i}), fork(g${i}))`, '  return y']).flat(),
    'return fork(g29)',
  ),
  'defaults of many calls': `def f(x: List[int]=[${repeat('1, ', 100_000)}]) -> int:\n  return 1\n` + method('', 'int', ...Array.from({ length: 1000 }, () => 'y = __torch__.f()'), 'return 1'),
  'one literal': method('', 'List[int]', `return [${repeat('1, ', 2_000_000)}]`),
  'texts with escapes': method('', 'List[str]', `return [${repeat("'\\n', ", 200_000)}]`),
  'an if of many variables': method('b: bool', 'int', ...Array.from({ length: 20_000 }, (_, i) => `x${i} = 1`), 'if b:', ...Array.from({ length: 20_000 }, (_, i) => `  x${i} = 2`), 'return 1'),
} // prettier-ignore

/** How loading and inspecting end, and after how many milliseconds. */
async function ends(bytes: Uint8Array, limits: Limits | undefined): Promise<(readonly [what: string, code: string, took: number])[]> {
  const options = limits === undefined ? {} : { limits }
  const found: (readonly [string, string, number])[] = []
  for (const [what, run] of [
    ['load', async () => (await loadModule(bytes, options)).dispose()],
    ['inspect', () => inspectModel(bytes, options)],
  ] as const) {
    const begin = performance.now()
    const code = await run().then(
      () => 'ends well',
      (error: unknown) => {
        if (!(error instanceof PtliteError) || error.code === 'INTERNAL' || error.message.includes('the file is damaged (')) throw error
        return error.code
      },
    )
    found.push([what, code, performance.now() - begin])
  }
  return found
}

const KNOWN = /^(ends well|LIMIT_EXCEEDED|INVALID_FILE|UNSUPPORTED_FILE)$/
/** What a loaded machine, the garbage collector and the last step may take beyond a limit. */
const LATE = 5000

t.test('archives of code that grows', async (t) => {
  for (const [name, code] of Object.entries(PROGRAMS)) {
    const constants = name.startsWith('a constant') ? nestedConstant(60) : undefined
    const milliseconds = 150
    for (const [what, ending, took] of await ends(scriptArchive(code, '10', constants), { milliseconds })) {
      t.match(ending, KNOWN, `${name}: ${what}`)
      t.ok(took < milliseconds + LATE, `${name}: ${what}: ${ending} after ${Math.round(took)} ms`)
    }
  }
})

t.test('without limits of the caller they end, too', async (t) => {
  for (const name of ['methods in methods', 'types of two tuples', 'comprehensions in comprehensions']) {
    for (const [what, ending] of await ends(scriptArchive(PROGRAMS[name]!), undefined)) t.match(ending, KNOWN, `${name}: ${what}`)
  }
})

t.test('inspecting has the limits of a load', async (t) => {
  const bytes = scriptArchive(PROGRAMS['many methods']!)
  await t.rejects(inspectModel(bytes, { limits: { milliseconds: 1 } }), {
    code: 'LIMIT_EXCEEDED',
    message: /^inspecting the model took more than 1 ms; raise limits\.milliseconds/,
  })
  const values = scriptArchive(
    method('', 'int', 'return 1'),
    '10',
    pickle(p.emptyList, p.mark, ...Array.from({ length: 2000 }, () => p.none), p.appends, p.tuple1),
  )
  const ways: readonly ((bytes: Uint8Array, options: { limits: Limits }) => Promise<unknown>)[] = [loadModule, inspectModel]
  for (const run of ways) {
    await t.rejects(run(values, { limits: { elements: 1000 } }), { code: 'LIMIT_EXCEEDED', message: /more than 1000 elements/ })
    await t.rejects(run(values, { limits: { objects: 1000 } as Limits }), { code: 'INVALID_FILE', message: /more than 1000 objects/ })
    await t.rejects(run(values, { limits: { milliseconds: 0 } }), { code: 'INVALID_ARGUMENT' })
    await t.rejects(run(values, { limits: { seconds: 1 } as never }), { code: 'INVALID_ARGUMENT' })
  }
  t.equal((await inspectModel(modelOf([endless]))).methods.length, 1, 'what runs without end is looked at all the same')
})

t.test('one name has one definition', async (t) => {
  const twice = {
    forward: method('', 'int', 'return 1') + '  def forward(self: __torch__.M) -> int:\n    return 2\n',
    A: 'class A(Module):\n  x : int\nclass A(Module):\n  y : int\n' + method('', 'int', 'return 1'),
    f: 'def f() -> int:\n  return 1\ndef f() -> int:\n  return 2\n' + method('', 'int', 'return __torch__.f()'),
  }
  for (const [name, code] of Object.entries(twice)) {
    const expected = { code: 'INVALID_FILE', message: new RegExp(`line \\d+: ${name} is defined twice`) }
    await t.rejects(loadModule(scriptArchive(code)), expected)
    await t.rejects(inspectModel(scriptArchive(code)), expected)
  }
})

t.test('pickles of values that grow', async (t) => {
  const attribute = (type: string): string => `class M(Module):\n  a : ${type}\n  def forward(self: __torch__.M) -> int:\n    return 1\n`
  const root = (state: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from([...p.proto, ...p.global('__torch__', 'M'), ...p.emptyTuple, ...p.newObject, ...p.emptyDict, ...p.mark, ...p.text('a')]),
      state,
      Buffer.from([...p.setItems, ...p.build, ...p.stop]),
    ])
  const many = (part: readonly number[], count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => Buffer.from(part)))
  const listOf = (...items: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from([...p.emptyList, ...p.mark]), ...items, Buffer.from(p.appends)])
  const object = [...p.global('__torch__', 'A'), ...p.emptyTuple, ...p.newObject, ...p.emptyDict, ...p.build]
  const wide = `class A(Module):\n${each(10_000, (i) => `  a${i} : Optional[int]\n`)}`
  const tag = [...p.global('torch.jit._pickle', 'restore_type_tag'), ...p.emptyList, ...p.get(9), ...p.tuple2, ...p.reduce]
  const cases: Readonly<Record<string, readonly [code: string, state: Buffer]>> = {
    'tuples in tuples': [attribute('Any'), Buffer.concat([Buffer.from(p.int(1)), many(p.tuple1, 1_000_000)])],
    'groups in groups': [attribute('Any'), Buffer.concat([many(p.mark, 1_000_000), many(p.tuple, 1_000_000)])],
    'objects of a class with many attributes': [wide + attribute('List[__torch__.A]'), listOf(many(object, 50_000))],
    'lists of a long type': [
      attribute('List[Any]'),
      Buffer.concat([
        Buffer.from([...p.text(`List[${repeat('x', 1_000_000)}]`), ...p.put(9)]),
        listOf(many(tag, 20_000)),
        Buffer.from(p.tuple2),
      ]),
    ],
  }
  for (const [name, [code, state]] of Object.entries(cases)) {
    const bytes = zip([
      { name: 'm/version', data: utf8('10\n') },
      { name: 'm/constants.pkl', data: pickle(p.emptyTuple) },
      { name: 'm/data.pkl', data: new Uint8Array(root(state)) },
      { name: 'm/code/__torch__.py', data: utf8(code) },
    ])
    for (const [what, ending, took] of await ends(bytes, { milliseconds: 150 })) {
      t.match(ending, KNOWN, `${name}: ${what}`)
      t.ok(took < 150 + LATE, `${name}: ${what}: ${ending} after ${Math.round(took)} ms`)
    }
  }
})
