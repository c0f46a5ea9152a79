import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { test } from 'tap'
import { parseCount } from '../../codegen/schema/parser.js'
import {
  callOperator,
  float,
  type Input,
  loadModule,
  type Module,
  operators,
  PtliteError,
  registerOperator,
  type Tensor,
  tensor,
} from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { runnable } from '../support/node.js'
import { errorOf, fixturePath } from './fixtures.js'

const FORMATS = ['.pt', '.ptl', '.ff']
const MODES = ['auto', 'off', 'eager'] as const
const cases = JSON.parse(readFileSync(fixturePath('missing/cases.json'), 'utf8')) as Readonly<Record<string, readonly unknown[]>>
const x = (): Tensor => tensor([1, 2])
const parsedBefore = parseCount

/** What other::maximum does: the largest of each group, and how many groups there are. */
function largest(src: Tensor, index: Tensor, size: number | null): [Tensor, Tensor] {
  const groups = index.toArray() as number[]
  const count = size ?? Math.max(...groups) + 1
  const values = new Float32Array(count)
  groups.forEach((group, i) => (values[group] = Math.max(values[group]!, (src.toArray() as number[])[i]!)))
  return [tensor(values), tensor(new BigInt64Array(count).fill(BigInt(count)))]
}

/** The library that commands of this process run in. */
const library = pathToFileURL(runnable(fileURLToPath(new URL('../../src/index.ts', import.meta.url)))).href

void test('a file that lacks operators runs with functions in their place', async (t) => {
  t.equal(parsedBefore, 0, 'nothing parses a schema before it is asked to')
  await t.rejects(loadModule(fixturePath('missing/called.pt')), { code: 'MISSING_OPERATOR' })
  const early = await loadModule(fixturePath('missing/method.pt'))
  const converted = join(t.testdir({}), 'method.ptl')
  t.match(await ptlite('convert', fixturePath('missing/method.pt'), '-o', converted), { status: 0 })
  // parameters that say no type have those of the schema
  registerOperator('other::loss(Tensor x) -> Tensor', (x) => callOperator<Tensor>('aten::sum', [x]))
  registerOperator('other::parts(Tensor x) -> Tensor[]', (x) => callOperator<Tensor[]>('aten::unbind.int', [x, 0]))
  registerOperator(
    'other::named(Tensor x, *, float scale=1.0, str key="a") -> Dict(str, Tensor)',
    (x: Tensor, scale: number, key: string) => new Map([[key, callOperator<Tensor>('aten::mul.Scalar', [x, float(scale)])]]),
  )
  registerOperator(
    'other::maximum(Tensor src, Tensor index, int dim, Tensor? out, int? dim_size) -> (Tensor, Tensor)',
    (src, index, _dim, _out, size) => largest(src, index, size),
  )
  registerOperator('other::count(Tensor x) -> int', (x) => x.shape.reduce((a, b) => a * b, 1))

  t.same(
    operators().filter(({ name }) => name === 'other::named'),
    [{ name: 'other::named', overload: '', schema: 'other::named(Tensor x, *, float scale=1., str key="a") -> Dict(str, Tensor)' }],
  )
  t.throws(() => early.call('loss', [x()]), { code: 'MISSING_OPERATOR' }, 'what was loaded before keeps what it had')
  early.dispose()
  const blind = await loadModule(converted)
  t.same(blind.forward<Tensor>(x()).toArray(), [2, 4])
  t.throws(() => blind.call('loss', [x()]), { code: 'MODEL_ERROR', message: /what follows other::loss was compiled without knowing it/ })
  blind.dispose()

  const call = async (module: Module, ...args: Input[]): Promise<void> => {
    const expected = module.forward<Tensor>(...args).toArray()
    t.same((await module.run<Tensor>('forward', args)).toArray(), expected, 'run')
  }
  for (const format of FORMATS) {
    for (const compile of MODES) {
      const branch = await loadModule(fixturePath(`missing/branch${format}`), { compile, strict: true })
      t.same(branch.missing, [])
      for (let i = 0; i < 4; i++) {
        for (let way = 0; way < 6; way++)
          t.same(branch.forward<Tensor>(x(), way).toArray(), cases['branch']![way], `${format} ${compile} ${way}`)
      }
      await Promise.all([0, 1, 2, 3, 4, 5].map((way) => call(branch, x(), way)))
      const loop = await loadModule(fixturePath(`missing/loop${format}`), { compile })
      for (const [i, args] of [
        [0, true],
        [2, true],
        [0, false],
      ].entries())
        t.same(loop.forward<Tensor>(x(), ...args).toArray(), cases['loop']![i])
      const deep = await loadModule(fixturePath(`missing/deep${format}`), { compile })
      for (const [i, aux] of [false, true].entries()) t.same(deep.forward<Tensor>(x(), aux).toArray(), cases['deep']![i])
      const called = await loadModule(fixturePath(`missing/called${format}`), { compile })
      t.equal(called.forward<Tensor>(x()).item(), 10)
      for (const module of [branch, loop, deep, called]) module.dispose()
    }
  }
  const choice = await loadModule(fixturePath('missing/choice.pt2'))
  t.same(choice.forward<Tensor>(x(), tensor([1], [], 'bool')).toArray(), [6, 6])
  choice.dispose()
})

void test('arguments and results are converted by the schema', (t) => {
  const seen: unknown[][] = []
  registerOperator('own::all(Tensor x, ScalarType? t=None, float[2] k=1, Scalar s=2, str? m=None, *, bool b=True) -> ()', (...args) => {
    seen.push(args)
  })
  t.equal(callOperator('own::all', [x()]), null)
  t.equal(callOperator('own::all', [x(), 6, [1, 2], 2.5, 'q', false]), null)
  t.same(
    seen.map(([, ...rest]) => rest),
    [
      [null, [1, 1], 2, null, true],
      ['float32', [1, 2], 2.5, 'q', false],
    ],
  )
  registerOperator('own::floats(float[] k, Device d) -> (float, float[], Device)', (k, d) => [k.length, k, d])
  t.same(callOperator('own::floats', [[1, 2.5], 'cpu']), [2, [1, 2.5], 'cpu'])
  registerOperator('own::write(Tensor(a!) x) -> Tensor(a!)', (x) => {
    callOperator('aten::zero_', [x])
    return x
  })
  const written = x()
  callOperator('own::write', [written])
  t.same(written.toArray(), [0, 0])
  registerOperator('own::any(Tensor first, ...) -> int', (...args) => args.length)
  t.equal(callOperator('own::any', [x(), 1, 'a', null]), 4)
  t.end()
})

void test('what does not fit is said by name', (t) => {
  const fault = (schema: string, message: RegExp): void => {
    t.match(
      errorOf(() => registerOperator(schema, () => 1)),
      { code: 'INVALID_ARGUMENT', message },
    )
  }
  fault('foo', /registerOperator\(\): '\(' expected, found 'the end' at column 4 of 'foo'/)
  fault('a::b(Tensor x)', /'->' expected/)
  fault('a::b(Tensorr x) -> Tensor', /unknown type 'Tensorr'/)
  fault('a::b(int x="a") -> int', /the default of 'x' is no int/)
  fault('b(Tensor x) -> Tensor', /expected a name with its namespace, as in 'mylib::b'/)
  fault('a::b(Tensor x) -> ...', /expected the types of its results/)
  fault('aten::relu(Tensor self) -> Tensor', /aten::relu is an operator of the library already/)
  fault('x'.repeat(100_000), /^.{0,1500}$/)
  registerOperator('own::once(int n) -> int', (n) => n)
  fault('own::once(int n) -> int', /own::once is registered already/)
  t.match(
    errorOf(() => registerOperator(5 as never, () => 1)),
    { code: 'INVALID_ARGUMENT' },
  )
  t.match(
    errorOf(() => registerOperator('own::f(int n) -> int', null as never)),
    { code: 'INVALID_ARGUMENT', message: /expected a function, found/ },
  )

  const wrong = (name: string, args: readonly Input[], message: RegExp): void => {
    t.match(
      errorOf(() => callOperator(name, args)),
      { code: 'INVALID_ARGUMENT', message },
    )
  }
  registerOperator('bad::type(Tensor x) -> Tensor', () => 5)
  wrong('bad::type', [x()], /bad::type: result 1 of its function: expected Tensor, found int/)
  wrong('bad::type', [1], /bad::type: 'x': expected Tensor, found int/)
  registerOperator('bad::few(Tensor x) -> (Tensor, int)', (x) => [x])
  wrong('bad::few', [x()], /expected an array of 2 results of its function, found 1/)
  registerOperator('bad::late(Tensor x) -> int', (async () => 1) as never)
  wrong('bad::late', [x()], /its function must not wait for anything/)
  registerOperator('bad::throws(Tensor x) -> int', () => {
    throw new PtliteError('MODEL_ERROR', 'of its own')
  })
  t.match(
    errorOf(() => callOperator('bad::throws', [x()])),
    { code: 'MODEL_ERROR', message: 'of its own' },
  )
  t.end()
})

void test('commands take a module that registers operators', async (t) => {
  const folder = t.testdir({
    'x.json': '[1.0, 2.0]',
    'ops.mjs': `const { registerOperator } = await import(${JSON.stringify(library)})
export function register() {
  registerOperator('command::f(Tensor x) -> Tensor', (x) => x)
}`,
  })
  const ops = join(folder, 'ops.mjs')
  t.match(await ptlite('run', fixturePath('missing/called.ptl'), '--input', join(folder, 'x.json'), '--ops', ops), {
    status: 0,
    stdout: /10/,
  })
  t.match(await ptlite('convert', fixturePath('missing/called.pt'), '-o', join(folder, 'out.ptl'), '--ops', fixturePath('none.mjs')), {
    status: 1,
  })
  t.match(await ptlite('convert', fixturePath('missing/branch.pt'), '-o', join(folder, 'out.ptl')), { status: 0 })
  const converted = await loadModule(join(folder, 'out.ptl'))
  for (let way = 0; way < 6; way++) t.same(converted.forward<Tensor>(x(), way).toArray(), cases['branch']![way], `way ${way}`)
  converted.dispose()
})
