import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { selectionOf } from '../../selective-build/selection/selection.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { compileAhead } from '../../src/ahead.js'
import { type Input, inspectModel, loadModule, type LoadOptions, type Module, type Tensor, tensor } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { fixtureBytes, fixturePath } from './fixtures.js'

const FORMATS = ['.pt', '.ptl', '.ff']
const MODES = ['auto', 'off', 'eager'] as const
const cases = JSON.parse(readFileSync(fixturePath('missing/cases.json'), 'utf8')) as Readonly<Record<string, readonly unknown[]>>

const load = (name: string, options: LoadOptions = {}): Promise<Module> => loadModule(fixturePath(`missing/${name}`), options)
const x = (): Tensor => tensor([1, 2])
const lacks = (operator: string) => ({ code: 'MISSING_OPERATOR', message: new RegExp(`lacks an operator:\n {2}${operator}`) })
const resultOf = (module: Module, method: string, ...args: Input[]): unknown => module.call<Tensor>(method, args).toArray()

void test('what forward does not come to on every path does not refuse a file', async (t) => {
  for (const format of FORMATS) {
    for (const compile of MODES) {
      const method = await load(`method${format}`, { compile })
      t.same(method.missing, [{ operator: 'other::loss', methods: ['both', 'loss'] }])
      const branch = await load(`branch${format}`, { compile })
      t.same(
        branch.missing,
        ['count', 'loss', 'maximum', 'named', 'parts'].map((name) => ({ operator: `other::${name}`, methods: ['forward'] })),
      )
      for (let i = 0; i < 4; i++) {
        t.same(resultOf(method, 'forward', x()), [2, 4])
        t.throws(() => method.call('loss', [x()]), lacks('other::loss'))
        t.throws(() => method.call('both', [x()]), lacks('other::loss'))
        t.same(resultOf(branch, 'forward', x(), 0), cases['branch']![0])
        for (const [way, name] of ['loss', 'parts', 'named', 'maximum', 'count'].entries())
          t.throws(() => branch.forward(x(), way + 1), lacks(`other::${name}`), `way ${way + 1}`)
      }
      t.same((await method.run<Tensor>('forward', [x()])).toArray(), [2, 4])
      await t.rejects(method.run('loss', [x()]), lacks('other::loss'))
      await t.rejects(branch.run('forward', [x(), 3]), lacks('other::named'))
      t.same((await branch.run<Tensor>('forward', [x()])).toArray(), [2, 3])
      await method.compile('forward', [x()])
      await t.rejects(method.compile('loss', [x()]), lacks('other::loss'))
      t.throws(() => method.explain('loss', [x()]), lacks('other::loss'))

      const loop = await load(`loop${format}`, { compile })
      t.same(resultOf(loop, 'forward', x()), cases['loop']![0])
      t.throws(() => loop.forward(x(), 1), lacks('other::loss'))
      t.throws(() => loop.forward(x(), 0, false), lacks('other::count'))
      const training = await load(`training${format}`, { compile })
      t.same(resultOf(training, 'forward', x()), [2, 3])
      t.throws(() => training.train().forward(x()), lacks('other::loss'))
      t.same(resultOf(training.eval(), 'forward', x()), [2, 3])
      const deep = await load(`deep${format}`, { compile })
      t.same(deep.missing, [{ operator: 'other::loss', methods: ['forward', 'score'] }])
      t.same(resultOf(deep, 'forward', x()), cases['deep']![0])
      t.throws(() => deep.call('score', [x()]), lacks('other::loss'))
      const never = await load(`never${format}`, { compile })
      t.throws(() => never.forward(x()), { code: 'MODEL_ERROR' })
      t.same(resultOf(never, 'encode', x()), [4, 5])
      t.throws(() => never.call('loss', [x()]), lacks('other::loss'))
      for (const module of [method, branch, loop, training, deep, never]) module.dispose()
    }
  }
})

void test('where every path that returns comes to one the file is refused, unless it is not to be', async (t) => {
  for (const format of FORMATS) {
    for (const [name, others] of Object.entries({ always: ['limit'], called: [], apart: ['encode'] })) {
      const refused = {
        code: 'MISSING_OPERATOR',
        message: /this build lacks .*\n {2}other::loss[^]*registerOperator\(.*ptlite codegen|ptlite codegen/,
      }
      await t.rejects(load(name + format), refused)
      await t.rejects(load(name + format, { strict: true }), refused)
      const module = await load(name + format, { strict: false })
      for (const method of others) if (method !== 'encode') t.equal(module.call(method), 6)
      if (name === 'apart') t.same(resultOf(module, 'encode', x()), [4, 5])
      else t.throws(() => module.forward(x()), { code: 'MISSING_OPERATOR' })
      module.dispose()
    }
    await t.rejects(load(`always${format}`), { message: /With \{ strict: false \} the file loads, and limit can be called\.$/ })
    // as it was before
    for (const name of ['method', 'branch', 'loop', 'training', 'deep', 'never'])
      await t.rejects(load(name + format, { strict: true }), { code: 'MISSING_OPERATOR' })
    await t.rejects(load(`branch${format}`, { strict: true }), {
      message: /lacks 5 operators:\n {2}other::count\n {2}other::loss\n {2}other::maximum\n/,
    })
  }
  await t.rejects(load('method.pt', { strict: 'no' as never }), { code: 'INVALID_ARGUMENT' })
})

void test('programs of torch.export', async (t) => {
  const module = await load('choice.pt2')
  t.same(module.missing, [{ operator: 'other::loss', methods: ['forward'] }])
  const way = (truth: boolean): Tensor => tensor([truth ? 1 : 0], [], 'bool')
  t.same(module.forward<Tensor>(x(), way(false)).toArray(), [2, 3])
  t.throws(() => module.forward(x(), way(true)), lacks('other::loss'))
  module.dispose()
  await t.rejects(load('choice.pt2', { strict: true }), lacks('other::loss'))
})

void test('gradients are what a library without a graph of what was computed lacks', async (t) => {
  for (const format of FORMATS) {
    const module = await load(`gradients${format}`)
    t.same(module.missing.at(-1), { operator: 'aten::grad', methods: ['forward'] })
    const [energy, none] = module.forward<[Tensor, null]>(x())
    t.equal(energy.item(), 5)
    t.equal(none, null)
    t.throws(() => module.forward(x(), true), { code: 'MISSING_OPERATOR', message: /aten::grad \(torch\.autograd: .*no gradients\)/ })
    t.throws(() => module.call('train_step', [x()]), { code: 'MISSING_OPERATOR', message: /aten::backward \(torch\.autograd/ })
    module.dispose()
  }
})

void test('errors say where in the model', async (t) => {
  const module = await load('branch.pt')
  const place = /Traceback of TorchScript[^]*code\/__torch__\.py", line \d+, in forward\n.*ops\.other\.parts\(x\)/
  t.throws(() => module.forward(x(), 2), { message: place })
  await t.rejects(module.run('forward', [x(), 2]), { message: place })
  module.dispose()
})

void test('inspect and commands name what is missing, and the methods that need it', async (t) => {
  const folder = t.testdir({ 'x.json': '[1.0, 2.0]' })
  const input = join(folder, 'x.json')
  for (const format of FORMATS) {
    const path = fixturePath(`missing/method${format}`)
    const { missing, operators } = await inspectModel(fixtureBytes(`missing/method${format}`))
    t.same(missing, ['other::loss'])
    t.same(
      operators.find(({ name }) => name === 'other::loss'),
      {
        name: 'other::loss',
        functions: format === '.pt' ? 2 : operators.find(({ name }) => name === 'other::loss')!.functions,
        present: false,
        methods: ['both', 'loss'],
      },
    )
    t.match((await ptlite('inspect', path)).stdout, /other::loss +MISSING, needed by both, loss/)
    t.match(await ptlite('run', path, '--input', input), { status: 0, stdout: /\[2\., 4\.\]/ })
    t.match(await ptlite('run', path, '--input', input, '--method', 'loss'), { status: 1, stderr: /lacks an operator/ })

    // written as it is
    for (const extension of ['ptl', 'ff']) {
      const output = join(folder, `out.${extension}`)
      t.match(await ptlite('convert', path, '-o', output), { status: 0 })
      const module = await loadModule(output)
      t.same(module.missing, [{ operator: 'other::loss', methods: ['both', 'loss'] }])
      t.same(resultOf(module, 'forward', x()), [2, 4])
      t.throws(() => module.call('both', [x()]), lacks('other::loss'))
      module.dispose()
    }
  }
})

void test('compiled files, traces and selections go on without it', async (t) => {
  const folder = t.testdir({ 'method.ptl': Buffer.from(fixtureBytes('missing/method.ptl')) })
  const path = join(folder, 'method.ptl')
  const bytes = compileAhead(path, () => [{ method: 'forward', args: [x()] }])
  writeFileSync(join(folder, 'method.ptlc'), bytes)
  const module = await loadModule(join(folder, 'method.ptlc'))
  const missing = [{ operator: 'other::loss', methods: ['both', 'loss'] }]
  t.same(module.missing, missing)
  t.same(resultOf(module, 'forward', x()), [2, 4])
  t.throws(() => module.call('loss', [x()]), lacks('other::loss'))
  t.same(module.missing, missing)
  module.dispose()
  t.same((await inspectModel(bytes)).missing, ['other::loss'])
  t.throws(() => compileAhead(path, () => [{ method: 'loss', args: [x()] }]), lacks('other::loss'))

  startRecording()
  const traced = await loadModule(path)
  traced.forward(x())
  const names = [...stopRecording().operators.keys()]
  t.ok(names.includes('aten::mul.Scalar') || names.includes('aten::mul.Tensor'))
  t.notOk(names.includes('other::loss'))
  traced.dispose()
  t.notOk(traceOfModel(path).operators.has('other::loss'))
  t.ok(traceOfModel(fixturePath('missing/always.ptl')).operators.has('other::loss'), 'what cannot do without is refused')
  t.throws(
    () =>
      selectionOf(traceOfModel(fixturePath('missing/always.ptl')), [], { kernels: [], enums: [] } as never, {
        allDtypes: true,
        compiler: false,
      }),
    {
      code: 'MISSING_OPERATOR',
    },
  )
})
