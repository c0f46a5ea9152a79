import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { inspectModel, type LoadOptions, loadModule, type Module, type Tensor, tensor } from '../../src/index.js'
import type { ScriptModule } from '../../interpreter/script-module.js'
import { errorOf, fixtureBytes, fixturePath } from './fixtures.js'

interface Case {
  readonly eval: number[][]
  readonly train?: number[][][]
  readonly afterwards?: number[][]
}

const { input, cases } = JSON.parse(readFileSync(fixturePath('training/cases.json'), 'utf8')) as {
  readonly input: number[][]
  readonly cases: Readonly<Record<string, Case>>
}
const FORMATS = ['.pt', '.ptl', '.ff']
const MODES = ['auto', 'off', 'eager'] as const
const x = tensor(input as never)

const load = (name: string, options: LoadOptions = {}): Promise<Module> =>
  loadModule(fixturePath(`training/${name}`), { onWarning: () => undefined, ...options })
const resultOf = (module: Module): unknown => module.forward<Tensor>(x).toArray()

function close(t: Test, found: unknown, expected: unknown, what: string): void {
  const [a, b] = [(found as number[]).flat(Infinity as 1), (expected as number[]).flat(Infinity as 1)]
  t.equal(a.length, b.length, what)
  t.ok(
    a.every((value, i) => Math.abs(value - b[i]!) < 1e-4),
    what,
  )
}

void test('eval() is what PyTorch does after it, in every format and mode, call after call', async (t) => {
  for (const name of ['layers', 'fixed', 'norm']) {
    for (const format of FORMATS) {
      for (const compile of MODES) {
        const module = await load(name + format, { compile })
        t.equal(module.eval(), module)
        for (let i = 0; i < 4; i++) close(t, resultOf(module), cases[name]!.eval, `${name}${format} ${compile} ${i}`)
        close(t, (await module.run<Tensor>('forward', [x])).toArray(), cases[name]!.eval, `${name}${format} ${compile} run`)
        t.equal(module.getAttribute('training'), false)
        module.dispose()
        const atOnce = await load(name + format, { compile, eval: true })
        close(t, resultOf(atOnce), cases[name]!.eval, `${name}${format} ${compile} at load`)
        atOnce.dispose()
      }
    }
  }
})

void test('an object that is no module keeps its attribute of the name', async (t) => {
  const module = await load('holder.pt', { eval: true })
  close(t, resultOf(module), cases['holder']!.eval, 'holder')
  module.dispose()
})

void test('train() turns it on, and statistics that it gathers are there afterwards', async (t) => {
  const { train, afterwards } = cases['norm']!
  for (const format of FORMATS) {
    for (const compile of MODES) {
      const module = await load(`norm${format}`, { compile, eval: true })
      for (let i = 0; i < 3; i++) close(t, resultOf(module), cases['norm']!.eval, `${format} ${compile} before`)
      t.equal(module.train(), module)
      for (const expected of train!) close(t, resultOf(module), expected, `${format} ${compile} train`)
      t.equal(module.train(false), module)
      for (let i = 0; i < 3; i++) close(t, resultOf(module), afterwards, `${format} ${compile} afterwards`)
      module.dispose()
    }
  }
})

void test('run() goes by the mode, whatever is under way', async (t) => {
  const { train, afterwards } = cases['norm']!
  const module = await load('norm.pt')
  const first = module.run<Tensor>('forward', [x])
  close(t, (await first).toArray(), train![0], 'train')
  // it sets attributes of objects whose mode changes meanwhile
  const second = module.run<Tensor>('forward', [x])
  await new Promise((resolve) => setTimeout(resolve, 1))
  await second.then(() => module.eval())
  for (let i = 0; i < 4; i++) close(t, (await module.run<Tensor>('forward', [x])).toArray(), afterwards, `eval ${i}`)
  const under = module.train().run<Tensor>('forward', [x])
  const turn = new Promise((resolve) => setImmediate(resolve))
  await turn
  module.eval()
  await under
  t.equal(module.getAttribute('training'), false)
  const { script } = (module as unknown as { readonly engine: { readonly script: ScriptModule } }).engine
  t.match(script.modes, /^e+$/, 'no module of it is in training mode again')
  module.dispose()
})

void test('plans of one mode are kept while the module is in the other', async (t) => {
  const module = await load('fixed.pt', { eval: true })
  const planned = (): boolean => module.plans().some(({ state }) => state === 'plan')
  for (let i = 0; i < 3; i++) module.forward(x)
  t.ok(planned())
  module.train()
  t.notOk(planned())
  for (let i = 0; i < 3; i++) module.forward(x)
  t.ok(planned())
  for (let i = 0; i < 10; i++) {
    module.train(i % 2 === 1)
    t.ok(planned(), `${i}`)
    module.forward(x)
  }
  module.dispose()
})

void test('a model in training mode says so once, with the layers that go by it', async (t) => {
  const warned = async (name: string, options: LoadOptions = {}): Promise<string[]> => {
    const texts: string[] = []
    const module = await loadModule(fixturePath(`training/${name}`), { onWarning: (text) => texts.push(text), ...options })
    module.forward(x)
    await module.run('forward', [x])
    module.dispose()
    return texts
  }
  for (const format of FORMATS) {
    const [text, ...others] = await warned(`layers${format}`)
    t.same(others, [])
    t.match(text, new RegExp(`layers\\${format} is in training mode`))
    t.match(text, /alpha \(AlphaDropout\), drop \(Dropout\), instance \(InstanceNorm1d\), leaky \(RReLU\), norm \(BatchNorm1d\) and 2 more/)
    t.match(text, /eval: true/)
    t.same(await warned(`layers${format}`, { eval: true }), [])
    t.same(await warned(`fixed${format}`), [], 'where nothing goes by it there is nothing to say')
    const { training } = await inspectModel(fixtureBytes(`training/layers${format}`))
    t.same(
      training.map(({ name }) => name),
      ['alpha', 'drop', 'instance', 'leaky', 'norm', 'own', 'rnn'],
    )
    t.same((await inspectModel(fixtureBytes(`training/fixed${format}`))).training, [])
  }
  // the console, where nobody else is told
  const console = t.capture(globalThis.console, 'warn')
  ;(await loadModule(fixturePath('training/norm.ff'))).dispose()
  const said = console()
  t.equal(said.length, 1)
  t.match(String(said[0]!.args[0]), /^ptlite: .*is in training mode/)
})

void test('a compiled file is of one mode', async (t) => {
  const folder = t.testdir()
  const { train } = cases['norm']!
  for (const name of ['norm', 'fixed', 'layers']) {
    const original = join(folder, `${name}.pt`)
    writeFileSync(original, fixtureBytes(`training/${name}.pt`))
    const compile = (options: LoadOptions): Uint8Array => compileAhead(original, () => [{ method: 'forward', args: [x] }], options)
    const path = join(folder, `${name}.ptlc`)
    writeFileSync(path, compile({ eval: true }))
    const warnings: string[] = []
    const onWarning = (text: string): void => void warnings.push(text)
    const module = await loadModule(path, { onWarning })
    close(t, resultOf(module), cases[name]!.eval, `${name} compiled out of it`)
    module.eval()
    close(t, resultOf(module), cases[name]!.eval, `${name} eval() changes nothing`)
    t.equal(module.getAttribute('training'), false)
    t.equal(module.plans()[0]?.state, 'plan')
    module.train()
    if (name === 'norm') close(t, resultOf(module), train![0], 'the other mode is that of the model')
    module.eval()
    module.dispose()
    t.same(warnings, [])
    t.same((await inspectModel(path)).training, [])
    // without the model
    const alone = await loadModule(compile({ eval: true }), { onWarning, eval: true })
    close(t, resultOf(alone), cases[name]!.eval, `${name} alone`)
    t.match(
      errorOf(() => alone.train()),
      { code: 'INVALID_ARGUMENT', message: /outside of training mode; the other mode is in .*\.pt alone/ },
    )
    alone.dispose()
  }
  const fixed = compileAhead(join(folder, 'fixed.pt'), () => [{ method: 'forward', args: [x] }])
  const module = await loadModule(fixed, { eval: true })
  close(t, resultOf(module), cases['fixed']!.eval, 'plans that do not go by the mode serve both')
  module.dispose()
})

void test('a file that was compiled in training mode says so, and needs its model to leave it', async (t) => {
  const folder = t.testdir({ 'drop.pt': Buffer.from(fixtureBytes('training/holder.pt')) })
  const bytes = compileAhead(join(folder, 'drop.pt'), () => [{ method: 'forward', args: [x] }])
  const path = join(folder, 'drop.ptlc')
  writeFileSync(path, bytes)
  const warnings: string[] = []
  const module = await loadModule(path, { onWarning: (text) => warnings.push(text) })
  t.match(warnings, [/drop\.ptlc is in training mode.* drop \(Dropout\); .*ptlite compile --eval/])
  t.notMatch(resultOf(module), cases['holder']!.eval)
  module.eval()
  close(t, resultOf(module), cases['holder']!.eval, 'its model serves the other mode')
  module.train()
  t.notMatch(resultOf(module), cases['holder']!.eval)
  module.dispose()
  const { training } = await inspectModel(path)
  t.same(training, [{ name: 'drop', type: 'Dropout' }])
  await t.rejects(loadModule(bytes, { eval: true }), { code: 'INVALID_ARGUMENT', message: /made in training mode; the other mode is/ })
})

void test('arguments are checked, and a module that was disposed is gone', async (t) => {
  const module = await load('fixed.pt')
  t.match(
    errorOf(() => module.train('yes' as never)),
    { code: 'INVALID_ARGUMENT', message: /train\(\): expected true or false, found/ },
  )
  module.dispose()
  t.match(
    errorOf(() => module.eval()),
    { code: 'DISPOSED' },
  )
  await t.rejects(load('fixed.pt', { eval: 1 as never }), { code: 'INVALID_ARGUMENT' })
})

void test('programs without the attribute take both calls', async (t) => {
  const module = await loadModule(fixtureBytes('linear.ptl'))
  t.equal(module.eval().train(), module)
  module.dispose()
})
